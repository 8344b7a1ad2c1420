"""What may be tuned: names, ranges and choices, checked against what the rules allow."""

from __future__ import annotations

from dataclasses import Field, dataclass, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.errors import UsageError
from malsim.memory import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Dimension", "Space"]

PREFIX = "rules."
WIDE = 100.0


@dataclass(frozen=True)
class Dimension:
    """One rule: a range (low, high), or choices. Ranges wider than a factor of 100 are searched by their logarithm."""

    name: str
    low: float = 0.0
    high: float = 1.0
    whole: bool = False
    choices: tuple[object, ...] = ()
    unit: str = "1"

    @property
    def logarithmic(self) -> bool:
        """Whether equal steps are equal factors."""
        return not self.choices and self.low > 0.0 and self.high / self.low > WIDE

    def at(self, share: float) -> Any:
        """The value at a share of the way, 0 to 1."""
        if self.choices:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        if self.whole:
            return int(min(self.low + np.floor(share * (self.high - self.low + 1.0)), self.high))
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** share)
        return float(self.low + share * (self.high - self.low))


@dataclass(frozen=True)
class Space:
    """Dimensions in the order given; a point is an array of shares in [0, 1], one a dimension.

    >>> Space.of({"rules.support_ceiling": (0, 0.9)}).values(np.array([0.5]))
    {'rules.support_ceiling': 0.45}
    """

    dimensions: tuple[Dimension, ...]

    @classmethod
    def of(cls, table: Mapping[str, Sequence[Any]]) -> Space:
        """A space from names to (low, high) or to lists of choices.

        Raises `UsageError` for an unknown name, an empty range, bounds beyond the documented ones, or an unknown choice.
        """
        if not table:
            raise UsageError("an empty space", where="space", hint='such as {"rules.support_ceiling": (0, 0.9)}')
        return cls(tuple(_dimension(name, given) for name, given in table.items()))

    def values(self, point: NDArray[np.float64]) -> dict[str, Any]:
        """The value of each dimension at a point."""
        return {one.name: one.at(float(share)) for one, share in zip(self.dimensions, point, strict=True)}

    def rules(self, values: Mapping[str, Any], base: Rules) -> Rules:
        """Rules with these values."""
        return base.replace(where="space", **{name.removeprefix(PREFIX): value for name, value in values.items()})


def _dimension(name: str, given: Sequence[Any]) -> Dimension:
    rule = _rule(name)
    where = f"space: {name}"
    if "choices" in rule.metadata:
        unknown = [value for value in given if value not in rule.metadata["choices"]]
        if unknown or len(set(given)) < 2 or isinstance(given, str):  # noqa: PLR2004  # one choice is none
            allowed = f"two or more of {', '.join(rule.metadata['choices'])}"
            raise UsageError("not choices of this rule", where=where, given=given, allowed=allowed)
        return Dimension(name, choices=tuple(given))
    if len(given) != 2 or not all(isinstance(end, (int, float)) for end in given):  # noqa: PLR2004  # low and high
        raise UsageError("not a range", where=where, given=given, allowed="(low, high)")
    low, high = (float(end) for end in given)
    if not low < high or not np.isfinite([low, high]).all():
        raise UsageError("an empty range", where=where, given=given, allowed="low below high, both finite")
    meta = rule.metadata
    if low < meta["low"] or high > meta["high"] or (meta["above"] and low <= meta["low"]):
        allowed = f"{'above ' if meta['above'] else ''}{meta['low']:g} to {meta['high']:g}"
        raise UsageError("beyond the documented bounds", where=where, given=given, allowed=allowed)
    return Dimension(name, low, high, whole=isinstance(rule.default, int), unit=meta["unit"])


def _rule(name: str) -> Field[Any]:
    known = {PREFIX + rule.name: rule for rule in fields(Rules) if rule.name != "effective"}
    if name not in known:
        near = get_close_matches(name if name.startswith(PREFIX) else PREFIX + name, known, n=2)
        hint = f"try {' or '.join(near)}" if near else "names are rules.NAME, listed in malsim.memory.rules"
        raise UsageError("unknown name", where="space", given=name, hint=hint)
    return known[name]
