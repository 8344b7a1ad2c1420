"""User-defined formula that can be plotted, tuned, and written to a rules file."""

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

    from malsim.showing.plots.style import Sheet

POINTS = 121
OTHERS = {"stated": 0.7, "calibration": 1.0, "support": 0.0, "challenge": 0.0}
MOST = {"stated": 1.0, "calibration": 1.0, "support": 3.0, "challenge": 3.0}


class Formula(UserFormula):
    """User-defined formula (see `UserFormula`) with methods to plot it and to write it to a file."""

    def plot(self, rules: Rules | None = None, **others: float) -> Sheet:
        """Plot effective confidence against each of the four inputs, under this formula and under the shipped one.

        The other inputs are held at stated 0.7, calibration 1, support 0 and challenge 0, or at the values in `others`.
        """
        from malsim.showing.plots.studies.settings import over_inputs

        base, others = rules or Rules(), OTHERS | others
        ceilings: dict[str, Any] = {"support_ceiling": base.support_ceiling, "challenge_ceiling": base.challenge_ceiling}
        parts = []
        for name in INPUTS:
            x = np.linspace(0.0, MOST[name], POINTS)
            arrays = [x if key == name else np.full(POINTS, others[key]) for key in INPUTS]
            for label, values in ((self.__name__, self(*arrays)), ("shipped", effective(*arrays, **ceilings))):
                line = pl.DataFrame({"x": x, "effective": np.asarray(values, dtype=np.float64)})
                parts.append(line.with_columns(input=pl.lit(name), formula=pl.lit(label)))
        note = "other inputs: " + ", ".join(f"{key} {value:g}" for key, value in others.items())
        title = f"Effective confidence under {self.__name__} and under the shipped formula"
        return over_inputs(pl.concat(parts), title=title, note=note)

    def write(self, path: Path, rules: Rules | None = None) -> None:
        """Write a rules file with the formula's source, hash and values.

        Other users must consent to its code before they can run the formula.
        """
        base, default, lines = rules or Rules(), Rules(), ["[rules]"]
        for name in base.__dataclass_fields__:
            value = getattr(base, name)
            if name != "effective" and value != getattr(default, name):
                lines.append(f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value!r}")
        save_text(path, "\n".join([*lines, self.toml()]))


def formula(function: Any, **bounds: tuple[float, float]) -> Formula:
    """Return a user-defined formula. The keyword arguments are the bounds of its parameters.

    Parameters
    ----------
    function
        A function (stated, calibration, support, challenge, *, parameter=number, …) of four arrays, or `FILE.py:NAME`,
        whose file is run. The function returns one number in [0, 1] per cell.
    bounds
        (low, high) of each tunable parameter. Every scenario that uses the formula, as in `rules={"effective": mine}`, then
        has a setting `formula.PARAMETER`.

    Raises
    ------
    RulesError
        If the function has other arguments, a parameter's default is not a number, or a bound names an unknown parameter.

    >>> def mine(stated, calibration, support, challenge, *, fall=0.5):
    ...     return stated * calibration * (1 - fall * np.tanh(challenge))
    >>> bounded = formula(mine, fall=(0.0, 1.0))
    >>> float(bounded(np.array([0.8]), np.ones(1), np.zeros(1), np.zeros(1))[0])
    0.8
    """
    loaded = UserFormula.load(function) if isinstance(function, str) else UserFormula.of(function, bounds)
    return Formula(loaded.name, loaded.source, loaded.values, loaded.bounds, loaded.allowed, loaded.function)
