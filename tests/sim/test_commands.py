"""Tests of commands that list writers, create a scenario, repeat a run, and report figures with intervals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import AddressError, UsageError
from malsim.cli import main
from malsim.scenario import rerun as remaking
from malsim.sim import run as run_module
from malsim.sim.record.manifest import digest
from malsim.sim.record.metrics import METRICS, by_replication, metric_bounds
from malsim.sim.run import FRAMES
from malsim.sim.writers import behaviours

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORLD = """
why = "a few writers who do not agree"
seed = 4
[run]
days = 12
replications = 6
[[facts]]
name = "pump"
hazard = 0.1
[[facts]]
name = "valve"
[[writers]]
behaviour = "honest"
count = 3
rate = 0.5
[[writers]]
behaviour = "contrarian"
rate = 0.5
[reader]
behaviour = "lazy"
complies = 0.6
"""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "world.toml"
    path.write_text(WORLD)
    return path


@pytest.fixture
def made(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["run", str(world), "-o", str(tmp_path / "out"), "--no-plots"]) == 0
    capsys.readouterr()
    return tmp_path / "out"


def test_docs_command_prints_writers_equations_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "writers"]) == 0
    value = capsys.readouterr().out
    for behaviour in behaviours().values():
        assert behaviour.name in value
        assert behaviour.sentence in value
        for line in behaviour.equation.splitlines():
            assert line in value
        for name, param in behaviour.params.items():
            assert f"| `{name}` |" in value
            assert param.meaning in value


def test_new_scenario_runs_and_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my.toml"
    assert main(["new", str(path)]) == 0
    assert main(["run", str(path), "-o", str(tmp_path / "out"), "--no-plots", "--replications", "2"]) == 0
    assert "accuracy" in capsys.readouterr().out
    before = path.read_text()
    for given, value in (("my.toml", "exists"), ("my.txt", ".toml"), ("none/my.toml", "no such folder")):
        assert main(["new", str(tmp_path / given)]) == 2
        assert value in capsys.readouterr().err
    assert path.read_text() == before
    assert sum("#" in line for line in before.splitlines()) > 10


def test_repeated_run_is_identical_bit_for_bit(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--manifest", str(made / "manifest.json")]) == 0
    assert "bit for bit" in (value := capsys.readouterr().out)
    assert "all the same" in value


@pytest.mark.parametrize("frame", ["cells", "events"])
def test_rerun_names_the_frame_whose_hash_changed(frame: str, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((made / "manifest.json").read_text())
    manifest["sha256"][frame] = "0" * 64
    (made / "manifest.json").write_text(json.dumps(manifest))
    assert main(["run", "--manifest", str(made / "manifest.json")]) == 1
    value = capsys.readouterr().out
    assert f"  {frame}: " in value
    assert not any(f"  {other}: " in value for other in FRAMES if other != frame)


def later(table: dict[str, object]) -> None:
    table["versions"] = {"malsim": "0.0.1"}


def nudged(step: float) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda frame: frame.with_columns(pl.col("effective") + pl.Series([0.0] * (frame.height - 1) + [step]))


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (lambda frame: frame, 0, "all the same"),
        (nudged(1e-13), 0, "all the same"),
        (nudged(1e-9), 1, "cells: column effective differs by up to 1e-09"),
        (lambda frame: frame.with_columns(cell=pl.col("cell").str.to_uppercase()), 1, "cells: column cell differs"),
        (lambda frame: frame.head(-1), 1, "cells: "),
        (lambda frame: frame.with_columns(effective=pl.lit(np.nan)), 1, "cells: column effective"),
    ],
)
def test_results_of_other_versions_are_compared_with_tolerance(
    change: Callable[[pl.DataFrame], pl.DataFrame], code: int, message: str, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((made / "manifest.json").read_text())
    later(manifest)
    (made / "manifest.json").write_text(json.dumps(manifest))
    change(pl.read_parquet(made / "cells.parquet")).write_parquet(made / "cells.parquet")
    assert main(["run", "--manifest", str(made / "manifest.json")]) == code
    printed = capsys.readouterr().out
    assert "numbers within 1e-12" in printed
    assert message in printed


def test_rerun_without_a_valid_manifest_is_refused(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "no.json").write_text("{}")
    for path, value in (
        ("no.json", "not a run manifest"),
        ("nowhere.json", "no such manifest"),
        ("world.toml", "not a JSON file"),
    ):
        assert main(["run", "--manifest", str(tmp_path / path)]) == 2
        assert value in capsys.readouterr().err
    assert remaking.rerun(made / "manifest.json").same


def test_metrics_have_intervals_except_for_one_replication(world: Path) -> None:
    run = ms.run(world)
    figures = run.metrics()
    assert set(figures["metric"]) <= METRICS.keys()
    assert {"accuracy", "brier", "brier_stated", "brier_constant", "auc", "ece", "harm", "blocked_share", "cells"} <= {
        *figures["metric"]
    }
    item = by_replication(run)
    times = {name for part in (run.changes, run.attack_scores, run.correction_scores) if part for name in part.spells}
    for row in figures.filter(pl.col("metric").is_in([name for name in item if name not in times])).rows(named=True):
        held = item[row["metric"]][~np.isnan(item[row["metric"]])]
        assert row["replications"] == len(held)
        if len(held) > 1:
            low, high = metric_bounds(row["metric"])
            assert row["value"] == pytest.approx(held.mean(), abs=1e-12)
            assert row["low"] is None or low <= row["low"] <= row["value"] <= row["high"] <= high
            half = 2.5705818 * held.std(ddof=1) / np.sqrt(6)  # Student's t with 5 degrees of freedom
            if len(held) == 6 and low + half < row["value"] < high - half:
                # intervals of skewed or bounded values are wider than Student's t
                assert row["high"] - row["low"] >= 2 * half * (1 - 1e-6)
    for row in figures.filter(pl.col("metric").str.contains("ece|rmse")).rows(named=True):
        assert 0.0 <= row["low"] <= row["value"] <= row["high"] <= 1.0
    alone = ms.run(world, replications=1).metrics()
    assert alone.select(pl.col("low", "high").is_null().all()).row(0) == (True, True)


def test_single_replication_can_be_rerun_in_full(world: Path) -> None:
    whole, banded = ms.run(world), ms.run(world, record="bands")
    alone = banded.replication(4)
    assert digest(alone.cells) == digest(whole.cells.filter(pl.col("rep") == 4))
    assert digest(alone.events) == digest(whole.events.filter(pl.col("rep") == 4))
    cell = alone.memory.cells.filter(pl.col("object") == "pump")["handle"][0]
    assert alone.why(cell) == whole.why(cell, rep=4)
    with pytest.raises(AddressError, match=r"run\.replication\(4\)"):
        banded.why(cell, rep=4)


@pytest.mark.parametrize("given", ["unknown", {"unknown": ValueError("x")}])
def test_run_without_refuses_keys_that_are_not_replications(given: Any) -> None:
    run = ms.run("scenarios/mutual_dispute.toml", days=3)
    with pytest.raises(UsageError, match="not a mapping from replication numbers"):
        run.without(given)
    assert run.without({}) is run


def test_uninformative_interval_is_replaced_by_a_sentence() -> None:
    wide = {"metric": "cells", "value": 2.0, "low": 0.0, "high": 106779.239, "replications": 2}
    assert "too wide with 2 replications" in run_module._interval(wide)  # no shipped scenario has such a wide interval
    assert run_module._interval(wide | {"high": 3.0}) == " [0.000, 3.000]"
