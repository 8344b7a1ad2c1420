"""Replay of a refutation in the real engine: the model's inputs as numbers, fed to the net tick by tick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import Memory
from malsim.netlist.engine import Engine
from malsim.netlist.engine.engine import DAY
from malsim.scenario.proof.terms.solver import z3
from malsim.scenario.properties import Property, Trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.scenario.proof.ticks.cut import Cut
    from malsim.scenario.proof.ticks.unroll import Unrolling
    from malsim.scenario.properties.formula import Formula


def values_of(model: Any, unrolling: Unrolling, ticks: int) -> dict[str, list[float | bool]]:
    """Return the model's value of each input at each tick, as the nearest floats."""
    names = {
        entry.name: [unrolling.input(entry, str(tick))[0] for tick in range(1, ticks + 1)] for entry in unrolling.cut.inputs
    }
    return {
        name: [_plain(model.eval(symbol, model_completion=True)) for symbol in symbols] for name, symbols in names.items()
    }


def _plain(value: Any) -> float | bool:
    solver = z3()
    if solver.is_bool(value):
        return bool(solver.is_true(value))
    if solver.is_int_value(value):
        return int(value.as_long())
    return float((value if solver.is_rational_value(value) else value.approx(20)).as_fraction())


def replay(
    cut: Cut, inputs: Mapping[str, Sequence[float | bool]], formula: Formula, tick: float
) -> tuple[pl.DataFrame, bool]:
    """Run a cut net on these inputs; return the run, one row per tick, and whether it keeps the property."""
    engine, memory = Engine(cut.net, tick=tick), Memory.empty()
    state = engine.start(memory)
    signals: dict[str, list[Any]] = {name: [] for name in cut.net.signals}
    pins: dict[str, list[float]] = {}
    length = len(next(iter(inputs.values()), ()))
    for index in range(length):
        state = engine.scan(state, memory, {name: values[index] for name, values in inputs.items()}).state
        for name, values in signals.items():
            values.append(state.signals[name][0].item())
        for name, step in engine.steps.items():
            for pin, (key, row, _) in step.instance.sheet.slots.items():
                value = state.ops[name][key] if row is None else state.ops[name][key][row]
                pins.setdefault(f"{name}.{pin}", []).append(float(value[0]))
    days = [tick / DAY * n for n in range(1, length + 1)]
    read = {source: signals[name] for source, name in cut.sources.items()} | pins | signals
    arrays = {name: np.asarray(values, dtype=float)[:, np.newaxis] for name, values in read.items()}
    holds = Property(formula).margin(Trace.of_arrays(days, arrays)).holds[0]
    order = [*inputs, *(name for name in signals if name not in inputs)]
    return pl.DataFrame({"t": days, **{name: signals[name] for name in order}}), bool(holds)
