"""Base of the kinds of check: what a class of checks reads from a file, and its result for a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from malsim.base.errors import ScenarioError
from malsim.sim.settings.scenario import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.scenario.properties import Trace, Verdict
    from malsim.scenario.properties.formula import Formula, Value
    from malsim.sim.run import Run

Part = TypeVar("Part", bound="Formula | Value")


class KindResult(Protocol):
    """Result of a check, printed as one line; it may have a `margin` and a `replication` to look at."""

    @property
    def passed(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class KindCheck(Check):
    """Check other than a property. Its fields are the keys of its kind in a file, required if they have no default.

    A kind is a class, its row in `KINDS`, and its keys in `malsim/scenario/file/data/check.schema.json`.
    """

    @classmethod
    def read(cls, given: Mapping[str, Any], line: int, where: str) -> KindCheck:
        """Read the check from a table of the file.

        `property` is it in a line; `reads` are the addresses it looks at (none: all cells): of a history no others are read.
        """
        raise NotImplementedError

    def result(self, run: Run, trace: Trace) -> KindResult | Verdict:
        """Return the result on a run or a history, whose frames `trace` reads; raise `MalsimError` if it is undefined."""
        raise NotImplementedError


def parse_at(read: Callable[[str], Part], text: str, where: str) -> Part:
    """Parse a text of a file with `read`; an error in it names the place `where`."""
    try:
        return read(text)
    except ScenarioError as error:
        problem = f"{error.where}: {error.problem}" if error.where else error.problem
        raise ScenarioError(problem, where=where, given=error.given, allowed=error.allowed, hint=error.hint) from error
