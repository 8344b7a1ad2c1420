"""Result of a proof (proved, proved up to a number of ticks, refuted, or not decided), and replay of a refutation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from malsim.memory import Memory
from malsim.netlist.engine import Engine
from malsim.netlist.engine.engine import DAY
from malsim.scenario.proof.terms.elements import z3
from malsim.scenario.properties import Property, Trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.scenario.proof.ticks.cut import Cut, FreeInput
    from malsim.scenario.proof.ticks.unroll import Unrolling
    from malsim.scenario.properties.formula import Formula

Result: TypeAlias = Literal["proved", "proved up to", "refuted", "not decided"]


@dataclass(frozen=True)
class Proof:
    """Result of an attempt to prove that a property of a net holds for all inputs.

    Parameters
    ----------
    text, assumptions
        Property, and properties assumed to hold at every tick.
    inputs
        Free inputs with their bounds.
    k, facts
        For a proof by induction: number of consecutive ticks, and invariants, that the induction uses.
    ticks
        Length of the runs examined, or of the refuting run.
    trace
        For a refutation: the engine's run, with `t` (days) and a column per signal, one row per tick.
    """

    result: Result
    text: str
    assumptions: tuple[str, ...]
    inputs: tuple[FreeInput, ...]
    seconds: float
    k: int | None = None
    facts: tuple[str, ...] = ()
    ticks: int | None = None
    trace: pl.DataFrame | None = None

    @property
    def verdict(self) -> str:
        """Verdict in a few words, such as `refuted in 3 ticks`."""
        if self.result == "proved":
            return f"proved by induction over {self.k} tick{'s' if self.k != 1 else ''}" if self.k else "proved"
        if self.result == "proved up to":
            return f"proved up to {self.ticks} ticks"
        return f"refuted in {self.ticks} tick{'s' if self.ticks != 1 else ''}" if self.result == "refuted" else self.result

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.text}"]
        lines += [f"  assuming: always {assumption}" for assumption in self.assumptions]
        lines += [f"  for all: {', '.join(map(str, self.inputs))}"]
        lines += [f"  invariants: {', '.join(self.facts)}"] if self.facts else []
        if self.trace is not None:
            lines += ["  " + line for line in _table(self.trace)]
        return "\n".join(lines)


def _table(trace: pl.DataFrame) -> list[str]:
    """Format the trace as lines of text, with one line per signal and one column per tick."""
    rows = [(name, [f"{number:.6g}" for number in trace[name].to_list()]) for name in trace.columns]
    width = max(len(name) for name, _ in rows)
    columns = [max(len(cells[tick]) for _, cells in rows) for tick in range(trace.height)]
    return [" ".join([name.ljust(width), *map(str.rjust, cells, columns)]) for name, cells in rows]


def values_of(model: Any, unrolling: Unrolling, ticks: int) -> dict[str, list[float | bool]]:
    """Return the value that a solver's model gives each input at each tick, rounded to the nearest float."""
    return {
        entry.name: [
            _plain(model.eval(unrolling.input(entry, str(tick))[0], model_completion=True)) for tick in range(1, ticks + 1)
        ]
        for entry in unrolling.cut.inputs
    }


def _plain(value: Any) -> float | bool:
    """Convert a solver's value to a bool, an int or a float."""
    solver = z3()
    if solver.is_bool(value):
        return bool(solver.is_true(value))
    if solver.is_int_value(value):
        return int(value.as_long())
    return float((value if solver.is_rational_value(value) else value.approx(20)).as_fraction())


def replay(
    cut: Cut, inputs: Mapping[str, Sequence[float | bool]], formula: Formula, tick: float
) -> tuple[pl.DataFrame, bool]:
    """Run a detached net (see `cut`) in the engine. Return one row per tick, and whether the property holds."""
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
    days = [tick / DAY * number for number in range(1, length + 1)]
    columns = {source: signals[name] for source, name in cut.sources.items()} | pins | signals
    arrays = {name: np.asarray(values, dtype=float)[:, np.newaxis] for name, values in columns.items()}
    holds = Property(formula).margin(Trace.of_arrays(days, arrays)).holds[0]
    order = [*inputs, *(name for name in signals if name not in inputs)]
    return pl.DataFrame({"t": days, **{name: signals[name] for name in order}}), bool(holds)
