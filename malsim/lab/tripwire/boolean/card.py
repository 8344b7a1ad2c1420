"""Truth table of a netlist's Boolean part, and MC/DC coverage of that part by recorded inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.tripwire.boolean.part import Machine
from malsim.netlist.engine.engine import DAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from malsim.lab.tripwire.boolean.explore import Ints, StateSpace
    from malsim.lab.tripwire.boolean.part import Bools, Part
    from malsim.netlist.wiring import Instance

MOST_ROWS = 64  # maximum number of rows in the printed table
MERGED_ABOVE = 16


@dataclass(frozen=True)
class Card:
    """Truth table of a Boolean part: its outputs for every distinguishable state and every combination of inputs.

    Parameters
    ----------
    rows
        One column per name in `before` (such as `alarm.out`, its value as the tick begins), `inputs` and `outputs`, and
        `deciding`, the list of inputs each of which alone, if changed, would change an output in that tick.
    """

    rows: pl.DataFrame
    before: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def table(self) -> pl.DataFrame:
        """Truth table for printing, in which rows with equal outputs are merged if there are more than 16 rows.

        In a merged row, null means that a value does not matter.
        """
        if self.rows.height <= MERGED_ABOVE:
            return self.rows
        names = [*(f"({name})" for name in self.before), *self.inputs]
        values = self.rows.select(names).to_numpy()
        outputs = self.rows.select(self.outputs)
        codes = outputs.with_row_index().select(pl.struct(self.outputs).rank("dense")).to_series().to_numpy()
        merged = [
            {**dict(zip(names, fixed, strict=True)), **outputs.row(row, named=True), "deciding": []}
            for fixed, row in _merged(values, codes, np.arange(len(codes)), (None,) * len(names))
        ]
        return pl.DataFrame(merged, schema=self.rows.schema)

    @property
    def csv(self) -> str:
        """Complete truth table as CSV, with the deciding inputs of each row separated by spaces."""
        return self.rows.with_columns(pl.col("deciding").list.join(" ")).write_csv()

    def __str__(self) -> str:
        """Return the table as text, with `*` after each deciding input and `-` for each value that does not matter."""
        heads = [*(f"({name})" for name in self.before), *(f"{name} " for name in self.inputs), "→", *self.outputs]
        table = self.table
        lines = []
        for row in table.head(MOST_ROWS).to_dicts():
            inputs = [f"{_cell(row[name])}{'*' if name in row['deciding'] else ' '}" for name in self.inputs]
            states = (_cell(row[f"({name})"]) for name in self.before)
            lines.append([*states, *inputs, "→", *(f"{row[name]:g}" for name in self.outputs)])
        lines = [heads, *lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)
        hidden = max(0, table.height - MOST_ROWS)
        return f"{text}\n… and {hidden} more rows" if hidden else text


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _merged(
    values: np.ndarray, codes: np.ndarray, rows: Ints, fixed: tuple[float | None, ...]
) -> Iterator[tuple[tuple[float | None, ...], int]]:
    """Yield disjoint groups of truth-table rows with equal outputs, as (fixed values, index of one row in the group).

    The groups are the leaves of a decision tree, each split at the column that leaves the least entropy of the outputs.
    """
    if len(np.unique(codes[rows])) == 1:
        yield fixed, int(rows[0])
        return
    free = [column for column, value in enumerate(fixed) if value is None and len(np.unique(values[rows, column])) > 1]
    column = min(free, key=lambda column: _entropy(values[rows, column], codes[rows]))
    for value in np.unique(values[rows, column]):
        group = rows[values[rows, column] == value]
        yield from _merged(values, codes, group, (*fixed[:column], float(value), *fixed[column + 1 :]))


def _entropy(values: np.ndarray, codes: np.ndarray) -> float:
    """Return the conditional entropy of `codes` given `values`, in bits, times the number of rows."""
    total = 0.0
    for value in np.unique(values):
        counts = np.unique(codes[values == value], return_counts=True)[1]
        total -= float((counts * np.log2(counts / counts.sum())).sum())
    return total


def card(space: StateSpace) -> Card:
    r"""Return the truth table of an explored Boolean part.

    States that cannot be distinguished by the outputs share one set of rows.

    >>> from malsim.netlist import parse
    >>> from malsim.netlist.wiring import link
    >>> from malsim.lab.tripwire import explore, part_of
    >>> text = "loadrt or2\nnet a or2.in-0\nnet b or2.in-1\nnet bad or2.out\naddf or2 tick"
    >>> print(card(explore(part_of(link(parse(text))))))
    a   b   →  bad
    0*  0*  →    0
    1*  0   →    1
    0   1*  →    1
    1   1   →    1
    """
    part, count = space.part, len(space.inputs)
    first = np.sort(np.unique(space.classes, return_index=True)[1])
    states = space.states[first]
    indices = np.flatnonzero((states != states[0]).any(axis=0))
    names = [space.machine.names[index] for index in indices]
    columns: dict[str, object] = {
        f"({name})": np.repeat(states[:, index], count) for name, index in zip(names, indices, strict=True)
    }
    columns |= {name: np.tile(space.inputs[:, index], len(first)).astype(float) for index, name in enumerate(part.inputs)}
    columns |= {name: space.signals[name][first].ravel().astype(float) for name in part.outputs}
    frame = pl.DataFrame(columns | {"deciding": pl.Series(_deciding(space, first), dtype=pl.List(pl.String))})
    return Card(frame, tuple(names), part.inputs, part.outputs)


def _deciding(space: StateSpace, states: Ints) -> list[list[str]]:
    """Return, for each state and combination of inputs, the inputs that change an output when flipped alone."""
    names = np.array(space.part.inputs)
    decides = np.zeros((len(states), *space.inputs.shape), dtype=bool)
    for index in range(len(names)):
        other = space.flipped(index)
        for name in space.part.outputs:
            values = space.signals[name][states]
            decides[:, :, index] |= (values != values[:, other]) & (other >= 0)
    return [names[row].tolist() for row in decides.reshape(-1, len(names))]


KINDS = {"kind": pl.String, "name": pl.String, "shown": pl.Boolean, "wants": pl.String, "line": pl.Int64}


def coverage(part: Part, stream: Mapping[str, Bools], *, tick: float = DAY) -> pl.DataFrame:
    """Run a Boolean part on recorded inputs and return the coverage of its ops' input and output pins.

    An op's input pin is shown to have an effect of its own (modified condition / decision coverage, DO-178B) if two calls
    with the same state and the same other inputs differ in this input and in an output of the op. `stream` has ticks ×
    replications of each input of the part; `tick` is in milliseconds. The columns are kind (`output` or `input`), name
    (`alarm.out`, `either.in-0`), shown, wants (observations still needed) and line.
    """
    machine = Machine(part, tick=tick)
    calls = _calls(machine, stream)
    rows = [row for name, op_calls in calls.items() for row in _rows(part, name, op_calls)]
    return pl.DataFrame(rows, schema=KINDS, orient="row")


def _calls(machine: Machine, stream: Mapping[str, Bools]) -> dict[str, NDArray[np.float64]]:
    """Return each op's distinct calls, one per row: input values, the state before the call, and output values."""
    part = machine.part
    ticks, reps = next(iter(stream.values())).shape if stream else (0, 1)
    calls: dict[str, NDArray[np.float64]] = {}
    states = np.repeat(machine.start(), reps, axis=0)
    for tick in range(ticks):
        bits = np.column_stack([stream[name][tick] for name in part.inputs]) if part.inputs else np.empty((reps, 0), bool)
        step = machine.step(states, bits, tick + 1)
        states = step.states
        for thread in part.net.threads:
            for name in thread.functions if (tick + 1) % thread.every == 0 else ():
                after, before, sheet = step.ops[name], step.before[name], part.net.instances[name].sheet
                pins = [after[key] for key in sheet.ins] + [before[key] for key in sheet.state]
                pins += [after[key] for key, out in sheet.outs.items() if out.type == "bit"]
                columns = [np.broadcast_to(values, (*values.shape[:-1], reps)).reshape(-1, reps).T for values in pins]
                call = np.column_stack(columns)
                calls[name] = np.unique(np.concatenate([calls[name], call]) if name in calls else call, axis=0)
    return calls


