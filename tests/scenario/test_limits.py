"""Tests that oversized files are refused before they run unless `MALSIM_LIMITS` allows them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pytest

from malsim.base.errors import ScenarioError
from malsim.base.limits import Limits
from malsim.cli import main
from malsim.scenario.file.scenario_file import parse
from malsim.sim.settings.scenario import check_size

Allow: TypeAlias = Callable[[str], None]
CLAIM = '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "obs_a1a1"\ntitle = "t"\nconfidence = 0.5\n'
CHECK = '[[check]]\nname = "stands"\nproperty = "always (eff(obs_a1a1) >= 0.3)"\n'
SCENARIO = f'why = "x"\n[run]\ndays = 4\nreplications = 3\n{CLAIM}{CHECK}[baseline]\n'
ASKED = {"replications": 3, "ticks": 12, "cells": 12}
LIMITS = pytest.mark.parametrize(("name", "needed"), ASKED.items())


@pytest.fixture
def allow(monkeypatch: pytest.MonkeyPatch) -> Allow:
    """Return a function that sets `MALSIM_LIMITS`, as in `allow("ticks=11")`."""
    return lambda text: monkeypatch.setenv("MALSIM_LIMITS", text)


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
def test_oversized_input_is_refused_until_allowed(
    command: list[str], name: str, needed: int, path: str, allow: Allow, capsys: pytest.CaptureFixture[str]
) -> None:
    for allowed, code in ((needed - 1, 2), (needed, 0)):
        allow(f"{name}={allowed}")
        assert main([*command, path]) == code
        output = "".join(capsys.readouterr())
        where = "x.toml:1: error" if command == ["test"] else "x.toml"
        assert (f"{where}: too many {problem_of(name)}; given: {needed}; allowed: {allowed}" in output) == (code == 2)
        assert (f"or allow it: MALSIM_LIMITS={name}={needed}" in output) == (code == 2)


def problem_of(name: str) -> str:
    return next(str(limit.metadata["says"]) for limit in fields(Limits) if limit.name == name)


def test_rerun_of_a_manifest_obeys_the_limits(path: str, allow: Allow, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", path, "--no-plots"]) == 0
    allow("ticks=11")
    assert main(["run", "--manifest", "out/x/manifest.json"]) == 2
    assert "too many ticks" in capsys.readouterr().err
    allow("ticks=12")
    assert main(["run", "--manifest", "out/x/manifest.json"]) == 0


def test_large_baseline_is_not_read_until_allowed(
    path: str, tmp_path: Path, allow: Allow, capsys: pytest.CaptureFixture[str]
) -> None:
    held = tmp_path / "x.cells.csv"
    with held.open("r+b") as baseline:
        baseline.truncate(10 * 2**30)  # a sparse file of 10 GiB, which takes no disk space
    assert main(["test", path]) == 2
    output = capsys.readouterr().out
    assert "x.cells.csv: the baseline is too large; given: '10737418240 bytes'; allowed: at most 104857600" in output
    assert "MALSIM_LIMITS=baseline=10737418240" in output
    (tmp_path / "x.cells.csv").unlink()
    assert main(["test", "--approve", path, "--yes"]) == 0
    size = held.stat().st_size
    allow(f"baseline={size - 1}")
    assert main(["test", path]) == 2
    allow(f"baseline={size}")
    assert main(["test", path, "--html", "r.html"]) == 0


TRIPWIRE = str(Path(__file__).parents[2] / "scenarios" / "tripwire.toml")
STUDIES = {
    "sweep": ["--grid", "rules.damping=0.2,0.4", "--metric", "cells", "--workers", "1", "--quiet", "--no-plots"],
    "tune": ["--space", "rules.damping=0.2:1", "--require", "always (eff(obs_a1a1) >= 0.3)", "--budget", "32"],
    "sensitivity": ["--metric", "cells", "--points", "8", "--quiet"],
    "falsify": ["--check", "stands", "--budget", "4", "--writes", "1"],
    "tripwire": ["--quick", "--scenario"],
    "compare": ["--laws", "mal,last_write", "--metric", "cells", "--replications", "3"],
}


@pytest.mark.parametrize("command", STUDIES)
def test_studies_refuse_oversized_scenarios(
    command: str, path: str, allow: Allow, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*STUDIES[command], TRIPWIRE] if command == "tripwire" else [path, *STUDIES[command]]
    allow("ticks=2")
    assert main([command, *arguments]) == 2
    assert "MALSIM_LIMITS=ticks=" in "".join(capsys.readouterr())


@pytest.mark.parametrize("command", ["sweep", "tune", "sensitivity", "falsify"])
def test_studies_refuse_too_many_points(command: str, path: str, allow: Allow, capsys: pytest.CaptureFixture[str]) -> None:
    allow("points=1")
    assert main([command, path, *STUDIES[command]]) == 2
    assert "MALSIM_LIMITS=points=" in capsys.readouterr().err


def test_decompression_bombs_are_refused() -> None:
    world = '[[facts]]\nname = "a"\n[[writers]]\nbehaviour = "honest"\n'
    for run, writers, message in (
        ("replications = 1000000", "", "MALSIM_LIMITS=replications=1000000"),
        ("days = 100000\nreplications = 50", "", "MALSIM_LIMITS=ticks=5000000"),
        ("days = 100", "count = 100000\nrate = 1.0", "MALSIM_LIMITS=cells=1000000000"),
        ("days = 1000", 'every = "1ms"', "MALSIM_LIMITS=cells="),
    ):
        with pytest.raises(ScenarioError, match=message):
            check_size(parse(f'why = "x"\n[run]\n{run}\n{world}{writers}\n'))
    check_size(parse(SCENARIO))


def test_environment_variable_sets_any_limit(allow: Allow) -> None:
    names = [limit.name for limit in fields(Limits)]
    allow(",".join(f"{name}={number}" for number, name in enumerate(names)))
    assert [getattr(Limits.of_environment(), name) for name in names] == list(range(len(names)))
    allow("")
    assert Limits.of_environment() == Limits()


@pytest.mark.parametrize("text", ["ticks", "ticks=-1", "ticks=1e6", "tick=5", "=5", "ticks=5;cells=6", "ticks=٣"])
def test_unknown_limit_in_the_environment_is_refused(
    text: str, path: str, allow: Allow, capsys: pytest.CaptureFixture[str]
) -> None:
    allow(text)
    assert main(["run", path]) == 2
    assert "MALSIM_LIMITS: not a valid limit" in capsys.readouterr().err


def test_input_limit_counts_decompressed_bytes(tmp_path: Path, allow: Allow, capsys: pytest.CaptureFixture[str]) -> None:
    """The limit is checked before any table is built."""
    bomb = tmp_path / "claims.csv.gz"
    bomb.write_bytes(gzip.compress(b"writer,object,value\n" + b"a,b,c\n" * 7_000_000))
    small = tmp_path / "few.csv"
    small.write_text("writer,object,value\nann,a,1\n", encoding="utf-8")
    wide = tmp_path / "wide.parquet"
    pl.DataFrame({"writer": ["a"], "object": ["b"], "value": ["c"]}).select(
        pl.all().repeat_by(100_000).explode()
    ).write_parquet(wide)
    for path, allowed, code in ((bomb, 1_000_000, 2), (small, 10, 2), (wide, 1_000_000, 2), (small, 1_000, 0)):
        allow(f"input={allowed}")
        assert main(["compare", str(path), "--json"]) == code, path
        assert ("MALSIM_LIMITS=input=" in capsys.readouterr().err) == (code == 2)


@pytest.mark.parametrize("law", ["mal", "dawid_skene"])
def test_memory_limit_is_checked_before_the_run(
    law: str, tmp_path: Path, allow: Allow, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = tmp_path / "claims.csv"
    rows = [f"w{number % 5},x,v{number}" for number in range(200)]
    claims.write_text("\n".join(["writer,object,value", *rows]), encoding="utf-8")
    replay = ["compare", str(claims), "--laws", law, "--json"]
    allow("memory=1000000")
    assert main(replay) == 2
    assert "too many bytes of memory" in capsys.readouterr().err
    allow("memory=1000000000")
    assert main(replay) == 0
