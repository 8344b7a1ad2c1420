"""User-defined formula: drawn over its inputs next to the shipped one, tuned, and written as rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.files.outputs import save_text
from malsim.base.user_formula import INPUTS, UserFormula
from malsim.memory import Rules
from malsim.memory.law import effective

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from malsim.showing.plots.style import Sheet

POINTS = 121
OTHERS = {"stated": 0.7, "calibration": 1.0, "support": 0.0, "challenge": 0.0}
MOST = {"stated": 1.0, "calibration": 1.0, "support": 3.0, "challenge": 3.0}


class Formula(UserFormula):
    """User-defined formula with methods to draw and to write it; see `UserFormula`."""

    def plot(self, rules: Rules | None = None, **others: float) -> Sheet:
        """Draw effective confidence over each of the four inputs, under this formula and under the shipped one.

        The other inputs are held at stated 0.7, calibration 1, support 0 and challenge 0, or at what `others` says.
        """
        from malsim.showing.plots.studies.settings import over_inputs

        base, at = rules or Rules(), OTHERS | others
        up, down = base.support_ceiling, base.challenge_ceiling
        parts = []
        for name in INPUTS:
            inputs = {key: np.full(POINTS, value) for key, value in at.items()} | {
                name: np.linspace(0.0, MOST[name], POINTS)
            }
            arrays = [inputs[key] for key in INPUTS]
            for label, values in ((self.__name__, self(*arrays)), ("shipped", _shipped(*arrays, up=up, down=down))):
                line = pl.DataFrame({"x": inputs[name], "effective": np.asarray(values, dtype=np.float64)})
                parts.append(line.with_columns(input=pl.lit(name), formula=pl.lit(label)))
        note = "other inputs: " + ", ".join(f"{key} {value:g}" for key, value in at.items())
        title = f"Effective confidence under {self.__name__} and under the shipped formula"
        return over_inputs(pl.concat(parts), title=title, note=note)

    def write(self, path: Path, rules: Rules | None = None) -> None:
        """Write a rules file with the formula's source, hash and values; running it elsewhere needs consent."""
        own, default = rules or Rules(), Rules()
        names = [name for name in own.__dataclass_fields__ if name != "effective"]
        lines = [
            f"{name} = {_literal(getattr(own, name))}" for name in names if getattr(own, name) != getattr(default, name)
        ]
        save_text(path, "\n".join(["[rules]", *lines, self.toml()]))


def formula(function: Any, **bounds: tuple[float, float]) -> Formula:
    """Return a user-defined formula; the keyword arguments are the bounds of its parameters.

    Parameters
    ----------
    function
        A function (stated, calibration, support, challenge, *, parameter=number, …) of four arrays, or `FILE.py:NAME`, whose
        file is run. Its result has one number in [0, 1] a cell.
    bounds
        (low, high) of each parameter that may be tuned: `formula.PARAMETER` is then a setting of every scenario that runs
        under it, as `rules={"effective": mine}`.

    Raises
    ------
    RulesError
        For a function of other arguments, a parameter without a number as its default, or bounds of no parameter.

    >>> def mine(stated, calibration, support, challenge, *, fall=0.5):
    ...     return stated * calibration * (1 - fall * np.tanh(challenge))
    >>> own = formula(mine, fall=(0.0, 1.0))
    >>> float(own(np.array([0.8]), np.ones(1), np.zeros(1), np.zeros(1))[0])
    0.8
    """
    own = UserFormula.load(function) if isinstance(function, str) else UserFormula.of(function, bounds)
    return Formula(own.name, own.source, own.values, own.bounds, own.allowed, own.function)


def _shipped(*inputs: NDArray[np.float64], up: float, down: float) -> NDArray[np.float64]:
    stated, factor, support, challenge = inputs
    return effective(stated, factor, support, challenge, support_ceiling=up, challenge_ceiling=down)


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
