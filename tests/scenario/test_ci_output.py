"""Tests for the output of `malsim test` in terminals and CI services, with the scenario's seed and with fresh seeds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.cli import main
from malsim.scenario.judge.ci_output import annotation

HEAD = 'why = "w"\nseed = 3\n[run]\ndays = 3\n'
CLAIM = '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "dec_a3ee"\ntitle = "a"\nconfidence = 0.6\n'
STANDS = '[[check]]\nname = "stands"\nproperty = "always (eff(dec_a3ee) >= 0.5)"\n'
FALLS = '[[check]]\nname = "falls"\nproperty = "always (eff(dec_a3ee) >= 0.9)"\n'
BASELINE = '[baseline]\ncolumns = ["cells.effective"]\n'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")


def test_each_file_gets_a_line_and_the_slowest_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for name in "abcd":
        _write(f"{name}.toml", HEAD + CLAIM + STANDS + (FALLS if name == "b" else ""))
    _write("e.toml", "whi = 1\n")
    assert main(["test", "."]) == 2
    lines = capsys.readouterr().out.splitlines()
    ends = [line for line in lines if re.search(r" in [\d.]+ s$", line)]
    assert [re.sub(r" in .*", "", line) for line in ends] == [
        "a.toml: 1 passed", "b.toml: 1 passed, 1 failed", "c.toml: 1 passed", "d.toml: 1 passed", "e.toml: could not be run",
    ]  # fmt: skip
    [failed] = [line for line in lines if line.startswith("b.toml:16: fail: falls: ")]
    assert lines.index(ends[0]) < lines.index(failed) < lines.index(ends[1])
    assert lines[-2].startswith("slowest: ")
    assert lines[-1] == "4 passed, 1 failed, 1 could not be judged"


def test_ci_annotations_name_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    odd = FALLS.replace("falls", "odd, \\u001b[31m 50 %: \\n::warning::x")
    _write("x.toml", HEAD + CLAIM + STANDS + odd)
    _write("y.toml", 'why = "w"\n[rnu]\n')
    assert main(["test", "x.toml", "y.toml", "--format", "github"]) == 2
    annotations = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert len(annotations) == 2
    title = "odd%2C \\u001b[31m 50 %25%3A \\n%3A%3Awarning%3A%3Ax (fail)"
    assert annotations[0].startswith(f"::error file=x.toml,line=16,title={title}::replication 0, day 1")
    assert annotations[1].startswith("::error file=y.toml,line=2,title=could not be run::unknown key 'rnu'")


@given(st.text(), st.text(), st.text())
def test_ci_annotation_is_one_line_in_the_required_form(path: str, title: str, message: str) -> None:
    line = annotation(path, "3", title, message)
    assert len(line.splitlines()) == 1
    assert re.fullmatch(r"::error file=([^,:]*),line=3,title=([^,:]*)::(.*)", line)
    assert "\x1b" not in line


def test_junit_report_has_times_and_properties() -> None:
    _write("x.toml", HEAD + CLAIM + STANDS + FALLS)
    assert main(["test", "x.toml", "--junit", "r.xml"]) == 1
    [suite] = ET.parse("r.xml").getroot()  # noqa: S314  # our own file
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", suite.get("timestamp", ""))
    cases = list(suite)
    assert sum(float(case.get("time", "")) for case in cases) == pytest.approx(float(suite.get("time", "")), abs=0.002)
    assert {item.get("name"): item.get("value") for item in cases[1].iter("property")} == {
        "margin": "-0.3", "seed": "3", "replication": "0",
    }  # fmt: skip


def test_changes_made_by_an_upgrade_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GITHUB_ACTOR", "ann")
    _write("x.toml", HEAD + CLAIM + BASELINE)
    assert main(["test", "x.toml", "--approve", "--yes"]) == 0
    note = json.loads(Path("x.approvals.jsonl").read_text(encoding="utf-8"))
    assert (note["by"], note["columns"], note["moved"]) == ("ann", ["cells.effective"], "first recorded")
    _write("x.toml", HEAD + CLAIM.replace("0.6", "0.5") + BASELINE)
    assert main(["test", "x.toml"]) == 1
    assert "moved by an upgrade" not in capsys.readouterr().out
    _write("x.approvals.jsonl", json.dumps(note | {"malsim": "0.0.1"}) + "\n")
    assert main(["test", "x.toml"]) == 1
    printed = capsys.readouterr().out
    assert "baselines moved by an upgrade of malsim" in printed
    assert re.search(r"x\.toml: since malsim 0\.0\.1, approved by ann .*1 series left its band.*0\.6.*0\.5", printed)
    assert main(["test", "x.toml", "--approve", "--yes"]) == 0
    last = json.loads(Path("x.approvals.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert last["moved"].startswith("1 series left its band")


RANDOM = """
why = "One writer who is right half the time."
seed = 3
[run]
days = 12
replications = 8
[[facts]]
name = "pump"
values = ["running", "stopped"]
[[writers]]
behaviour = "honest"
rate = 1.0
accuracy = 0.5
[[check]]
name = "it is worth something"
property = "always (right(pump) <= 1)"
[[check]]
name = "at the end it is right"
property = "always[12d:12d] (right(pump) == 1)"
share = 0.75
"""


def test_seeds_option_reports_seed_dependent_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.toml"
    path.write_text(RANDOM, encoding="utf-8")
    codes = [main(["test", str(path), "--seed", str(seed)]) for seed in range(3, 9)]
    passed = codes[1:].count(0)
    assert 0 < passed < 5
    capsys.readouterr()
    assert main(["test", str(path), "--seeds", "5"]) == 1
    printed = capsys.readouterr().out
    assert f"depends on its seed: at the end it is right: passes on {passed} of 5 seeds" in printed
    assert printed.endswith("1 checks hold on every fresh seed, 1 do not\n")
    assert main(["test", str(path), "--check", "it is worth something", "--seeds", "2"]) == 0
    assert main(["test", str(path), "--seeds", "0"]) == 2
    assert "the number of seeds is out of bounds" in capsys.readouterr().err
