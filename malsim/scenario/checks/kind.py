"""Base class of the kinds of check other than properties."""

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
    """Result of a check, printed as one line; it may also have a `margin`, and the `replication` to look at."""

    @property
    def passed(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class KindCheck(Check):
    """Check other than a property. Its fields are its keys in a file; fields without a default are required keys.

    A new kind needs a class, a row in `KINDS`, and its keys in `malsim/scenario/file/data/check.schema.json`.
    """

    @classmethod
    def read(cls, given: Mapping[str, Any], line: int, where: str) -> KindCheck:
        """Read the check from a table of the file.

        Its `property` is a one-line summary; `reads` are the addresses it reads (empty: all cells), which limits what is
        read of a history.
        """
        raise NotImplementedError

    def result(self, run: Run, trace: Trace) -> KindResult:
        """Return the result on a run or a history, whose frames `trace` reads; raise `MalsimError` if it is undefined."""
        raise NotImplementedError


def parse_at(read: Callable[[str], Part], text: str, where: str) -> Part:
    """Parse a text from a file with `read`, adding its location `where` to errors."""
    try:
        return read(text)
    except ScenarioError as error:
        problem = f"{error.where}: {error.problem}" if error.where else error.problem
        raise ScenarioError(problem, where=where, given=error.given, allowed=error.allowed, hint=error.hint) from error
