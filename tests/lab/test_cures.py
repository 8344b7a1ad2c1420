"""The cures of a ringing loop: each settles what rings, in python-control's times, and answers real claims."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import control
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.cli import main
from malsim.lab.stability.asynchronous import asynchronous, levels
from malsim.lab.stability.loop import TickLoop
from malsim.lab.studies.real import read_real
from malsim.memory import Memory, Rules, admit
from malsim.memory.gate.edit import connect_rows

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = Rules(calibration="none")


def graph(stated: list[float], edges: list[tuple[int, int, float]]) -> Memory:
    claims = pl.DataFrame(
        {
            "writer": [f"w{number:03d}" for number in range(len(stated))],
            "kind": ["obs"] * len(stated),
            "title": [f"claim {number}" for number in range(len(stated))],
            "confidence": stated,
            "verification": ["external"] * len(stated),
        }
    )
    memory, _ = admit(Memory.empty(), claims, PLAIN)
    source, target, weight = ([edge[place] for edge in edges] for place in range(3))
    frame = pl.DataFrame({"source": source, "target": target, "weight": weight}, strict=False).with_columns(
        relation=pl.when(pl.col("weight") > 0).then(pl.lit("supports")).otherwise(pl.lit("contradicts")),
        writer=pl.lit("judge"), t=pl.lit(0.0), mutual=pl.lit(value=False),
    )  # fmt: skip
    return connect_rows(memory, frame, PLAIN) if edges else memory


def clique(size: int, stated: float) -> Memory:
    return graph([stated] * size, [(i, j, -1.0) for i in range(size) for j in range(size) if i != j])


def test_every_cure_settles_what_rings_as_it_is() -> None:
    comparison = ms.cures(clique(3, 0.3), PLAIN)
    table = {row["cure"]: row for row in comparison.table.to_dicts()}
    assert table["present"]["verdict"] == "period-2"
    assert table["present"]["settling_time"] is None
    assert table["present"]["moving"] == 1.0
    for cure in ("lower ceiling", "damping", "masses from stated", "asynchronous"):
        assert table[cure]["verdict"] == "settled"
        assert table[cure]["amplitude"] == 0.0
        assert table[cure]["settling_time"] is not None
    assert table["damping"]["before"] == pytest.approx(table["present"]["before"], abs=1e-6)
    assert table["asynchronous"]["after"] == pytest.approx(table["present"]["after"], abs=1e-6)


def test_reaction_times_are_python_control_s() -> None:
    comparison = ms.cures(clique(3, 0.3), PLAIN)
    for row in comparison.table.filter(pl.col("verdict") == "settled").to_dicts():
        answer = comparison.response.filter(pl.col("cure") == row["cure"])["effective"].to_numpy()
        way = answer - answer[0]
        theirs = control.step_info(way, np.arange(len(way), dtype=float), yfinal=way[-1])
        assert row["rise_time"] == pytest.approx(theirs["RiseTime"])
        assert row["settling_time"] == pytest.approx(theirs["SettlingTime"])
        assert row["overshoot"] == pytest.approx(theirs["Overshoot"], abs=1e-6)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([1.0, 0.5]), st.sampled_from(["effective", "stated"]))
def test_levels_step_as_one_cell_after_another_does(seed: int, size: int, damping: float, mass_from: str) -> None:
    draws = np.random.default_rng(seed)
    pairs = {(i, j) for i, j in draws.integers(0, size, (2 * size, 2)).tolist() if i != j}
    memory = graph(draws.uniform(0.1, 1, size).tolist(), [(i, j, float(draws.choice([-1, 1]))) for i, j in sorted(pairs)])
    loop = TickLoop.of(memory, PLAIN.replace(damping=damping, mass_from=mass_from))
    of_level = levels(sparse.csr_array(loop.support + loop.challenge))
    expected = loop.start.copy()
    for row in np.argsort(of_level, kind="stable"):
        expected[row] = loop.tick(expected)[row]
    np.testing.assert_allclose(asynchronous(loop)(loop.start), expected, atol=1e-14)


def test_a_quiet_memory_needs_no_cure_and_says_so() -> None:
    comparison = ms.cures(graph([0.5, 0.6], []), PLAIN)
    assert comparison.table["verdict"].unique().to_list() == ["settled"]
    assert comparison.table["setting"][1] == "challenge ceiling 0.6"  # nothing to lower
    assert comparison.real.is_empty()


def test_a_push_may_contradict_and_a_cell_may_be_named() -> None:
    memory = clique(3, 0.7)
    name = memory.cells["handle"][2]
    comparison = ms.cures(memory, PLAIN, cell=name, push="contradicts")
    assert comparison.cell == name
    assert (comparison.table["after"] < comparison.table["before"]).all()
    assert "contradicts" in str(comparison)


def test_bad_input_is_refused() -> None:
    memory = clique(2, 0.5)
    with pytest.raises(UsageError, match="no such push"):
        ms.cures(memory, PLAIN, push="nudges")
    with pytest.raises(MalsimError, match="no such cell"):
        ms.cures(memory, PLAIN, cell="obs_none")
    with pytest.raises(UsageError, match="without cells"):
        ms.cures(Memory.empty())
    inactive = memory.with_cells(memory.cells.with_columns(status=pl.lit("superseded", memory.cells["status"].dtype)))
    with pytest.raises(UsageError, match="no active cell"):
        ms.cures(inactive, PLAIN)


def test_real_claims_are_answered_under_each_cure(tmp_path: Path) -> None:
    rows = [f"w{w},o{o},{'yes' if (w * 7 + o) % 5 else 'no'},0.8" for o in range(20) for w in range(6)]
    (tmp_path / "claims.csv").write_text("writer,object,value,stated_confidence\n" + "\n".join(rows) + "\n")
    (tmp_path / "truth.csv").write_text("object,value\n" + "\n".join(f"o{o},yes" for o in range(20)) + "\n")
    comparison = ms.cures(clique(3, 0.3), PLAIN, real=[tmp_path])
    assert comparison.real["cure"].to_list() == comparison.table["cure"].to_list()
    assert (
        (comparison.real["low"] <= comparison.real["accuracy"]) & (comparison.real["accuracy"] <= comparison.real["high"])
    ).all()
    assert [axes.get_xlabel() for axes in comparison.figure().axes] == [
        "ticks since the new claim", "lasting swing (0 to 1)", "accuracy (0 to 1)",
    ]  # fmt: skip
    (tmp_path / "truth.csv").write_text("object,value\nelsewhere,yes\n")
    with pytest.raises(UsageError, match="no truth given"):
        read_real(tmp_path)


def test_the_command_compares_the_cures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["stability", "scenarios/mutual_dispute.toml", "--cures", "--json", "-o", str(tmp_path)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in report["cures"]] == ["period-2", *["settled"] * 4]
    assert (tmp_path / "cures.png").is_file()
