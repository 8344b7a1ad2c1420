"""What a stranger's file may ask for: a bomb is refused before it runs, by limits that each command and pytest raise."""

from __future__ import annotations

import gzip
import subprocess
import sys
from argparse import ArgumentParser
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

from malsim.base.errors import ScenarioError
from malsim.base.limits import Limits
from malsim.cli import main
from malsim.scenario.file.scenario_file import parse, read
from malsim.sim.settings.size import check_size

CLAIM = '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "obs_a1a1"\ntitle = "t"\nconfidence = 0.5\n'
CHECK = '[[check]]\nname = "stands"\nproperty = "always (eff(obs_a1a1) >= 0.3)"\n'
SCENARIO = f'why = "x"\n[run]\ndays = 4\nreplications = 3\n{CLAIM}{CHECK}[baseline]\n'
ASKED = {"max-replications": 3, "max-ticks": 12, "max-cells": 12}
LIMITS = pytest.mark.parametrize(("flag", "asked"), ASKED.items())


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.toml").write_text(SCENARIO, encoding="utf-8")
    assert main(["test", "--approve", "x.toml", "--yes"]) == 0
    return "x.toml"


@LIMITS
@pytest.mark.parametrize(
    "command",
    [["test"], ["run", "--no-plots"], ["test", "--approve", "--yes"], ["stability"]],
    ids=lambda command: command[0],
)
def test_a_command_refuses_what_asks_too_much_and_a_flag_allows_it(
    command: list[str], flag: str, asked: int, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for allowed, code in ((asked - 1, 2), (asked, 0)):
        assert main([*command, path, f"--{flag}", str(allowed)]) == code
        said = "".join(capsys.readouterr())
        where = "x.toml:1: error" if command == ["test"] else "x.toml"
        assert (f"{where}: too many {said_of(flag)}; given: {asked}; allowed: {allowed}" in said) == (code == 2)
        assert (f"or allow it: --{flag} {asked}" in said) == (code == 2)


def said_of(flag: str) -> str:
    return next(str(limit.metadata["says"]) for limit in fields(Limits) if limit.metadata.get("flag") == flag)


def test_a_manifest_asks_for_no_more_than_a_file(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path, "--no-plots"]) == 0
    assert main(["rerun", "out/x/manifest.json", "--max-ticks", "11"]) == 2
    assert "too many ticks" in capsys.readouterr().err
    assert main(["rerun", "out/x/manifest.json", "--max-ticks", "12"]) == 0


