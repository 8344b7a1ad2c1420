"""Tests that anything that cannot be checked is an error with its file, line and a hint, and never counts as a pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from malsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

CLAIM = '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "obs_a1a1"\ntitle = "t"\nconfidence = 0.5\n'
HEAD = f'why = "x"\n[run]\ndays = 4\n{CLAIM}'
EMPTY = 'why = "x"\n[run]\ndays = 4\n'
WORLD = EMPTY + '[[facts]]\nname = "line-1"\nvalues = ["up", "down"]\n'


def check(property_: str) -> str:
    return f'[[check]]\nname = "n"\nproperty = "{property_}"\n'


def metric(of: str) -> str:
    return f'[[check]]\nname = "n"\nmetric = "mean"\nof = "{of}"\nwithin = [0.3, inf]\n'


CASES = {
    "a signal that never was": (HEAD + check("always (efective > 0)"), r":12: .*allowed: "),
    "a cell that never was": (HEAD + check("always (eff(obs_ffff) > 0)"), r":12: .*obs_a1a1"),
    "a column that is not": (HEAD + check('always (\\"obs_a1a1-scores-efective\\" > 0)'), r":12: .*did you mean"),
    "an event that never was": (HEAD + check("eventually at event(trippd)"), r":12: .*did you mean"),
    "an empty run, a property": (EMPTY + check("always (eff(obs_a1a1) > 0)"), r":6: "),
    "an empty run, a metric": (EMPTY + metric("eff(obs_a1a1)"), r":6: "),
    "an empty run, an alarm": (
        f'{EMPTY}[[check]]\nname = "n"\nalarm = "obs_a1a1-flags-locked"\nexpect = {{ "1" = "quiet" }}\n', r":6: "
    ),
    "a window after the end": (HEAD + check("always[9d:10d] (eff(obs_a1a1) > 0)"), r":12: .*run more days"),
    "nothing to compare": (HEAD + check("true"), r":12: .*compare it"),
    "NaN as a bound": (HEAD + metric("eff(obs_a1a1)").replace("0.3", "nan"), r":14: .*not a finite number; given: nan"),
    "NaN as a confidence": (HEAD.replace("0.5", "nan") + check("always (eff(obs_a1a1) > 0)"), r":9: .*not a finite number"),
    "NaN as a share": (HEAD + check("always (eff(obs_a1a1) > 0)") + "share = nan\n", r":13: .*not a finite number"),
    "a run without end": (HEAD.replace("= 4", "= inf") + check("always (x > 0)"), r":3: error: run\.days.*given: inf"),
    "two checks of one name": (HEAD + check("always (eff(obs_a1a1) > 0)") * 2, r":\d+: error: this name is already used"),
    "no baseline": (f"{HEAD}[baseline]\n", r":10: .*record one with malsim test --approve"),
    "a column of no frame": (f'{HEAD}[baseline]\ncolumns = ["cell.effective"]\n', r":10: .*no such column.*allowed: "),
    "claims from elsewhere": (
        f'{WORLD}[[writers]]\nbehaviour = "from_file"\npath = "../stolen.csv"\n{check("always (right(line-1) == 1)")}',
        r":9: error: writers\.path: a claim file may not lie outside its scenario's folder.*move the file next to",
    ),
    "a netlist from elsewhere": (
        f'{HEAD}[netlist]\nfile = "../stolen.malnet"\n{check("always (eff(obs_a1a1) > 0)")}',
        r":11: error: netlist\.file: a netlist may not lie outside its scenario's folder.*move the file next to",
    ),
    "a store from elsewhere": (
        f'{HEAD}[memory]\nfrom = "../stolen.sqlite"\n{check("always (eff(obs_a1a1) > 0)")}',
        r":11: error: memory\.from: a store may not lie outside its scenario's folder.*move the file next to",
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inner = tmp_path / "theirs"
    inner.mkdir()
    monkeypatch.chdir(inner)
    (tmp_path / "stolen.csv").write_text("time,writer,object,value\n0,m,line-1,up\n", encoding="utf-8")
    (tmp_path / "stolen.malnet").write_text("net worth obs_a1a1-scores-eff\n", encoding="utf-8")
    return inner


def must_be_refused(path: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["test", path]) == 2
    captured = capsys.readouterr()
    printed = captured.out + captured.err
    assert re.search(f"{re.escape(path)}{message}", printed), printed
    assert "; " in printed
    assert " pass: " not in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("name", CASES)
def test_file_that_cannot_be_checked_is_an_error(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, message = CASES[name]
    (folder / "x.toml").write_text(text, encoding="utf-8")
    must_be_refused("x.toml", message, capsys)


def test_links_to_other_folders_are_not_followed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, message = CASES["claims from elsewhere"]
    (folder / "in.csv").symlink_to(folder.parent / "stolen.csv")
    (folder / "x.toml").write_text(text.replace("../stolen.csv", "in.csv"), encoding="utf-8")
    must_be_refused("x.toml", message, capsys)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("baseline 1", "baseline 2", "this version can read.*record it again"),
        ("# malsim baseline 1: ", "", "this version can read.*record it again"),
        ("effective=Float64", "efective=Float64", "columns differ from those.*record it again"),
        ("0.5", "NaN", "NaN.*mend|contains NaN|cannot be read"),
        ("0.5", "half", "cannot be read.*record it again"),
    ],
)
def test_changed_baseline_file_is_an_error(
    old: str, new: str, problem: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "x.toml").write_text(f"{HEAD}[baseline]\n", encoding="utf-8")
    assert main(["test", "--approve", "x.toml", "--yes"]) == 0
    baseline = folder / "x.cells.csv"
    text = baseline.read_text(encoding="utf-8")
    assert old in text
    baseline.write_text(text.replace(old, new), encoding="utf-8")
    must_be_refused("x.toml", f":10: .*({problem})", capsys)
    baseline.write_text(text.splitlines()[0] + "\n" + text.splitlines()[1] + "\n", encoding="utf-8")
    must_be_refused("x.toml", ":10: .*baseline", capsys)


def test_missing_column_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.toml").write_text(f"{HEAD}[baseline]\n", encoding="utf-8")
    assert main(["test", "--approve", "x.toml", "--yes"]) == 0
    (folder / "x.toml").write_text(f'{HEAD}[baseline]\ncolumns = ["cells.efective"]\n', encoding="utf-8")
    must_be_refused("x.toml", r":10: .*the run has no such column; given: 'cells\.efective'; allowed: .*effective", capsys)


REFUSED = f"""{HEAD.replace("0.5", "0.9")}
[[claim]]
at = "1d"
writer = "bob"
handle = "obs_b2b2"
title = "u"
confidence = 0.6
edges = [{{ relation = "supports", target = "obs_none" }}]
"""


@pytest.mark.parametrize("record", ["all", "bands"])
def test_refused_and_capped_claims_are_reported(record: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "s.toml", str(tmp_path / "out")
    path.write_text(REFUSED.replace("days = 4", f'days = 4\nrecord = "{record}"'), encoding="utf-8")
    assert main(["run", str(path), "-o", out, "--no-plots"]) == 0
    printed = capsys.readouterr().out
    assert "1 claim was refused by the gate:" in printed
    if record == "all":
        assert "1 × edges.target: no such cell (the first: claim 1 of bob, day 1)" in printed
        assert '1 of 2 claims capped at 0.7: unverified; verification = "checked"' in printed
    else:
        assert "the reasons are recorded only with events" in printed
    assert main(["run", str(path), "-o", out, "--no-plots", "--strict"]) == 1


def test_run_without_rejected_claims_reports_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.toml"
    path.write_text(HEAD, encoding="utf-8")
    assert main(["run", str(path), "-o", str(tmp_path / "out"), "--no-plots", "--strict"]) == 0
    assert "refused" not in capsys.readouterr().out


@pytest.mark.parametrize(("more", "code"), [([], 0), (["--strict"], 1)])
def test_strict_suite_fails_if_claims_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], code: int
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(REFUSED + check("always (eff(obs_a1a1) > 0)"), encoding="utf-8")
    assert main(["test", str(path), "--junit", str(tmp_path / "r.xml"), *more]) == code
    printed = capsys.readouterr().out
    assert f"s.toml:1: {'fail' if code else 'note'}: 1 claim was refused by the gate:" in printed
    assert "1 × edges.target:" in printed
    assert "s.toml:1: note: 1 of 2 claims capped at 0.7" in printed
    assert ('name="refused claims"' in (tmp_path / "r.xml").read_text(encoding="utf-8")) == bool(code)


@pytest.mark.parametrize(("more", "code"), [([], 0), (["--strict"], 1)])
def test_strict_replay_fails_if_claims_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str], code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    (tmp_path / "said.csv").write_text(f"writer,object,value\nann,valve,on\nbob,pump,{key}\n", encoding="utf-8")
    assert main(["compare", "said.csv", *more]) == code
    printed = capsys.readouterr().out
    assert "1 claim was refused by the gate:" in printed
    assert "1 × " in printed
    assert key not in printed
