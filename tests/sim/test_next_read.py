"""Tests that a push includes claims made since the last tick, with the scores that the next tick computes."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.scenario.file.scenario_file import parse

DAYS = 4
HEAD = """
why = "Claims about a gate, one after the other, and a reader who looks once a day and writes nothing."
seed = 1
[run]
days = 4
[rules]
reads = "{reads}"
[[facts]]
name = "gate"
values = ["open", "shut"]
[reader]
observes = 0.0
"""
CLAIM = """
[[claim]]
at = "{at}d"
writer = "{writer}"
handle = "obs_{number:04x}"
object = "gate"
value = {value}
title = "claim {number}"
confidence = {stated}
verification = "external"
edges = [{edges}]
"""
DRAWN = st.lists(
    st.tuples(
        st.integers(1, 4 * DAYS - 5), st.sampled_from(["ann", "bob", "cy"]), st.sampled_from([0.0, 1.0]),
        st.sampled_from([0.5, 0.9, 1.0]), st.lists(st.sampled_from(["supports", "contradicts"]), max_size=2),
    ),
    min_size=2, max_size=7,
)  # fmt: skip


def run_of(drawn: list[Any], reads: str) -> ms.Run:
    text = HEAD.format(reads=reads)
    for number, (quarter, writer, value, stated, relations) in enumerate(sorted(drawn)):
        targets = range(max(0, number - len(relations)), number)
        edges = ", ".join(
            f'{{relation = "{relation}", target = "obs_{to:04x}"}}' for relation, to in zip(relations, targets, strict=False)
        )
        fields = {"at": quarter / 4 + 0.1, "writer": writer, "number": number, "value": value, "stated": stated}
        text += CLAIM.format(edges=edges, **fields)
    return ms.run(parse(text), replications=1)


def shown(run: ms.Run, day: int) -> dict[str, float]:
    """Return the effective confidence printed for each cell in one day's push."""
    lines = [line for line in str(run.push(day)).splitlines() if " eff(" in line and line.lstrip("^").startswith("obs_")]
    return {line.lstrip("^").split()[0]: float(line.partition(" eff(")[2].partition(")")[0]) for line in lines}


@settings(max_examples=5, deadline=None)
@given(drawn=DRAWN)
def test_push_shows_scores_as_if_recomputed_at_push_time(drawn: list[Any]) -> None:
    """Require the scores of the next tick if claims were made since the last tick, and otherwise those of the last tick."""
    run = run_of(drawn, "now")
    created = run.memory.cells.select("handle", "created")
    for day in range(1, DAYS + 1):
        if (created["created"] == day).any():
            continue  # this day's tick also includes claims that the reader wrote after the push
        new = set(created.filter(pl.col("created") > day - 1, pl.col("created") < day)["handle"])
        ticks = [dict(run.cells.filter(pl.col("t") == at).select("cell", "effective").rows()) for at in (day, day - 1)]
        for cell, effective in shown(run, day).items():
            assert abs(ticks[0 if new else 1][cell] - effective) < 1e-6


def test_push_with_last_tick_scores_shows_disputes_a_turn_late() -> None:
    drawn = [(1, "ann", 0.0, 0.9, []), (6, "bob", 1.0, 0.9, ["contradicts"])]
    now, later = run_of(drawn, "now"), run_of(drawn, "last tick")
    assert shown(now, 2)["obs_0000"] < 0.5
    assert shown(later, 2)["obs_0000"] == 0.9
    assert shown(later, 3) == shown(now, 3)