def test_a_large_baseline_is_refused_unread_and_a_flag_allows_it(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = tmp_path / "x.cells.csv"
    with held.open("r+b") as baseline:
        baseline.truncate(10 * 2**30)  # ten gigabytes of nothing, of which the disk holds none
    assert main(["test", path]) == 2
    said = capsys.readouterr().out
    assert "x.cells.csv: this baseline has too many bytes or values; given: 10737418240; allowed: 104857600" in said
    assert "--max-baseline 10737418240" in said
    (tmp_path / "x.cells.csv").unlink()
    assert main(["test", "--approve", path, "--yes"]) == 0
    size = held.stat().st_size
    assert main(["test", path, "--max-baseline", str(size - 1)]) == 2
    assert main(["test", path, "--max-baseline", str(size), "--html", "r.html"]) == 0


TRIPWIRE = str(Path(__file__).parents[2] / "scenarios" / "tripwire.toml")
STUDIES = {
    "sweep": ["--grid", "rules.damping=0.2,0.4", "--metric", "cells", "--workers", "1", "--quiet", "--no-plots"],
    "tune": ["--space", "rules.damping=0.2:1", "--require", "always (eff(obs_a1a1) >= 0.3)", "--budget", "32"],
    "sensitivity": ["--metric", "cells", "--points", "8", "--quiet"],
    "falsify": ["--check", "stands", "--budget", "4", "--writes", "1"],
    "tripwire": ["--quick", "--scenario"],
    "cadence": ["--period", "1d", "--quiet"],
    "mutate": ["--each", "1", "--rules", "1"],
    "compare": ["--laws", "mal,last_write", "--metric", "cells", "--replications", "3"],
}


@pytest.mark.parametrize("command", STUDIES)
def test_no_study_runs_what_asks_too_much(command: str, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each run of a study is held to the limits, in whichever process it is made."""
    asked = [*STUDIES[command], TRIPWIRE] if command == "tripwire" else [path, *STUDIES[command]]
    assert main([command, *asked, "--max-ticks", "2"]) == 2
    assert "--max-ticks" in "".join(capsys.readouterr())


@pytest.mark.parametrize("command", ["sweep", "tune", "sensitivity", "falsify"])
def test_no_study_tries_more_points_than_allowed(command: str, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, path, *STUDIES[command], "--max-points", "1"]) == 2
    assert "--max-points" in capsys.readouterr().err


def test_bombs_are_refused_by_default() -> None:
    world = '[[facts]]\nname = "a"\n[[writers]]\nbehaviour = "honest"\n'
    for run, writers, said in (
        ("replications = 1000000", "", "--max-replications 1000000"),
        ("days = 100000\nreplications = 50", "", "--max-ticks 5000000"),
        ("days = 100", "count = 100000\nrate = 1.0", "--max-cells 1000000000"),
        ("days = 1000", 'every = "1ms"', "--max-cells"),
    ):
        with pytest.raises(ScenarioError, match=said):
            check_size(parse(f'why = "x"\n[run]\n{run}\n{world}{writers}\n'))
    check_size(parse(SCENARIO))


def test_reproducing_takes_the_limits_along(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = tmp_path / path
    held.write_text(held.read_text().replace(">= 0.3", ">= 0.8"), encoding="utf-8")
    assert main(["test", path, "--max-ticks", "2000000"]) == 1
    assert "--max-ticks 2000000" in capsys.readouterr().out.split("alone: ")[1]
    assert read(held).replications == 3


def test_pytest_refuses_the_same_by_options_of_its_own(path: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest"]
    given = ["--malsim-max-ticks", "99", "--malsim-max-cells", "11", "--malsim-max-replications", "3"]
    found = subprocess.run([*command, path, *given], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "2 errors" in found.stdout
    assert "too many ticks × cells" in found.stdout
    assert "allow it: --malsim-max-cells 12" in found.stdout


def test_every_limit_has_a_flag_and_the_flags_say_the_limits() -> None:
    parser = ArgumentParser()
    Limits.options(parser.add_argument, prefix="--malsim-")
    flags = [f"--malsim-{limit.metadata['flag']}" for limit in fields(Limits) if limit.metadata]
    assert Limits.of(parser.parse_args([]), prefix="--malsim-") == Limits(prefix="--malsim-")
    asked = [word for number, flag in enumerate(flags) for word in (flag, str(number))]
    raised = Limits.of(parser.parse_args(asked), prefix="--malsim-")
    assert [getattr(raised, limit.name) for limit in fields(Limits) if limit.metadata] == list(range(len(flags)))
    assert raised.flags.split() == [word.replace("--malsim-", "--") for word in asked]


def test_a_file_no_larger_than_allowed_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Packed or not: forty million bytes in forty thousand are refused before they are a table."""
    bomb = tmp_path / "claims.csv.gz"
    bomb.write_bytes(gzip.compress(b"writer,object,value\n" + b"a,b,c\n" * 7_000_000))
    small = tmp_path / "few.csv"
    small.write_text("writer,object,value\nann,a,1\n", encoding="utf-8")
    wide = tmp_path / "wide.parquet"
    pl.DataFrame({"writer": ["a"], "object": ["b"], "value": ["c"]}).select(
        pl.all().repeat_by(100_000).explode()
    ).write_parquet(wide)
    for path, allowed, code in ((bomb, 1_000_000, 2), (small, 10, 2), (wide, 1_000_000, 2), (small, 1_000, 0)):
        assert main(["replay", str(path), "--json", "--max-input", str(allowed)]) == code, path
        assert ("--max-input" in capsys.readouterr().err) == (code == 2)


@pytest.mark.parametrize("law", ["mal", "dawid_skene"])
def test_what_would_take_more_memory_than_allowed_is_refused_before_it_is_begun(
    law: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = tmp_path / "claims.csv"
    rows = [f"w{number % 5},x,v{number}" for number in range(200)]
    claims.write_text("\n".join(["writer,object,value", *rows]), encoding="utf-8")
    replay = ["replay", str(claims), "--law", law, "--json"]
    assert main([*replay, "--max-memory", "1000000"]) == 2
    assert "too many bytes of memory" in capsys.readouterr().err
    assert main([*replay, "--max-memory", "1000000000"]) == 0
