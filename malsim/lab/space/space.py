"""Search space: settings by dotted name, each with a range or a list of choices within its documented bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import UsageError
from malsim.lab.space.settings import setting
from malsim.memory import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.lab.space.settings import Setting
    from malsim.sim.settings.scenario import Scenario

WIDE = 100.0
BOTH_ENDS = 2


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """Setting with a search range (low, high) or a list of choices. `value` is the setting's current value.

    A range above 0 and wider than a factor of 100 is searched on a logarithmic scale; whole numbers get equal shares.
    """

    name: str
    value: Any = None
    low: float = 0.0
    high: float = 1.0
    whole: bool = False
    choices: tuple[Any, ...] = ()
    unit: str = "1"

    @property
    def logarithmic(self) -> bool:
        """True if the dimension is searched on a logarithmic scale."""
        return not self.choices and not self.whole and self.low > 0.0 and self.high / self.low > WIDE

    def at(self, share: float) -> Any:
        """Return the value at `share` (0 to 1) of the range.

        >>> Dimension(name="rules.tau_volatile", low=0.1, high=1000.0).at(0.5)
        10.0
        """
        if self.choices:
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        if self.whole:
            return int(min(self.low + np.floor(share * (self.high - self.low + 1.0)), self.high))
        value = self.low * (self.high / self.low) ** share if self.logarithmic else self.low + share * (self.high - self.low)
        return float(np.clip(value, self.low, self.high))

    def share(self, value: Any) -> float:
        """Return the position of a value within the range, as a fraction from 0 to 1. This is the inverse of `at`."""
        if self.choices:
            return (self.choices.index(value) + 0.5) / len(self.choices) if value in self.choices else 0.5
        inside = float(np.clip(value, self.low, self.high))
        if self.whole:
            return (inside - self.low + 0.5) / (self.high - self.low + 1.0)
        if self.logarithmic:
            return float(np.log(inside / self.low) / np.log(self.high / self.low))
        return (inside - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Space:
    """Search dimensions in order. A point is an array of positions within their ranges, in [0, 1], shape (dimensions,).

    >>> Space.of({"rules.support_ceiling": (0, 0.9)}).values(np.array([0.5]))
    {'rules.support_ceiling': 0.45}
    """

    dimensions: tuple[Dimension, ...]

    @classmethod
    def of(cls, table: Mapping[str, Sequence[Any]], *subjects: Rules | Scenario) -> Space:
        """Build a space from a map of names to (low, high) or to a list of choices.

        Each name must be a setting of every subject (by default of `Rules()`); see `settings.settings_of`.

        Raises
        ------
        UsageError
            If the space is empty, a name or choice is unknown, or a range is empty or exceeds the setting's bounds.
        """
        if not table:
            hint = 'write {"rules.support_ceiling": (0, 0.9)}'
            raise UsageError("the space has no settings", where="space", hint=hint)
        dimensions = [
            [_dimension(name, values, setting(name, subject, where="space")) for subject in subjects or (Rules(),)]
            for name, values in table.items()
        ]
        return cls(tuple(of_subjects[0] for of_subjects in dimensions))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dimension.name for dimension in self.dimensions)

    def values(self, point: NDArray[np.float64]) -> dict[str, Any]:
        return {dimension.name: dimension.at(float(share)) for dimension, share in zip(self.dimensions, point, strict=True)}

    def point(self, values: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the point that has these values. Dimensions without a value keep their current value."""
        return np.array([dimension.share(values.get(dimension.name, dimension.value)) for dimension in self.dimensions])


def _dimension(name: str, ends: Sequence[Any], setting_: Setting) -> Dimension:
    where = f"space: {name}"
    if setting_.choices:
        choices = () if isinstance(ends, str) else tuple(ends)
        if len(set(choices)) < BOTH_ENDS or not set(choices) <= set(setting_.choices):
            allowed = f"two or more of {setting_.allowed}"
            raise UsageError("not a list of choices", where=where, given=ends, allowed=allowed)
        return Dimension(name=name, value=setting_.value, choices=tuple(dict.fromkeys(choices)))
    is_number = [isinstance(end, (int, float, np.integer, np.floating)) and not isinstance(end, bool) for end in ends]
    if isinstance(ends, str) or len(ends) != BOTH_ENDS or not all(is_number):
        raise UsageError("not a range", where=where, given=ends, allowed="a low and a high number")
    low, high = (float(end) for end in ends)
    if not low < high or not np.isfinite([low, high]).all():
        raise UsageError("the range is empty", where=where, given=ends, allowed="finite numbers, the lower one first")
    if not (setting_.holds(low) and setting_.holds(high)):
        raise UsageError("out of bounds", where=where, given=ends, allowed=setting_.allowed)
    if setting_.whole and not (low.is_integer() and high.is_integer()):
        raise UsageError("not a whole number", where=where, given=ends, allowed=setting_.allowed)
    return Dimension(name=name, value=setting_.value, low=low, high=high, whole=setting_.whole, unit=setting_.unit)
