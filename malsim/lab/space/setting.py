"""Setting that a study can change: a number with bounds, or a choice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from malsim.base.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Number or choice with its current value, unit, and bounds (low excluded if `above`) or choices."""

    name: str
    value: Any
    unit: str = "1"
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The bounds or choices in words."""
        if self.choices:
            return ", ".join(self.choices)
        return f"{'whole, ' if self.whole else ''}{'above ' if self.above else ''}{self.low:g} to {self.high:g}"

    def checked(self, value: object, *, where: str = "settings") -> Any:
        """Return the value as the setting holds it. Raises `UsageError` for one of the wrong kind or beyond the bounds."""
        plain: Any = value.item() if isinstance(value, np.generic) else value
        if self.choices:
            good = plain in self.choices
        else:
            good = isinstance(plain, (int, float)) and not isinstance(plain, bool)
            good = good and self.holds(float(plain)) and (not self.whole or float(plain).is_integer())
        if not good:
            raise UsageError("not a value of this setting", where=f"{where}: {self.name}", given=value, allowed=self.allowed)
        return plain if self.choices else int(plain) if self.whole else float(plain)

    def holds(self, value: float) -> bool:
        """Return True if a number lies within the bounds."""
        return (self.low < value if self.above else self.low <= value) and value <= self.high
