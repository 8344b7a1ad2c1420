"""Base class for all kinds of checks other than properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from malsim.base.errors import ScenarioError
from malsim.sim.settings.scenario import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.scenario.properties import Trace
    from malsim.scenario.properties.formula import Formula, Value
    from malsim.sim.run import Run

Part = TypeVar("Part", bound="Formula | Value")


class KindResult(Protocol):
    """Result of a check, printed on one line. It may have a `margin` and the `replication` to inspect."""

    @property
    def passed(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class KindCheck(Check):
    """Check other than a property. Its fields are the keys in the file; fields without a default are required.

    A new kind of check needs a class, a row in `KINDS`, and its keys in `malsim/scenario/file/data/check.schema.json`.
    """

    @classmethod
    def read(cls, given: Mapping[str, Any], line: int, where: str) -> KindCheck:
        """Create the check from its table in the scenario file.

        The check's `property` is a one-line summary. Its `reads` are the addresses to load from a history (empty: all
        cells).
        """
        raise NotImplementedError

    def result(self, run: Run, trace: Trace) -> KindResult:
        """Evaluate the check on a run or a history, read through `trace`. Raise `MalsimError` if there is no result."""
        raise NotImplementedError


def parse_at(read: Callable[[str], Part], text: str, where: str) -> Part:
    """Parse text from a file with `read`, and add the location `where` to any error."""
    try:
        return read(text)
    except ScenarioError as error:
        problem = f"{error.where}: {error.problem}" if error.where else error.problem
        raise ScenarioError(problem, where=where, given=error.given, allowed=error.allowed, hint=error.hint) from error
