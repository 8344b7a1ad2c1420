"""Tests that commands refuse invalid options and files, exit with code 2, and write no files."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from malsim.cli import main

ROOT = Path(__file__).parents[1]
CHECKS = 'why = "x"\n[[check]]\nname = "n"\nproperty = "always (eff(dec_a3ee) >= 0.3)"\n'
NET = "loadrt watch names=weak\nnet low weak.in\nnet is-weak weak.below\naddf weak tick\n"
HAL = "loadrt not names=no\nsetp no.in 1\n"
LOG = '{"do": "write", "t": 0, "writer": "ann", "object": "x", "value": "A"}\n'
DERIVES = 'why = "x"\n[[derive.netlist.input]]\nsignal = "a"\n'

CASES = {
    "judge --set law.half_life=7": "--set needs a law",
    "judge --zoo nosuch": "no such defect",
    "store charter s.sqlite --question nosuch": "no such question",
    "store charter s.sqlite --answer ' '": "the answer is empty",
    "compare reviewed.toml --policies all --laws mal,records": "policies can only be compared under one law",
    "compare reviewed.toml --policies all --weekly many": "not a number",
    "compare table.csv x.toml --laws mal": "these inputs cannot be compared in one table",
    "compare s.sqlite --laws mal,records": "several laws can only be compared if the truth is known",
    "judge append --case nosuch": "no such case",
    "docs --html token": "a file with the name of this folder already exists",
    "workbench --port 99999999": "a number from 0 to 65535",
    "agent serve s.sqlite --http 99999999": "a number from 0 to 65535",
    "why dispute.toml obs_a1a1 -o x.xyz": "unsupported file type",
    "why dispute.toml obs_a1a1 -o x": "unsupported file type",
    "docs nosuch": "no such page",
    "run nowhere.toml": "no such scenario file",
    "run dispute.toml --set rules.nonsense=1": "no such rule",
    "run dispute.toml --set run.dys=12": "did you mean run.days",
    "run dispute.toml --set run.days=-1": "allowed: above 0",
    "run dispute.toml --replications 0": "run.replications: out of bounds",
    "compare nowhere.csv": "no such file",
    "compare machines.csv --rules nowhere.toml": "no such preset or file",
    "examples nosuch": "no such example",
    "hal net.malnet -c 'newsig one'": "write newsig SIGNAL TYPE",
    "hal net.malnet -c 'unload a b'": "write unload NAME",
    "hal net.malnet -c 'list nosuch'": "no such kind",
    "hal -c unload": "write unload NAME",
    "hal net.malnet --tick=5": "not a duration",
    "import atlas.json --confidence 2 -o new.sqlite": "out of bounds",
    "import atlas.json --as nosuch -o new.sqlite": "no such format",
    "netlist diff net.malnet net.malnet --prove other": "two netlists can only be proved to have equal outputs",
    "netlist diff net.malnet net.malnet --prove same --ticks 0": "out of bounds",
    "netlist fmt --write x.hal": "a .hal file cannot be rewritten",
    "netlist value writer(ann)-claims-x net.malnet": "no such",
    "new x.txt --template claims": "needs a file ending in .toml",
    "op smooth --on table.csv": "--column is missing",
    "op pid --table": "an op without memory whose pins are all bits",
    "op watch --frequency": "has no frequency response",
    "op smooth --step --calls 0": "number of calls is out of bounds",
    "judge majority --honest 0": "out of bounds",
    "judge majority --most 0": "out of bounds",
    "agent record -o new.jsonl -- ./nosuch": "the server cannot be started",
    "run x.toml --set damping": "not an assignment",
    "run x.toml --set run.days": "not an assignment",
    "run x.toml --set rules.mass_from=nosuch": "not one of the allowed values",
    "run x.toml --rules nosuch": "no such preset or file",
    "agent serve s.sqlite --token-file token": "--token-file needs --http",
    "agent serve s.sqlite --http 0 --host 0.0.0.0": "a network-facing server needs a token",
    "sensitivity x.toml --range rules.damping=0.5:0.9 --metric cells --workers 0": "out of bounds",
    "test x.toml --check nosuch": "no check was found",
    "store tick s.sqlite --now -1": "a store cannot tick before the day of its last write",
    "compare reviewed.toml --policies all --replications 1": "at least two replications are needed",
    "store tick s.sqlite --webhook ftp://host": "not a valid URL",
    "store tick s.sqlite --webhook http://a..b/": "not a valid URL",
    "store tick s.sqlite --now 1e300": "1e+11",
    "run derives.toml": "derives.toml:1: derive",
    "look s.sqlite --limit=99999999999999999999": "limit",
    "tripwire design --arl0 100": "a design needs two targets",
    "tune x.toml --space rules.damping=0.2:1 --objective brier --require 'eff(dec_a3ee) >= 0.3'": "cannot be combined",
    "tune x.toml --space rules.damping=0.2:1 --budget 3": "budget is too small",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("refused")
    texts = {"checks.toml": CHECKS, "net.malnet": NET, "x.hal": HAL, "log.jsonl": LOG, "token": "t", "new.jsonl": "",
             "table.csv": "t,x\n0,1\n", "derives.toml": DERIVES}  # fmt: skip
    for name, text in texts.items():
        (path / name).write_text(text, encoding="utf-8")
    shipped = {"x.toml": "worked_example.toml", "reviewed.toml": "triage_popular.toml", "atlas.json": "stores/atlas.json",
               "dispute.toml": "mutual_dispute.toml", "machines.csv": "claims/machines.csv"}  # fmt: skip
    for name, source in shipped.items():
        (path / name).write_bytes((ROOT / "scenarios" / source).read_bytes())
    assert main(["import", str(path / "atlas.json"), "-o", str(path / "s.sqlite")]) == 0
    return path


@pytest.mark.parametrize("words", CASES)
def test_invalid_options_are_refused_and_write_nothing(
    words: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    failed_line = words.startswith("hal ") and "--tick" not in words
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(shlex.split(words)) == (1 if failed_line else 2)
    captured = capsys.readouterr()
    assert CASES[words] in captured.err + captured.out
    assert failed_line or captured.out == "" or words.startswith("test ")
    assert "this is a bug" not in captured.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_unrelated_broken_scenario_does_not_stop_pytest(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "bad.toml").write_text("why =\n", encoding="utf-8")
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed, 1 skipped" in done.stdout, done.stdout
    named = subprocess.run([*command, "scenarios/bad.toml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert named.returncode not in {0, 5}
