"""Copied, echoed and abandoned claims are detected as defined, and change beliefs on the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import malsim as ms
from malsim.laws.truth.voices import abandoned, copies, echoes

if TYPE_CHECKING:
    from pathlib import Path

claims = st.lists(st.tuples(*(st.integers(0, 2) for _ in range(3)), st.integers(0, 5), st.integers(-1, 1)), max_size=12)


@given(claims)
def test_copies_and_echoes_match_their_definition(rows: list[tuple[int, ...]]) -> None:
    writer, about, value, time, origin = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    at = time.astype(np.float64)
    copy, echo = copies(writer, about, value, at, [origin]), echoes(writer, about, value, at)
    order = sorted(range(len(rows)), key=lambda row: time[row])  # a stable sort keeps the order of simultaneous claims
    for index, row in enumerate(order):
        before = [other for other in order[:index] if about[other] == about[row]]
        same = [other for other in before if value[other] == value[row]]
        kin = [other for other in same if origin[other] == origin[row] >= 0]
        assert copy[row] == bool(kin and writer[kin[0]] != writer[row])
        by = writer[same[0]] if same else writer[row]
        values = [value[other] for other in before if writer[other] == by]
        assert echo[row] == (by != writer[row] and values[-1] != value[row])


@given(claims, st.integers(1, 3))
def test_abandoned_claims_match_their_definition(rows: list[tuple[int, ...]], within: int) -> None:
    writer, about, value, time, _ = np.array(sorted(rows, key=lambda row: row[3]), dtype=np.int64).reshape(-1, 5).T
    found = abandoned(writer, about, value, time.astype(np.float64), float(within))

    def runs(who: int, object_: int) -> list[tuple[int, int, int, int]]:
        """Return (value, first time, last time, last row) for each run of equal values in a writer's claims."""
        rows = [row for row in range(len(writer)) if (writer[row], about[row]) == (who, object_)]
        text = [(int(value[row]), int(time[row]), int(time[row]), row) for row in rows]
        merged: list[tuple[int, int, int, int]] = []
        for item in text:
            merged[-1:] = (
                [(item[0], merged[-1][1], *item[2:])] if merged and merged[-1][0] == item[0] else [*merged[-1:], item]
            )
        return merged

    for row in range(len(writer)):
        spans = runs(writer[row], about[row])
        says, begin, end, last = spans[-1]
        left = [
            others[-1][0]
            for who in {*writer.tolist()} - {int(writer[row])}
            if (others := runs(who, about[row]))
            and others[-1][0] != says
            and others[-1][1] > end
            and any(run[0] == says and abs(run[1] - begin) <= within for run in others)
        ]
        assert found[row] == (row == last and any(left.count(word) > 1 for word in left))


STORY = """
why = "One writer observes, three repeat its claim."
[run]
days = 3
turn_every = "1d"
[rules]
effective = "records"
{rules}
[[facts]]
name = "pump"
count = 1
values = [1.0, 2.0]
"""
CLAIM = """
[[claim]]
at = "{at}"
writer = "{writer}"
key = "{key}"
kind = "obs"
object = "pump-1"
value = {value}
title = "{writer} says {value}"
confidence = 0.6
{more}
"""


@pytest.mark.parametrize("how", ["source_refs", "derived_from"])
def test_copies_of_one_origin_count_as_one_claim_on_the_graph(tmp_path: Path, how: str) -> None:
    claims = [("0.1d", "root", "a", 1.0, ""), ("0.2d", "seer", "b", 2.0, ""), ("0.3d", "other", "c", 2.0, "")]
    of = 'source_refs = ["mail"]' if how == "source_refs" else 'edges = [{ relation = "derived_from", target = "a" }]'
    claims += [(f"0.{n}d", f"echo-{n}", f"e{n}", 1.0, of) for n in (4, 5, 6)]
    words = "".join(
        CLAIM.format(at=at, writer=writer, key=key, value=value, more=more) for at, writer, key, value, more in claims
    )
    results = {}
    for rules in ("", 'records_origin = "one"', "records_tau = 'class'", "records_echo = 0.5", 'records_voice = "one"'):
        path = tmp_path / "s.toml"
        path.write_text(STORY.format(rules=rules) + words, encoding="utf-8")
        run = ms.run(path)
        cells = run.memory.cells
        results[rules] = float(cells.filter(cells["writer"] == "seer")["effective"][0])
        handle = str(cells.filter(cells["writer"] == "seer")["handle"][0])
        assert run.explain(handle).effective == pytest.approx(results[rules], abs=1e-9)
    assert results[""] < 0.5  # four claims outvote two
    assert results['records_origin = "one"'] > results[""] + 0.02


def test_abandoned_claims_count_as_one_claim_on_the_graph(tmp_path: Path) -> None:
    claims = [("0.1d", "root", "a", 1.0, ""), ("0.2d", "echo-1", "b", 1.0, ""), ("0.3d", "echo-2", "c", 1.0, "")]
    claims += [("0.4d", "root", "d", 2.0, ""), ("0.5d", "seer", "e", 2.0, ""), ("0.6d", "echo-3", "f", 1.0, "")]
    words = "".join(
        CLAIM.format(at=at, writer=writer, key=key, value=value, more=more) for at, writer, key, value, more in claims
    )
    worth = {}
    for rule in ("apart", "one"):
        path = tmp_path / "s.toml"
        path.write_text(STORY.format(rules=f'records_voice = "{rule}"') + words, encoding="utf-8")
        cells = ms.run(path).memory.cells
        worth[rule] = float(cells.filter(cells["writer"] == "seer")["effective"][0])
    assert worth["apart"] < 0.5 < worth["one"]  # three separate claims outvote two, but not if they count as one
