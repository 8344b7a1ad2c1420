"""What a clock may change and what it may not: laws on random memories, then whole scenarios under many clocks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import malsim as ms
from malsim.base.errors import MalsimError
from malsim.cli import main
from malsim.lab.cadence.invariants import paired, reads_change_nothing, same_currency, second_tick
from malsim.memory import Memory, Rules, admit, settle, tick
from malsim.memory.push.expand import expand

if TYPE_CHECKING:
    from pathlib import Path


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """A few claims of a few writers at several times, some supporting, contradicting or superseding earlier ones."""
    claims: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 8))):
        relation = draw(st.sampled_from(["contradicts", "supports", "supersedes"]))
        target = draw(st.integers(0, max(number - 1, 0)))
        edge = {"relation": relation, "target": f"obs_{target:04x}"}
        mutual = {"mutual": True} if relation == "contradicts" and draw(st.booleans()) else {}
        claims.append(
            {
                "t": float(draw(st.integers(0, 40))) if not claims else claims[-1]["t"] + draw(st.integers(0, 9)),
                "writer": draw(st.sampled_from(["ann", "bob", "cyd"])),
                "handle": f"obs_{number:04x}",
                "title": f"claim {number}",
                "confidence": draw(st.floats(0.01, 1.0)),
                "verification": "external",
                "stability": draw(st.sampled_from(["stable", "volatile", "ephemeral"])),
                "pinned": draw(st.booleans()),
                "edges": [edge | mutual] if number and draw(st.booleans()) else [],
            }
        )
    memory, verdicts = admit(Memory.empty(), claims)
    assert "admitted" in verdicts["verdict"]
    return memory


@settings(max_examples=40)
@given(memories(), st.lists(st.floats(0.0, 300.0), max_size=6), st.floats(300.0, 400.0))
def test_currency_depends_on_no_tick_before(memory: Memory, before: list[float], now: float) -> None:
    after = memory
    for at in sorted(before):
        after = tick(after, at)
    one, other = tick(memory, now), tick(after, now)
    assert one.cells["currency"].equals(other.cells["currency"])


@settings(max_examples=40)
@given(memories(), st.floats(50.0, 100.0))
def test_a_second_tick_at_one_instant_changes_nothing_settled(memory: Memory, now: float) -> None:
    result = second_tick(memory, now, Rules())
    assert result.holds is (True if settle(memory, now).settled else None)


@given(memories(), st.floats(100.0, 200.0))
@settings(max_examples=10)
def test_reads_change_nothing(memory: Memory, now: float) -> None:
    assert reads_change_nothing(tick(memory, now), now, Rules()).holds is not False


def test_a_memory_that_reading_moves_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = {"handle": "obs_0000", "writer": "ann", "title": "one", "confidence": 0.6, "verification": "external"}
    memory = tick(admit(Memory.empty(), [claim])[0], 1.0)

    def touching(read: Memory, handle: str, **given: Any) -> Any:
        result = expand(read, handle, **given)
        return replace(result, memory=result.memory.with_cells(result.memory.cells.with_columns(currency=pl.lit(1.0))))

    monkeypatch.setattr("malsim.lab.cadence.invariants.expand", touching)
    assert reads_change_nothing(memory, 30.0, Rules()).holds is False


def test_a_currency_that_a_clock_moves_is_found_out() -> None:
    history = {"rep": [0], "cell": ["a"], "touched": [1.0], "c0": [1.0], "stability": ["stable"], "pinned": [False]}
    one = pl.DataFrame({**history, "status": ["active"], "currency": [0.5], "effective": [0.2]})
    pairs = paired(one, one.with_columns(currency=pl.lit(0.6)))
    assert same_currency(pairs, others=0, alone=False).holds is False
    fresher = paired(one, one.with_columns(touched=pl.lit(2.0), currency=pl.lit(0.6)))
    assert same_currency(fresher, others=0, alone=False).holds
    assert same_currency(fresher, others=0, alone=True).holds is False
    assert same_currency(fresher.clear(), others=3, alone=True).holds is None


def test_a_settling_scenario_keeps_every_law() -> None:
    result = ms.cadence("scenarios/decay_classes.toml", periods=["1h", "1w"], days=14.0, progress=False)
    assert result.laws["holds"].to_list() == [True, True, True]
    assert result.holds
    assert result.reference == "every 1d"
    assert result.frame["clock"].to_list() == [
        "every 1d", "every 1h", "every 1w", "every 1d, late", "every 1d, missed", "every 1d, doubled",
    ]  # fmt: skip
    assert result.frame["ticks"].to_list()[:3] == [14, 336, 2]
    assert result.frame["waits"].to_list()[:3] == pytest.approx([1.0, 1 / 24, 7.0])
    assert result.frame["shared"].to_list() == [4] * 6
    assert result.frame["currency"].max() == result.frame["effective"].max() == 0.0


def test_what_a_ringing_dispute_is_worth_depends_on_the_clock() -> None:
    result = ms.cadence("scenarios/mutual_dispute.toml", periods=["1d", "2d"], days=14.0, progress=False)
    assert result.laws["holds"].to_list() == [True, None, True]
    effective = dict(result.frame.select("clock", "effective").rows())
    assert effective["every 1d"] == 0.0
    assert effective["every 2d"] == pytest.approx(0.3)
    assert not result.frame["settles"].any()
    assert "says nothing here" in repr(result)
    sheet = result.plot("ringing")
    assert "time (d)" in sheet.axes[0].get_xlabel()
    assert len(sheet.axes[0].get_lines()) == result.frame.height


def test_a_short_scenario_is_run_for_a_week_so_that_a_week_can_be_asked_for() -> None:
    short = ms.read("scenarios/mutual_dispute.toml").replace(days=2.0)
    result = ms.cadence(short, periods=["1w"], progress=False)
    assert result.frame["ticks"].to_list()[:2] == [7, 1]


def test_who_runs_the_clocks_changes_nothing() -> None:
    world = ms.read("scenarios/poisoner.toml").replace(days=4.0)
    here = ms.cadence(world, periods=["2d"], progress=False)
    with ThreadPoolExecutor(2) as pool:
        there = ms.cadence(world, periods=["2d"], executor=pool, progress=False)
    for name in ("frame", "laws", "paths"):
        assert_frame_equal(getattr(here, name), getattr(there, name), check_exact=True)
    assert here.holds
    assert here.frame["accuracy"].null_count() == 0
    assert np.isfinite(here.frame["waits"].to_numpy()).all()


def test_the_command_says_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cadence", "scenarios/decay_classes.toml", "--period", "2d", "--quiet", "-o", str(tmp_path)]
    assert main(words) == 0
    assert "currency is cadence-invariant: holds" in capsys.readouterr().out
    assert pl.read_parquet(tmp_path / "frame.parquet")["clock"].to_list()[1] == "every 2d"
    assert (tmp_path / "cadence.png").stat().st_size > 1000
    assert main([*words[:2], "--period", "9w", "--quiet"]) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"periods": []}, "no periods"),
        ({"periods": "1d"}, "no periods"),
        ({"periods": ["soon"]}, "not a duration"),
        ({"periods": ["3w"]}, "a period longer than the run"),
        ({"periods": ["0min"]}, "a period longer than the run"),
        ({"periods": ["1s"]}, "every 1s: too many ticks"),
        ({"periods": ["1d"], "most_ticks": 5}, "too many ticks × replications; given: 14"),
        ({"periods": ["1d"], "days": 0.5}, "turn_every"),
    ],
)
def test_what_no_clock_can_do_is_told(given: dict[str, Any], message: str) -> None:
    with pytest.raises(MalsimError, match=message):
        ms.cadence("scenarios/mutual_dispute.toml", **given, progress=False)
