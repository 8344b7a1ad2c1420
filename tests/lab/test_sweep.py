"""Tests for sweeps: points do not depend on the worker, survive a kill, and are computed only once, even on a cluster."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.cli import main
from malsim.lab.studies.pool import code_of
from malsim.scenario.file.scenario_file import parse
from tests.lab.small_worlds import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable

CEILINGS = [round(0.01 * step, 2) for step in range(1, 25)]
SCRIPT = """
import sys
import malsim as ms
ceilings = [round(0.01 * step, 2) for step in range(1, 25)]
ms.sweep(sys.argv[1], {"rules.challenge_ceiling": ceilings}, folder=sys.argv[2], workers=2, progress=False)
"""


class Here(Executor):
    """Executor that runs each job immediately in the calling thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except MalsimError as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="module")
def small() -> ms.Scenario:
    return parse(SMALL, name="small")


@pytest.fixture(scope="module")
def whole(small: ms.Scenario, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Return the sweep's points, computed one by one in this process."""
    frame: pl.DataFrame = sweep_of(small, CEILINGS, tmp_path_factory.mktemp("whole")).frame
    return frame


def sweep_of(scenario: ms.Scenario, ceilings: list[float], folder: Path, **settings: Any) -> Any:
    settings = {"executor": Here(), "progress": False, **settings}
    return ms.sweep(scenario, {"rules.challenge_ceiling": ceilings}, folder=folder, **settings)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("points/*/*.parquet"))


def until(true: Callable[[], object], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.005)


def test_each_point_equals_a_plain_run(small: ms.Scenario, whole: pl.DataFrame) -> None:
    for ceiling in (0.01, 0.24):
        alone = ms.run(small, rules={"challenge_ceiling": ceiling}).metrics()
        for metric in ("brier", "accuracy"):
            point = whole.filter(pl.col("rules.challenge_ceiling") == ceiling, metric=metric).row(0, named=True)
            figure = alone.filter(metric=metric).row(0, named=True)
            for end in ("value", "low", "high", "replications"):
                assert np.isclose(point[end], figure[end], rtol=1e-12)


