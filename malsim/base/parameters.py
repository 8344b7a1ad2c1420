"""Declared parameters of a behaviour (default, unit, meaning, bounds), and the validation of given values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from malsim.base.errors import ScenarioError, nearest
from malsim.base.finite import in_days


@dataclass(frozen=True, slots=True)
class Param:
    """Parameter with a default, a unit ("1" for a pure number, "d" for days), a meaning and bounds.

    A parameter whose default is text accepts only text. Days may be given as text with a unit, such as "36h".
    """

    default: float | str
    unit: str
    meaning: str
    low: float = -math.inf
    high: float = math.inf

    @property
    def bounds(self) -> str:
        if math.isinf(self.high):
            return f"{self.low:g} or more" if math.isfinite(self.low) else "any number"
        return f"{self.low:g} to {self.high:g}"


def checked(given: Mapping[str, object], params: Mapping[str, Param], *, where: str) -> dict[str, float | str]:
    """Return the value of each parameter: the given value after validation, or the default.

    Raises `ScenarioError` for an unknown name, or a value of the wrong type or outside its bounds.
    """
    for name in given:
        if name not in params:
            hint = nearest(
                name, params, f"choose one of {', '.join(params)}" if params else "leave it out: there are no parameters"
            )
            raise ScenarioError("no such parameter", where=where, given=name, hint=hint)
    return {name: _value(given.get(name, param.default), param, f"{where}.{name}") for name, param in params.items()}


def refuse_out_of_bounds(bounds: Iterable[tuple[str, bool, object, str]], *, where: str) -> None:
    """Raise `ScenarioError` for the first violated bound. Each bound is (name, whether it holds, value, allowed values)."""
    for name, holds, given, allowed in bounds:
        if not holds:
            raise ScenarioError("out of bounds", where=f"{where}.{name}", given=given, allowed=allowed)


def _value(value: object, param: Param, where: str) -> float | str:
    if isinstance(param.default, str):
        if not isinstance(value, str):
            raise ScenarioError("not a string", where=where, given=value, allowed=param.meaning)
        return value
    value = in_days(value, where=where) if param.unit == "d" else value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ScenarioError("not a number", where=where, given=value, allowed=param.bounds)
    if not param.low <= value <= param.high:
        raise ScenarioError("out of bounds", where=where, given=value, allowed=param.bounds)
    return float(value)
