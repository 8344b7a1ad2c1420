"""Exercises of the notebooks: an answer passes if all required properties hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from malsim.scenario.properties import check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.sim.record.run_data import RunFrames


@dataclass(frozen=True)
class Grade:
    """Grade of an answer: the properties required, and if each holds."""

    properties: Mapping[str, bool]

    @property
    def passed(self) -> bool:
        """True if all properties hold."""
        return all(self.properties.values())

    def __repr__(self) -> str:
        """Return the verdict, then one line per property."""
        lines = [f"  {'holds' if holds else 'fails'}: {text}" for text, holds in self.properties.items()]
        return "\n".join(["passed" if self.passed else "not yet", *lines])


def held(run: RunFrames, *properties: str) -> dict[str, bool]:
    """Map each property of a run to its verdict; a failed property also names where it broke."""
    results = {}
    for text in properties:
        verdict = check(text, run)
        results[text if verdict.passed else f"{text}\n         {verdict.margin.witness}"] = verdict.passed
    return results


def graded(*parts: Mapping[str, bool] | tuple[Any, ...]) -> Grade:
    """Return the grade of an answer: each part is a mapping from sentences to whether they hold, or a run and properties.

    `ms.graded((run, "always (eff(obs_a1a1) <= 0.5)"), {"it settles": True})`

    >>> graded({"one is less than two": 1 < 2, "two is less than one": 2 < 1})
    not yet
      holds: one is less than two
      fails: two is less than one
    """
    properties: dict[str, bool] = {}
    for part in parts:
        properties |= held(*part) if isinstance(part, tuple) else part
    if not properties:
        raise ValueError("an exercise needs at least one property")
    return Grade({text: bool(holds) for text, holds in properties.items()})
