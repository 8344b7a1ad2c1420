"""Tests for a suite's HTML report."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import polars as pl
import pytest
from matplotlib.image import imread

from malsim.scenario.file.scenario_file import parse
from malsim.scenario.judge.judge import judge
from malsim.scenario.judge.suite_summary import Suite
from malsim.scenario.picture import picture
from malsim.showing.pages.suite import report
from malsim.showing.plots.runs.checked import checked

if TYPE_CHECKING:
    from pathlib import Path

CLAIM = (
    '[[claim]]\nat = "1d"\nwriter = "ann"\nhandle = "obs_a1a1"\ntitle = "t"\nconfidence = 0.5\nverification = "external"\n'
)
CHECKS = """
[[check]]
name = "stands <b>&amp;"
property = "always[2d:5d] not (eff(obs_a1a1) < 0.3)"
[[check]]
name = "falls"
property = 'eventually[3d:4d] (abs(eff(obs_a1a1) - 0.2) <= 0.1) and always ("obs_a1a1-flags-locked" == 0)'
[[check]]
name = "word"
property = 'always (status(obs_a1a1) == "active")'
[[check]]
name = "mean"
metric = "mean"
of = "curr(obs_a1a1)"
over = ["2d", "4d"]
within = [0.9, inf]
[[check]]
name = "nowhere"
property = "always (eff(obs_ffff) > 0)"
"""
BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


def suite(count: int = 1) -> Suite:
    judged = [
        judge(parse(f'why = "w"\n[run]\ndays = 6\n{CLAIM}{CHECKS}', name=f"s{number}", where=f"s{number}.toml"))
        for number in range(count)
    ]
    return Suite(tuple(judged), (("broken.toml", "not TOML <script>"),))


def test_report_is_a_single_file_with_verdicts_and_margins() -> None:
    page = report(suite())
    assert not re.search(r"<script|<link|https?://|url\(|src=\"(?!data:)", page)
    counts = ("3 passed", "1 failed", "2 error")
    for text in (*counts, "stands &lt;b&gt;&amp;amp;", "not TOML &lt;script&gt;", "margin: -0.2", "seed 0"):
        assert text in page
    assert page.count("data:image/png;base64,") == 1


def test_check_figure_shows_the_required_regions() -> None:
    data = picture(suite().judged[0])
    assert data is not None
    assert data.regions.rows() == [
        ("eff(obs_a1a1)", 2.0, 5.0, 0.3, None, True),
        ("eff(obs_a1a1)", 3.0, 4.0, 0.1, pytest.approx(0.3), False),
        ('"obs_a1a1-flags-locked"', 0.0, 6.0, 0.0, 0.0, False),
        ("curr(obs_a1a1)", 2.0, 4.0, 0.9, None, True),
    ]
    panels = ["eff(obs_a1a1)", '"obs_a1a1-flags-locked"', "curr(obs_a1a1)"]
    assert data.lines["panel"].unique(maintain_order=True).to_list() == panels
    assert data.lines["t"].min() == 2.0  # admitted on day 1, so first recorded at the next tick
    assert data.witnesses["t"].unique().to_list() == [3.0]
    assert picture(judge(parse('why = "w"'))) is None


def test_signals_are_plotted_without_recorded_cells() -> None:
    world = 'replications = 3\nrecord = ["right"]\n[[facts]]\nname = "pump"\n[[writers]]\nbehaviour = "honest"\nrate = 2.0\n'
    metric_check = '[[check]]\nname = "n"\nmetric = "mean"\nof = "right(pump)"\nwithin = [0.2, inf]\n'
    data = picture(judge(parse(f'why = "w"\n[run]\ndays = 4\n{world}{metric_check}')))
    assert data is not None
    assert data.lines["panel"].unique().to_list() == ["right(pump)"]
    assert data.regions.rows() == [("right(pump)", 0.0, 4.0, 0.2, None, True)]


def test_no_figure_is_drawn_without_values() -> None:
    empty = pl.DataFrame(schema={"panel": pl.String, "t": pl.Float64})
    assert checked(empty, empty, empty, empty, empty) is None


def test_report_on_thirty_scenarios_is_below_five_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malsim.showing.pages.suite.png", lambda *_, **__: bytes(200_000))
    page = report(suite(30))
    assert 4 * 2**20 < len(page.encode()) <= 5 * 2**20
    assert page.count("<section") == 30


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_browser_shows_the_figure_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text(report(suite()), encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking"
    flags += " --disable-component-update --disable-sync --window-size=900,3000 --dump-dom"
    files = [f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={tmp_path / 'r.png'}"]
    subprocess.run([str(BROWSER), *flags.split(), *files, path.as_uri()], capture_output=True, timeout=100, check=True)
    image = imread(tmp_path / "r.png")[..., :3]
    assert image.std() > 0.05  # the page is not blank
    assert (image[..., 2] - image[..., 0] > 0.2).sum() > 100  # the figure contains a blue line
