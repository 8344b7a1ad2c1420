"""Tests for the op bench and for the page of a live store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import ops
from malsim.base.errors import MalsimError
from malsim.cli import main
from malsim.lab.workbench.parts.ops_bench import LOOP, NOISE, OpsBench, closed_loop
from malsim.lab.workbench.parts.store_view import StoreView, read_store
from malsim.lab.workbench.trace_lines import traces_of
from malsim.memory.store import Store
from tests.lab.workbench.conftest import serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memory.sqlite"
    assert main(["import", "scenarios/stores/atlas.json", "-o", str(path)]) == 0
    return path


def test_op_bench_shows_the_response_of_the_op(tmp_path: Path) -> None:
    bench = OpsBench("smooth", tmp_path, {"gain": 0.5})
    assert bench.answer().equals(ops.respond(ops.load("smooth"), "step", {"gain": 0.5}, calls=120))


@pytest.mark.parametrize("name", ["smooth", "watch", "pid", "latch", "kalman"])
def test_ops_respond_to_every_test_signal_on_the_bench(tmp_path: Path, name: str) -> None:
    bench = OpsBench(name, tmp_path)
    for signal in ("step", "ramp", "impulse", "sine"):
        bench.signal = signal
        assert bench.answer().height == 120


def test_noise_and_files_can_be_inputs(tmp_path: Path) -> None:
    bench = OpsBench("smooth", tmp_path)
    bench.signal = NOISE
    assert bench.answer()["input"].std() > 0.1  # type: ignore[operator]  # a column of floats
    pl.DataFrame({"t": [0.0, 1.0, 2.0], "x": [1.0, 1.0, 1.0]}).write_csv(tmp_path / "mine.csv")
    bench.signal = "CSV file"
    bench.form.fields = [field | ({"value": "mine.csv"} if field["name"] == "file" else {}) for field in bench.form.fields]
    assert bench.answer().height == 3
    bench.form.fields = [field | ({"value": "../x.csv"} if field["name"] == "file" else {}) for field in bench.form.fields]
    with pytest.raises(MalsimError):
        bench.answer()


def test_integral_gain_reaches_the_set_point() -> None:
    assert abs(closed_loop({"Pgain": 1.0})["y"][-1] - 0.5) < 1e-3
    assert abs(closed_loop({"Pgain": 1.0, "Igain": 0.2})["y"][-1] - 1.0) < 1e-2
    assert np.isfinite(closed_loop({"Pgain": 50.0, "maxoutput": 2.0})["y"].to_numpy()).all()


def test_unknown_op_is_refused_by_the_bench(tmp_path: Path) -> None:
    with pytest.raises(MalsimError, match="nosuch"):
        OpsBench("nosuch", tmp_path)


def test_store_page_follows_new_ticks(store: Path) -> None:
    before = store.read_bytes()
    view = StoreView(store)
    assert view.head.title == "memory.sqlite"
    assert store.read_bytes() == before
    with Store(store) as file:
        file.tick((file.day or 0.0) + 5.0)
    lines = traces_of(read_store(store))
    assert lines["effective"]
    about = view.head.about
    view.refresh()
    assert view.head.about != about
    store.write_bytes(b"no store")
    view.refresh()
    assert view.head.error
    assert view.legend.panels


def test_store_and_op_pages_open_in_a_browser(store: Path, visit: Callable[..., Page]) -> None:
    with serving(str(store)) as address:
        visit(address, ready=".trace").get_by_text("Standing signals now").wait_for()
        page = visit(f"{address}?op=pid")
        page.get_by_text("Drive a value to a set point").first.wait_for()
        assert page.get_by_label("input").input_value() == LOOP