def test_points_are_independent_of_the_executor(small: ms.Scenario, whole: pl.DataFrame, tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as threads:
        many = sweep_of(small, CEILINGS[::-1], tmp_path / "threads", executor=threads)
    assert_frame_equal(many.frame, whole, check_exact=True)
    assert {path.name: path.read_bytes() for path in files(many.folder)} == {
        path.name: path.read_bytes() for path in files(sweep_of(small, CEILINGS, tmp_path / "here").folder)
    }


def test_existing_points_are_not_recomputed(small: ms.Scenario, whole: pl.DataFrame, tmp_path: Path) -> None:
    assert sweep_of(small, CEILINGS[:7], tmp_path).computed == 7
    files(tmp_path)[2].unlink()
    (files(tmp_path)[0].parent / ".half.1.part").write_bytes(b"PAR1 and no more")
    again = sweep_of(small, CEILINGS, tmp_path)
    assert (again.points, again.computed) == (24, 18)
    assert_frame_equal(again.frame, whole, check_exact=True)
    assert sweep_of(small, CEILINGS, tmp_path).computed == 0


@pytest.mark.parametrize("change", [{"seed": 4}, {"replications": 3}, {"rules": {"damping": 0.5}}, {"days": 3.0}])
def test_folder_can_hold_only_one_sweep(small: ms.Scenario, tmp_path: Path, change: dict[str, Any]) -> None:
    sweep_of(small, [0.1], tmp_path)
    with pytest.raises(UsageError, match="contains another sweep, which differs in identity"):
        sweep_of(small.replace(**change), [0.1], tmp_path)
    with pytest.raises(UsageError, match="differs in metrics"):
        sweep_of(small, [0.1], tmp_path, metric="brier")
    assert sweep_of(small.replace(why="in other words"), [0.1], tmp_path).computed == 0


def test_sweep_folder_is_refused_after_a_change_of_metric_code(small: ms.Scenario, tmp_path: Path) -> None:
    def times(factor: Any, power: float = 1.0) -> Callable[[ms.Run], Any]:
        def score(run: ms.Run) -> Any:
            return np.full(run.scenario.replications, run.cells.height * np.sum(factor) ** power)

        return score

    def other(factor: float) -> Callable[[ms.Run], Any]:
        def score(run: ms.Run) -> Any:
            return np.full(run.scenario.replications, run.cells.height / factor)

        return score

    assert sweep_of(small, [0.1], tmp_path, metric=times(2.0)).computed == 1
    again = sweep_of(small, [0.1], tmp_path, metric=times(2.0))
    assert again.computed == 0
    for variant in (other(2.0), times(3.0), times(2.0, power=2.0), times(np.arange(2000.0))):
        with pytest.raises(UsageError, match="contains another sweep, which differs in body of score"):
            sweep_of(small, [0.1], tmp_path, metric=variant)
    assert_frame_equal(sweep_of(small, [0.1], tmp_path, metric=times(2.0)).frame, again.frame)


def test_code_hash_depends_on_code_and_state() -> None:
    assert code_of(lambda run: run.a) == code_of(lambda run: run.a) != code_of(lambda run: run.b)

    class Scaled:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def __call__(self, run: ms.Run) -> Any:
            return self.factor * run.cells.height

        def method(self, run: ms.Run) -> Any:
            return self(run)

    assert code_of(Scaled(1.0)) == code_of(Scaled(1.0)) != code_of(Scaled(2.0))
    assert code_of(Scaled(1.0).method) == code_of(Scaled(1.0).method) != code_of(Scaled(2.0).method)

    def metric(run: ms.Run, within: Callable[[ms.Run], Any]) -> Any:
        return within(run)

    first, same, other = (code_of(partial(metric, within=Scaled(factor).method)) for factor in (1.0, 1.0, 2.0))
    assert first == same != other


def test_points_finished_before_a_kill_are_kept(small: ms.Scenario, whole: pl.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "go.py").write_text(SCRIPT, encoding="utf-8")
    folder = tmp_path / "points"
    with subprocess.Popen(
        [sys.executable, "go.py", "small.toml", str(folder)], cwd=tmp_path, start_new_session=True
    ) as process:
        until(lambda: len(files(folder)) >= 3 or process.poll() is not None)
        process.send_signal(signal.SIGKILL)
    until(lambda: not living(process.pid))
    finished = files(folder)
    assert 3 <= len(finished) < 24
    assert all(pl.read_parquet(path).height == 2 for path in finished)
    again = sweep_of(small.replace(path=str(tmp_path / "small.toml")), CEILINGS, folder)
    assert again.computed == 24 - len(finished)
    assert_frame_equal(again.frame, whole, check_exact=True)
    assert not list(folder.glob("points/*/.*.part"))


def living(group: int) -> list[int]:
    """Return the IDs of running processes in a process group, to check that no worker outlives its killed parent."""
    result = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            result.append(int(stat.parent.name))
    return result


def test_dead_worker_is_reported_and_points_are_kept(small: ms.Scenario, tmp_path: Path) -> None:
    folder = tmp_path / "points"

    def kill_a_worker() -> None:
        until(lambda: len(files(folder)) >= 1)
        for child in multiprocessing.active_children():
            child.kill()

    thread = threading.Thread(target=kill_a_worker)
    thread.start()
    with pytest.raises(UsageError, match=r"a worker process died.*run the same command again"):
        sweep_of(small.replace(days=60.0), CEILINGS, folder, executor=None, workers=1)
    thread.join()
    before = files(folder)
    assert 1 <= len(before) < 24
    assert all(pl.read_parquet(path).height == 2 for path in before)


def test_sweep_runs_in_a_notebook_kernel(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    cells = [
        "import malsim as ms\nfound = ms.sweep('small.toml', {'rules.damping': [0.5, 1.0]}, folder='here', workers=1)",
        "print(found.frame['metric'].to_list(), found.computed)",
        "def mine(run): return run.memory.cells.height",
        "try: ms.sweep('small.toml', {'rules.damping': [0.5]}, metric=mine)\nexcept ValueError as error: print(error)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    message = [
        "".join(part.get("text", "") for part in cell.outputs if part.get("name") == "stdout") for cell in notebook.cells
    ]
    assert message[1].strip() == "['brier', 'accuracy', 'brier', 'accuracy'] 2"
    assert "other processes cannot import this function; given: 'mine'" in message[3]


@pytest.mark.filterwarnings("default")
def test_cluster_survives_the_loss_of_a_worker(small: ms.Scenario, tmp_path: Path, whole: pl.DataFrame) -> None:
    distributed = pytest.importorskip("distributed", reason='needs pip install "malsim[cluster]"')
    folder = tmp_path / "points"
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        workers = sorted(client.run(os.getpid).values())
        assert len(workers) == 2

        def kill_one() -> None:
            until(lambda: len(files(folder)) >= 2)
            os.kill(workers[0], signal.SIGKILL)

        thread = threading.Thread(target=kill_one)
        thread.start()
        result = sweep_of(small, CEILINGS, folder, executor=client)
        thread.join()
    assert_frame_equal(result.frame, whole, check_exact=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the design has no points"),
        ([], "the design has no points"),
        (pl.DataFrame(), "the design has no points"),
        ({"rules.damping": []}, "the design has no points"),
        ({"rules.damping": 0.5}, "not a list of values"),
        ({"rules.damping": "0.5"}, "not a list of values"),
        ({"rules.dampening": [0.5]}, "did you mean rules.damping"),
        ({"rules.damping": [0.5, 1.5]}, "allowed: above 0, at most 1"),
        ({"rules.damping": [0.5, None]}, "not a valid value"),
        ([{"rules.damping": 0.5}, {"rules.mass_from": "stated"}], "must set the same"),
        (pl.DataFrame({"rules.damping": [0.5, float("nan")]}), "not a valid value"),
        (pl.DataFrame({"day": [1.0]}), "no such setting"),
    ],
)
def test_invalid_designs_are_refused_before_running(small: ms.Scenario, tmp_path: Path, given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ms.sweep(small, given, folder=tmp_path / "none", executor=Here(), progress=False)
    assert not (tmp_path / "none").exists()


def test_failing_point_is_named_and_others_are_kept(small: ms.Scenario, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the point run.turn_every=9.0: .*at most the run's 2d"):
        ms.sweep(small, {"run.turn_every": [0.5, 9.0]}, folder=tmp_path, executor=Here(), progress=False)
    assert len(files(tmp_path)) == 1
    with pytest.raises(UsageError, match="needs facts with known truth"):
        sweep_of(ms.read("scenarios/worked_example.toml"), [0.1], tmp_path / "other", metric="brier")


def test_invalid_executors_are_refused(small: ms.Scenario, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not an executor"):
        sweep_of(small, [0.1], tmp_path, executor="processes")
    with pytest.raises(UsageError, match="out of bounds"):
        sweep_of(small, [0.1], tmp_path, executor=None, workers=0)
    with pytest.raises(UsageError, match="cannot import this"):
        sweep_of(small, [0.1], tmp_path, executor=None, metric=lambda run: run.memory.cells.height)


def test_duplicate_points_are_merged(small: ms.Scenario, tmp_path: Path) -> None:
    rows = [{"rules.damping": 1, "rules.mass_from": "stated", "rules.settle_ticks": 5.0}] * 2
    result = ms.sweep(small, rows, folder=tmp_path, executor=Here(), progress=False, metric="brier")
    assert result.points == 1
    assert result.frame.schema == {
        "rules.damping": pl.Float64, "rules.mass_from": pl.String, "rules.settle_ticks": pl.Int64,
        "metric": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "replications": pl.Int64,
    }  # fmt: skip


def test_design_covers_a_space_evenly() -> None:
    space = {"rules.support_ceiling": (0.0, 0.8), "rules.mass_from": ("stated", "effective")}
    for method in ("sobol", "latin"):
        points = ms.design(space, 16, method=method)
        assert sorted(np.floor(points["rules.support_ceiling"].to_numpy() / 0.05)) == list(range(16))
        assert points["rules.mass_from"].value_counts()["count"].to_list() == [8, 8]
        assert points.equals(ms.design(space, 16, method=method))
        assert not points.equals(ms.design(space, 16, method=method, seed=1))
    assert ms.design(space, 5).height == 5
    with pytest.raises(UsageError, match="no points"):
        ms.design(space, 0)
    with pytest.raises(UsageError, match="sobol, latin"):
        ms.design(space, 4, method="grid")  # type: ignore[arg-type]  # what a user may type


def test_sweep_can_be_plotted(small: ms.Scenario, tmp_path: Path) -> None:
    grid: dict[str, list[Any]] = {"rules.challenge_ceiling": [0.1, 0.3], "rules.mass_from": ["stated", "effective"]}
    grid["rules.damping"] = [1.0]
    result = ms.sweep(small, grid, folder=tmp_path, executor=Here(), progress=False)
    lines = result.plot().axes[0]
    assert (lines.get_xlabel(), lines.get_ylabel()) == ("rules.challenge_ceiling (1)", "brier (1)")
    assert len(lines.get_lines()) == 2
    assert result.plot("accuracy", y="rules.mass_from").axes[0].get_ylabel() == "rules.mass_from (1)"
    with pytest.raises(UsageError, match="allowed: brier, accuracy"):
        result.plot("auc")
    with pytest.raises(UsageError, match="cannot be drawn"):
        result.plot(x="rules.damping")


def test_command_sweeps_and_continues_an_existing_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = tmp_path / "small.toml", tmp_path / "out"
    path.write_text(SMALL, encoding="utf-8")
    sweep_of(ms.read(path), [0.2, 0.4], folder, metric="brier")
    words = ["sweep", str(path), "-o", str(folder), "--quiet", "--metric", "brier"]
    assert main([*words, "--grid", "rules.challenge_ceiling=0.2,0.4"]) == 0
    message = capsys.readouterr().out
    assert "2 points, 0 computed now" in message
    assert "rules.challenge_ceiling=0.4: brier 0." in message
    assert (folder / "brier.png").stat().st_size > 1000
    table = tmp_path / "points.csv"
    table.write_text("rules.challenge_ceiling\n0.4\n", encoding="utf-8")
    assert main([*words, "--design", str(table), "--no-plots"]) == 0
    assert json.loads((folder / "sweep.json").read_text(encoding="utf-8"))["metrics"] == ["brier"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "a sweep needs exactly one of --grid, --range, --design"),
        (["--grid", "rules.damping=1", "--range", "rules.damping=0.1:1"], "exactly one of"),
        (["--grid", "rules.damping"], "NAME=V,V"),
        (["--range", "rules.damping=1:0.5"], "the range is empty"),
        (["--grid", "rules.damping=1", "--cluster", "nowhere"], "no Dask scheduler answers"),
        (["--design", "small.toml"], "small.toml: cannot be read"),
        (["--design", "missing.csv"], "no such file"),
    ],
)
def test_invalid_command_line_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL, encoding="utf-8")
    assert main(["sweep", "small.toml", "--quiet", *words]) == 2
    assert re.search(message, capsys.readouterr().err)
