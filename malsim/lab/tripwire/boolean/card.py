"""The truth table of a Boolean part, state by state, with the inputs that decide marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.explore import Ints, StateSpace

MOST_ROWS = 64


@dataclass(frozen=True)
class Card:
    """A truth table: what each output is, for each state that can be told apart and each valuation of the inputs.

    Parameters
    ----------
    rows
        A column for each name of `before` (`alarm.out`, as the tick begins), `inputs` and `outputs`, and `deciding`, a list
        of the inputs each of which, turned alone, would turn some output in that tick.
    left
        How many rows are left out, because the table has more than 64.
    """

    rows: pl.DataFrame
    before: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    left: int = 0

    def __str__(self) -> str:
        """The table as text: 1 and 0, `*` behind an input that decides."""
        heads = [*(f"({name})" for name in self.before), *(f"{name} " for name in self.inputs), "→", *self.outputs]
        lines = []
        for row in self.rows.to_dicts():
            deciding = row["deciding"]
            inputs = [f"{row[name]:g}{'*' if name in deciding else ' '}" for name in self.inputs]
            lines.append([*(f"{row[f'({name})']:g}" for name in self.before), *inputs, "→",
                          *(f"{row[name]:g}" for name in self.outputs)])  # fmt: skip
        lines = [heads, *lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)
        return f"{text}\n… and {self.left} rows more" if self.left else text


def card(space: StateSpace) -> Card:
    r"""The truth table of a Boolean part; states that no output can tell apart share their rows.

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
    places = np.flatnonzero((states != states[0]).any(axis=0))
    names = [space.machine.names[place] for place in places]
    columns: dict[str, object] = {
        f"({name})": np.repeat(states[:, place], count) for name, place in zip(names, places, strict=True)
    }
    columns |= {name: np.tile(space.inputs[:, place], len(first)).astype(float) for place, name in enumerate(part.inputs)}
    columns |= {name: space.signals[name][first].ravel().astype(float) for name in part.outputs}
    frame = pl.DataFrame(columns | {"deciding": pl.Series(_deciding(space, first), dtype=pl.List(pl.String))})
    left = max(0, frame.height - MOST_ROWS)
    return Card(frame.head(MOST_ROWS), tuple(names), part.inputs, part.outputs, left)


def _deciding(space: StateSpace, states: Ints) -> list[list[str]]:
    """For each state and valuation: the inputs each of which, turned alone, turns an output now."""
    names = np.array(space.part.inputs)
    decides = np.zeros((len(states), *space.inputs.shape), dtype=bool)
    for place in range(len(names)):
        other = space.turned(place)
        for name in space.part.outputs:
            values = space.signals[name][states]
            decides[:, :, place] |= (values != values[:, other]) & (other >= 0)
    return [names[row].tolist() for row in decides.reshape(-1, len(names))]