def _rows(part: Part, name: str, calls: NDArray[np.float64]) -> Iterator[tuple[str, str, bool, str, int]]:
    instance = part.net.instances[name]
    sheet, line = instance.sheet, instance.statement.line
    wires = {str(link.address) for signal in part.net.signals.values() for link in signal.links}
    slots = {(slot.key, slot.row): pin for pin, slot in sheet.slots.items()}
    keys = [(key, row) for key in (*sheet.ins, *sheet.state) for row in _family(instance, key)]
    outs = [(key, row) for key, out in sheet.outs.items() if out.type == "bit" for row in _family(instance, key)]
    outputs = calls[:, len(keys) :]
    for column, out in enumerate(outs):
        pin = f"{name}.{slots[out]}"
        if pin in wires:
            missing = [word for word, value in (("true", True), ("false", False)) if value not in outputs[:, column]]
            yield "output", pin, not missing, f"a tick in which it is {' and one in which it is '.join(missing)}", line
    for column, (key, row) in enumerate(keys):
        pin = f"{name}.{slots[key, row]}"
        if key in sheet.ins and pin in wires:
            others = np.delete(calls[:, : len(keys)], column, axis=1)
            matters = len(np.unique(np.column_stack([others, outputs]), axis=0)) > len(np.unique(others, axis=0))
            yield "input", pin, matters, "two calls that differ only in this input, with different outputs", line


def _family(instance: Instance, key: str) -> list[int | None]:
    """Return the row numbers of a pin family such as `in-0`, `in-1`, or [None] for a single pin."""
    pin = instance.sheet.declared[key]
    return list(range(instance.sheet.count(pin))) if pin.many else [None]
