"""Tests that the progress bar appears only in terminals and does not change results."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import malsim as ms
from malsim.base.progress import progress
from malsim.sim import bench

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pytest

    from malsim.sim.run import Run


def use_terminal(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)


def damping(run: Run) -> float:
    return run.scenario.rules.damping


def test_terminal_shows_progress_on_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    use_terminal(monkeypatch, terminal=True)
    assert list(progress([1, 2, 3], what="sum", unit="number", delay=0.0)) == [1, 2, 3]
    output = capsys.readouterr()
    assert output.out == ""
    assert "sum" in output.err
    assert "/3" in output.err


def test_short_task_shows_no_progress_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    use_terminal(monkeypatch, terminal=True)
    assert list(progress([1, 2, 3], what="sum", unit="number", delay=1e6)) == [1, 2, 3]
    assert capsys.readouterr().err.strip() == ""


def test_pipes_and_workers_show_no_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    use_terminal(monkeypatch, terminal=False)
    steps = [1, 2, 3]
    assert progress(steps, what="sum", unit="number") is steps
    use_terminal(monkeypatch, terminal=True)
    monkeypatch.setattr(multiprocessing, "parent_process", object)
    assert progress(steps, what="sum", unit="number") is steps


def test_studies_write_no_progress_bar_to_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    use_terminal(monkeypatch, terminal=False)
    scenario, space = ms.read("scenarios/worked_example.toml"), {"rules.damping": (0.5, 1.0)}
    ms.tune(scenario, space=space, requirements=["always (eff(dec_a3ee) >= 0.3)"], budget=32, progress=True)
    with ThreadPoolExecutor(1) as pool:
        ms.sensitivity(scenario, space, metric=damping, points=8, executor=pool, progress=True)
        ms.sweep(scenario, {"rules.damping": [0.5, 0.9]}, folder=tmp_path, executor=pool, progress=True)
    assert capsys.readouterr().err == ""


def test_progress_bar_does_not_change_the_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = ms.read("scenarios/worked_example.toml")
    bare = bench.run(scenario)
    use_terminal(monkeypatch, terminal=True)
    run = ms.run(scenario)
    assert run.cells.equals(bare.cells)
    assert run.events.equals(bare.events)
    ticks: list[int] = []

    def watch(times: Sequence[int]) -> Iterator[int]:
        for time in times:
            ticks.append(time)
            yield time

    assert bench.run(scenario, watch=watch).cells.equals(bare.cells)
    assert len(ticks) == bare.cells["t"].n_unique()
    capsys.readouterr()
