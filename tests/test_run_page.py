"""Tests for a run's HTML page, on its own and in a browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import malsim as ms
from malsim.cli import main
from malsim.scenario.file.scenario_file import parse

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.api import Run

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
WORLD = '[[facts]]\nname = "pump"\n[[writers]]\nbehaviour = "honest"\nrate = 2.0\n'
EVIL = "</script><b>x"
CLAIM = (
    '[[claim]]\nat = "1d"\nwriter = "ann"\nhandle = "obs_a1a1"\nconfidence = 0.5\nverification = "external"\n'
    f'title = "{EVIL}"\n'
)


@pytest.fixture(scope="module")
def run() -> Run:
    return ms.run("scenarios/mutual_dispute.toml", days=20)


def data_of(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match
    return dict(json.loads(match[1]))


def test_run_page_needs_no_network(run: Run) -> None:
    page = run.page()
    assert not re.search(r"https?://(?!www\.w3)|<link|url\((?!#)|src=", page)
    assert "default-src 'none'" in page


def test_lines_and_reasons_on_the_page_match_the_run(run: Run) -> None:
    data = data_of(run.page())
    assert [panel["title"] for panel in data["panels"]] == ["effective", "currency"]
    for name, values in data["panels"][0]["lines"].items():
        expected = run.cells.filter(cell=name).sort("t")["effective"].round(5).to_list()
        assert values == expected
        for index, reason in data["reasons"][name]:
            assert reason == run.why(name, t=data["times"][index])
    assert len(data["reasons"]["obs_a1a1"]) == 20
    assert len(data["events"]) == 6


def test_claim_text_cannot_close_the_script_element() -> None:
    page = ms.run(parse(f'why = "{EVIL}"\n[run]\ndays = 3\n{CLAIM}', name="n", where="n.toml")).page()
    assert EVIL not in page
    assert data_of(page)["labels"]["obs_a1a1"] == EVIL


def test_page_states_which_lines_ticks_and_reasons_are_omitted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("MOST_LINES", 2), ("MOST_VALUES", 40), ("MOST_REASONS", 6), ("MOST_EVENTS", 3)):
        monkeypatch.setattr(f"malsim.showing.pages.run_page.{name}", most)
    page = run.page()
    data = data_of(page)
    for reason in ("effective: 2 of 6 lines, those that moved most", "one tick in 2 of 20", "the first 3 of 6 events"):
        assert reason in page
    assert re.search(r"at most \d reasons per line", page)
    assert sum(len(reasons) for reasons in data["reasons"].values()) <= 6
    assert data["times"][-1] == 20
    assert all(len(panel["lines"]) == 2 for panel in data["panels"])


def test_replications_are_drawn_as_means_with_bands() -> None:
    script = parse(f'why = "w"\n[run]\ndays = 4\nreplications = 3\nrecord = "bands"\n{WORLD}', name="n", where="n.toml")
    data = data_of(ms.run(script).page())
    assert all("low" in panel and "high" in panel for panel in data["panels"])
    assert not data["reasons"]


def test_empty_run_has_a_page() -> None:
    assert data_of(ms.run(parse('why = "w"\n[run]\ndays = 2\n', name="n", where="n.toml")).page())["panels"] == []


def test_run_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["run", "scenarios/tripwire.toml", "--no-plots", "-o", str(tmp_path / "out"), "--html", str(tmp_path / "r.html")]
    assert main(args) == 0
    assert "open it in a browser" in capsys.readouterr().out
    assert "alarm" in str(data_of((tmp_path / "r.html").read_text(encoding="utf-8"))["events"])


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_every_control_on_the_page_works_in_a_browser(run: Run, tmp_path: Path) -> None:
    steps = """
const seen = (name) => { const found = document.createElement("pre"); found.className = "seen";
  found.textContent = name + "|" + at("told").textContent + "|" + at("day").textContent + "|"
    + document.querySelectorAll("#panel0 circle").length + "|" + span.map((t) => Math.round(t)).join("-") + "|"
    + at("under").textContent + "|" + at("when").textContent;
  document.body.append(found); };
seen("opened");
at("time").value = 0; at("time").dispatchEvent(new Event("input")); seen("first");
at("time").value = 4; at("time").dispatchEvent(new Event("input")); seen("slid");
document.querySelector("[data-name=obs_d4d4] input").click(); seen("off");
at("none").click(); seen("none"); at("all").click(); seen("all");
const box = at("panel0").getBoundingClientRect(), scale = scales(panels[0], box.width);
const hand = (kind, t, value) => at("panel0").dispatchEvent(new PointerEvent(kind, {
  clientX: box.left + scale.x(t), clientY: box.top + scale.y(value), bubbles: true }));
hand("pointermove", 3, panels[0].lines.obs_d4d4[2]); seen("hovered");
hand("pointerdown", 3, panels[0].lines.obs_d4d4[2]); hand("pointerup", 3, panels[0].lines.obs_d4d4[2]); seen("clicked");
hand("pointerdown", 2, 0.5); hand("pointerup", 8, 0.5); seen("dragged");
at("whole").click(); seen("whole"); at("in").click(); seen("in");
"""
    path = tmp_path / "r.html"
    path.write_text(run.page().replace("\nbuild();\n", "\nbuild();\n" + steps), encoding="utf-8")
    flags = f"--headless --no-sandbox --disable-gpu --window-size=1280,900 --user-data-dir={tmp_path}/p --dump-dom"
    command = [str(BROWSER), *flags.split(), f"{path.as_uri()}#t=12&why=obs_a1a1"]
    dump = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [html.unescape(row).split("|") for row in re.findall(r'<pre class="seen">(.*?)</pre>', dump.stdout, re.DOTALL)]
    by_name = {name: rest for name, *rest in rows}
    assert by_name["opened"][:4] == [run.why("obs_a1a1", t=12), "day 12", "6", "1-20"]
    assert by_name["opened"][5] == "Since the tick before: no events listed"
    assert by_name["first"][5] == "Since the tick before: 6 events"
    assert by_name["slid"][:2] == [run.why("obs_a1a1", t=5), "day 5"]
    assert [by_name[name][2] for name in ("off", "none", "all")] == ["5", "0", "6"]
    assert "on day 3" in by_name["hovered"][4]
    assert by_name["clicked"][1] == "day 3"
    assert by_name["clicked"][0].split()[0] in {"obs_d4d4", "obs_e5e5", "obs_f6f6"}
    assert by_name["dragged"][3] == "2-8"
    assert by_name["whole"][3] == "1-20"
    assert by_name["in"][3] == "2-12"
