"""What a property says of terms: on numbers as the margins say, on names as on the numbers that stand for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings

from malsim.scenario.proof.ticks.meaning import Meaning, Truth
from malsim.scenario.properties import Trace
from malsim.scenario.properties.margins import Margins
from tests.scenario.test_properties_margins import DAY, Array, columns, formulas

if TYPE_CHECKING:
    from malsim.scenario.properties.formula import Formula

z3 = pytest.importorskip("z3")

TICKS = 6


def truth(one: Truth, values: list[tuple[Any, Any]]) -> float:
    holds, has_value = (
        item if isinstance(item, bool) else z3.is_true(z3.simplify(z3.substitute(item, *values))) for item in one
    )
    return float("nan") if not has_value else 1.0 if holds else -1.0


@settings(max_examples=60, deadline=None)
@given(formulas("ticks", prev=True) | formulas("d", prev=True), columns(TICKS, 2))
def test_terms_agree_with_margins(formula: Formula, numbers: Array) -> None:
    times = np.arange(1, TICKS + 1) * DAY
    trace = Trace.of_arrays(times / DAY, {"x": numbers[:, :1], "y": numbers[:, 1:]})
    names = {(name, tick): z3.Real(f"{name}{tick}") for name in "xy" for tick in range(TICKS)}
    values = [(item, z3.RealVal(numbers[tick]["xy".index(name)])) for (name, tick), item in names.items()]
    margins = Margins(trace, truth=True)
    for read in (lambda name, tick: float(numbers[tick]["xy".index(name)]), lambda name, tick: names[name, tick]):
        meaning = Meaning(read, times)
        came = [truth(meaning.at(formula, tick), values) for tick in range(TICKS)]
        expected = np.sign(margins.of(formula)[:, 0])
        assert np.array_equal(came, expected, equal_nan=True)
        assert truth(meaning.at_start(formula), values) == pytest.approx(np.sign(margins.at_start(formula)[0]), nan_ok=True)
