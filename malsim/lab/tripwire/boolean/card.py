"""Truth table of a Boolean part, by state, with the inputs that decide; large tables merged to what decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.tripwire.boolean.explore import Ints, StateSpace

MOST_ROWS = 64  # lines of the printed table
MERGED_ABOVE = 16


@dataclass(frozen=True)
class Card:
    """Truth table: each output for each state that can be told apart and each combination of the inputs.

    Parameters
    ----------
    rows
        A column for each name of `before` (`alarm.out`, its value as the tick begins), `inputs` and `outputs`, and
        `deciding`, a list of the inputs that each, changed alone, would change some output in that tick.
    """

    rows: pl.DataFrame
    before: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def table(self) -> pl.DataFrame:
        """The rows; of more than 16, rows of the same outputs merged, null where a value makes no difference."""
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
        """CSV of all rows; the deciding inputs of a row are separated by blanks."""
        return self.rows.with_columns(pl.col("deciding").list.join(" ")).write_csv()

    def __str__(self) -> str:
        """Return the table as text: 1 and 0, `*` after an input that decides, `-` for one that makes no difference."""
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
        left = max(0, table.height - MOST_ROWS)
        return f"{text}\n… and {left} rows more" if left else text


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _merged(
    values: np.ndarray, codes: np.ndarray, rows: Ints, fixed: tuple[float | None, ...]
) -> Iterator[tuple[tuple[float | None, ...], int]]:
    """Yield disjoint groups of rows with the same output: the values that are fixed, and one row of the group.

    A decision tree, split each time at the column that leaves least entropy of the outputs.
    """
    if len(np.unique(codes[rows])) == 1:
        yield fixed, int(rows[0])
        return
    open_ = [column for column, value in enumerate(fixed) if value is None and len(np.unique(values[rows, column])) > 1]
    column = min(open_, key=lambda column: _entropy(values[rows, column], codes[rows]))
    for value in np.unique(values[rows, column]):
        group = rows[values[rows, column] == value]
        yield from _merged(values, codes, group, (*fixed[:column], float(value), *fixed[column + 1 :]))


def _entropy(values: np.ndarray, codes: np.ndarray) -> float:
    """Compute the entropy of the codes within the groups of equal values, weighted by the groups' sizes."""
    total = 0.0
    for value in np.unique(values):
        counts = np.unique(codes[values == value], return_counts=True)[1]
        total -= float((counts * np.log2(counts / counts.sum())).sum())
    return total


def card(space: StateSpace) -> Card:
    r"""Return the truth table of a Boolean part; states that no output can tell apart share their rows.

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
    """Return for each state and valuation the inputs that each, changed alone, would change an output in this tick."""
    names = np.array(space.part.inputs)
    decides = np.zeros((len(states), *space.inputs.shape), dtype=bool)
    for index in range(len(names)):
        other = space.turned(index)
        for name in space.part.outputs:
            values = space.signals[name][states]
            decides[:, :, index] |= (values != values[:, other]) & (other >= 0)
    return [names[row].tolist() for row in decides.reshape(-1, len(names))]
