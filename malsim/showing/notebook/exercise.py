"""Grading of exercises. An answer passes if all required properties hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from malsim.scenario.properties import check

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Grade:
    """Grade of an answer: the required properties and their verdicts."""

    properties: Mapping[str, bool]

    @property
    def passed(self) -> bool:
        """True if all properties hold."""
        return all(self.properties.values())

    def __repr__(self) -> str:
        """Return the verdict, followed by one line per property."""
        lines = [f"  {'holds' if holds else 'fails'}: {text}" for text, holds in self.properties.items()]
        return "\n".join(["passed" if self.passed else "not yet", *lines])


def graded(*parts: Mapping[str, bool] | tuple[Any, ...]) -> Grade:
    """Grade an answer. Each part is a dict that maps sentences to truth values, or a run followed by properties to check.

    `ms.graded((run, "always (eff(obs_a1a1) <= 0.5)"), {"it settles": True})`

    >>> graded({"one is less than two": 1 < 2, "two is less than one": 2 < 1})
    not yet
      holds: one is less than two
      fails: two is less than one
    """
    properties: dict[str, bool] = {}
    for part in parts:
        if not isinstance(part, tuple):
            properties |= part
            continue
        run, *texts = part
        for text in texts:
            verdict = check(text, run)
            properties[text if verdict.passed else f"{text}\n         {verdict.margin.witness}"] = verdict.passed
    if not properties:
        raise ValueError("an exercise needs at least one property")
    return Grade({text: bool(holds) for text, holds in properties.items()})
