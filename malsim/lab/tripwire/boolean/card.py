"""The truth table of a Boolean part, state by state, with the inputs that decide marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from malsim.lab.tripwire.boolean.explore import Explored

__all__ = ["Card", "card"]

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
        How many rows are not shown, because the table has more than 64.
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
        widths = [max(len(line[place]) for line in [heads, *lines]) for place in range(len(heads))]
        made = ["  ".join(map(str.rjust, line, widths)) for line in [heads, *lines]]
        return "\n".join([*made, f"… and {self.left} rows more"] if self.left else made)


def card(seen: Explored) -> Card:
    r"""The truth table of an explored part; states that no output can tell apart share their rows.

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
    part = seen.part
    first = np.unique(seen.classes, return_index=True)[1]
    first = first[np.argsort(first)]
    held = seen.states[first]
    apart = [place for place in range(held.shape[1]) if (held[:, place] != held[0, place]).any()]
    names = [seen.machine.names[place] for place in apart]
    deciding = _deciding(seen, first)
    count = len(seen.inputs)
    columns: dict[str, object] = {
        f"({name})": np.repeat(held[:, place], count) for name, place in zip(names, apart, strict=True)
    }
    columns |= {name: np.tile(seen.inputs[:, place], len(first)).astype(float) for place, name in enumerate(part.inputs)}
    columns |= {name: seen.signals[name][first].ravel().astype(float) for name in part.outputs}
    frame = pl.DataFrame(columns | {"deciding": pl.Series(deciding, dtype=pl.List(pl.String))})
    left = max(0, frame.height - MOST_ROWS)
    return Card(frame.head(MOST_ROWS), tuple(names), part.inputs, part.outputs, left)


def _deciding(seen: Explored, states: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[list[str]]:
    """For each state and valuation: the inputs each of which, turned alone, turns an output now."""
    weights = 1 << np.arange(seen.inputs.shape[1])
    at = np.full(1 << seen.inputs.shape[1], -1)
    at[seen.inputs @ weights] = np.arange(len(seen.inputs))
    outputs = np.stack([seen.signals[name][states] for name in seen.part.outputs]) if seen.part.outputs else None
    decides = np.zeros((len(states), *seen.inputs.shape), dtype=bool)
    for place in range(seen.inputs.shape[1]):
        turned = at[(seen.inputs @ weights) ^ weights[place]]
        if outputs is not None:
            decides[:, :, place] = (outputs != outputs[:, :, turned]).any(axis=0) & (turned >= 0)
    names = np.array(seen.part.inputs)
    return [names[row].tolist() for row in decides.reshape(-1, seen.inputs.shape[1])]
