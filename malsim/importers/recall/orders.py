"""All that a cell may have come to, over the orders in which a claim's edges may have been written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, permutations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from malsim.importers.recall.replay import timeline
from malsim.memory import law, schema
from malsim.memory.graph.edge_matrix import wire
from malsim.memory.graph.table import Table
from malsim.memory.rules import Rules

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STATES = 4_096
MOST_ORDERS = 120  # of one claim's targets: all of five
SAME = 12  # decimals to which two states are one


def unexplained(
    rows: pl.DataFrame, edges: pl.DataFrame, ticks: Sequence[float], rules: Rules, *, tolerance: float
) -> NDArray[np.bool_]:
    """Which rows (of `cells.rows_of`) hold an effective that no order of edges comes to.

    The reference recomputes a claim's targets one after the other at admission, so what they come to depends on an order
    that is not on record, where one of them weighs on another. Every order is followed, and once a cell has its last value
    only those that came to the recorded one: all cells must follow from one history. At most 4,096 are followed at once.
    """
    return _Histories(rows, edges, rules).follow(ticks, tolerance)


class _Histories:
    def __init__(self, rows: pl.DataFrame, edges: pl.DataFrame, rules: Rules) -> None:
        self.rows, self.edges, self.rules = rows, edges, rules
        self.stated, self.factor = rows["stated"].to_numpy(), rows["calibration"].to_numpy()
        place = rows.select("key", pl.int_range(pl.len(), dtype=pl.Int64).alias("row"))
        pairs = edges.join(place.rename({"row": "from"}), left_on="source", right_on="key", maintain_order="left")
        pairs = pairs.join(place.rename({"row": "to"}), left_on="target", right_on="key", maintain_order="left")
        wires = pairs.select("from", "relation", "to", "weight").drop_nulls()
        self.out: dict[int, list[tuple[str, int, float]]] = {}
        for source, relation, target, weight in wires.iter_rows():
            self.out.setdefault(source, []).append((relation, target, weight))
        self.weighs = set(wires.filter(pl.col("weight") != 0.0).select("from", "to").iter_rows())

    def follow(self, ticks: Sequence[float], tolerance: float) -> NDArray[np.bool_]:
        recorded, events = self.rows["effective"].to_numpy(), self.events(ticks)
        last = {row: at for at, (_, rows) in enumerate(events) for row in rows.tolist()}
        states, unreached = np.zeros((1, len(recorded))), np.zeros(len(recorded), dtype=bool)
        incoming: list[list[tuple[int, float]]] = [[] for _ in recorded]
        for at, (claim, rows) in enumerate(events):
            states = self.tick(states, rows, incoming) if claim is None else self.admit(states, claim, incoming)
            for row in [row for row in rows.tolist() if last[row] == at]:
                agrees = np.abs(states[:, row] - recorded[row]) <= tolerance
                unreached[row] = not agrees.any()
                states = states if unreached[row] else states[agrees]
        return unreached

    def events(self, ticks: Sequence[float]) -> list[tuple[int | None, Ints]]:
        """Each claim's row, or None for a tick, with the rows that it recomputes."""
        order, run = timeline(self.rows, self.edges, ticks)
        events: list[tuple[int | None, Ints]] = []
        active = np.zeros(len(order), dtype=bool)
        for tick in range(len(ticks) + 1):
            for row in order[run == tick].tolist():
                edges = self.out.get(row, [])
                active[row] = True
                active[[target for relation, target, _ in edges if relation == "supersedes" and target != row]] = False
                events.append((row, np.array([*{target for _, target, weight in edges if weight}, row])))
            events += [(None, np.flatnonzero(active))] * (tick < len(ticks))
        return events

    def admit(self, states: Array, claim: int, incoming: list[list[tuple[int, float]]]) -> Array:
        """The states after a claim, one for each order of its edges that makes a difference."""
        targets = [target for _, target, weight in self.out.get(claim, []) if weight]
        for _, target, weight in self.out.get(claim, []):
            incoming[target].append((claim, weight))
        results = []
        for order in self.orders(targets):
            state = states.copy()
            state[:, claim] = np.clip(self.stated[claim] * self.factor[claim], 0.0, 1.0)
            for row in (*order, claim):
                state[:, row] = self.worth(state, row, incoming[row])
            results.append(state)
        if len(results) == 1:
            return state
        states = np.concatenate(results)
        return states[np.unique(states.round(SAME), axis=0, return_index=True)[1]][:MOST_STATES]

    def orders(self, targets: list[int]) -> Iterator[list[int]]:
        """Orders of a claim's targets: only those move that weigh on one another."""
        coupled = [
            at for at, one in enumerate(targets)
            if any(one != other and ((one, other) in self.weighs or (other, one) in self.weighs) for other in targets)
        ]  # fmt: skip
        for other in islice(permutations(coupled), MOST_ORDERS):
            order = list(targets)
            for at, index in zip(coupled, other, strict=True):
                order[at] = targets[index]
            yield order

    def worth(self, state: Array, row: int, weights: list[tuple[int, float]]) -> Array:
        sources = [source for source, _ in weights]
        signed = np.array([weight for _, weight in weights])
        values = state[:, sources]
        support, challenge = values @ np.maximum(signed, 0.0), values @ np.maximum(-signed, 0.0)
        return self.effective(row, support, challenge)

    def tick(self, states: Array, rows: Ints, incoming: list[list[tuple[int, float]]]) -> Array:
        """The states after a tick: every active cell from one snapshot."""
        count = states.shape[1]
        pairs = [(source, target, weight) for target, edges in enumerate(incoming) for source, weight in edges]
        wires = pl.DataFrame(pairs, schema={"source": pl.Int64, "target": pl.Int64, "weight": pl.Float64}, orient="row")
        supporting = wires.with_columns(relation=pl.lit("supports", schema.EDGES["relation"]))
        support, challenge = wire(Table.of(supporting), np.zeros(count, dtype=np.int64)).masses(states.T)
        after = states.copy()
        after[:, rows] = self.effective(rows, support.T[:, rows], challenge.T[:, rows])
        return after

    def effective(self, row: int | Ints, support: Array, challenge: Array) -> Array:
        rules = self.rules
        stated, factor = self.stated[row], self.factor[row]
        ceilings = {"support_ceiling": rules.support_ceiling, "challenge_ceiling": rules.challenge_ceiling}
        return law.effective(stated, factor, support, challenge, **ceilings)
