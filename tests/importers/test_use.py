"""Use of imported memories: comparison of laws, runs and checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from malsim.cli import main
from malsim.memory.store import Store
from tests.importers.samples import SAMPLES

CHECK = """why = "An imported memory is as it was, and a new claim is weighed beside it."

[run]
days = 3

[[claim]]
at = "1d"
writer = "bob"
handle = "obs_b0b1"
title = "listens on 9000"
confidence = 0.6

[[check]]
name = "it stands"
property = "eventually (eff(obs_b0b1) >= 0.5)"
"""


def mcp(folder: Path) -> Path:
    records: list[dict[str, Any]] = [
        {"type": "entity", "name": "api", "entityType": "service", "observations": ["on 8443", "by Rook", "on 8080"]},
    ]
    path = folder / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def test_comparing_laws_requires_confidences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(mcp(tmp_path))
    assert main(["compare", source, "-o", str(tmp_path / "out")]) == 2
    message = capsys.readouterr().err
    assert "3 of 3" in message
    assert "--confidence" in message
    assert main(["compare", source, "--confidence", "0.7", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["objects"] == 1


def test_scenario_can_start_from_an_imported_memory(tmp_path: Path) -> None:
    source, scenario = mcp(tmp_path), tmp_path / "s.toml"
    scenario.write_text(CHECK, encoding="utf-8")
    assert main(["run", str(scenario), "--from", str(source), "-o", str(tmp_path / "out"), "--no-plots"]) == 0
    cells = pl.read_parquet(tmp_path / "out" / "cells.parquet")
    assert cells["cell"].n_unique() == 4
    theirs = cells.filter(pl.col("cell") != "obs_b0b1")
    assert theirs["effective"].null_count() == theirs.height
    assert main(["test", str(scenario), "--on", str(source)]) == 0
    scenario.write_text(CHECK + f'\n[memory]\nfrom = "{source.name}"\n', encoding="utf-8")
    assert main(["test", str(scenario)]) == 0


def test_run_with_option_from_cannot_be_repeated_by_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, scenario, out = mcp(tmp_path), tmp_path / "s.toml", tmp_path / "out"
    scenario.write_text(CHECK, encoding="utf-8")
    (folder := tmp_path / "folder").mkdir()
    (folder / "MEMORY.md").write_text("- [Port](port.md)\n", encoding="utf-8")
    (folder / "port.md").write_text("---\nname: port\ndescription: listens on 8443\n---\non 8443\n", encoding="utf-8")
    for begun in (source, folder):
        assert main(["run", str(scenario), "--from", str(begun), "-o", str(out), "--no-plots"]) == 0
        assert main(["run", "--manifest", str(out / "manifest.json")]) == 2
        message = capsys.readouterr().err
        assert "does not name" in message
        assert begun.name in message


@pytest.fixture(params=[*SAMPLES, "recall"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "recall":
        path: Path = request.getfixturevalue("recall_database")(tmp_path / "recall.sqlite3")
        return path
    return Path(SAMPLES[request.param](tmp_path))


def test_every_command_accepts_each_format_directly(source: Path, tmp_path: Path) -> None:
    scenario, manifest = tmp_path / "s.toml", tmp_path / "again" / "manifest.json"
    scenario.write_text(CHECK, encoding="utf-8")
    assert main(["compare", str(source), "--confidence", "0.7", "-o", str(tmp_path / "replayed")]) == 0
    assert main(["run", str(scenario), "--from", str(source), "-o", str(tmp_path / "out"), "--no-plots"]) == 0
    assert main(["test", str(scenario), "--on", str(source)]) == 0
    assert main(["judge", "last_write", "--case", "bounds", "--on", str(source)]) == 0
    scenario.write_text(CHECK + f'\n[memory]\nfrom = "{source.name}"\n', encoding="utf-8")
    assert main(["run", str(scenario), "-o", str(manifest.parent), "--no-plots"]) == 0
    assert main(["run", "--manifest", str(manifest)]) == 0
    if source.is_dir():
        (source / "new.md").write_text("- [port] it listens on 9000\n", encoding="utf-8")
        assert main(["run", "--manifest", str(manifest)]) == 2


def test_undated_store_can_be_checked_ticked_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, checks = str(tmp_path / "s.sqlite"), tmp_path / "c.toml"
    assert main(["import", str(mcp(tmp_path)), "-o", store, "--confidence", "0.7"]) == 0
    with Store(store, write=False) as opened:
        handle = opened.memory.cells["handle"][0]
    checks.write_text(f'why = "x"\n[[check]]\nname = "n"\nproperty = "always (eff({handle}) >= 0.5)"\n', encoding="utf-8")
    assert main(["test", "--on", store, str(checks)]) == 0
    checks.write_text(checks.read_text("utf-8").replace(">=", "<"), encoding="utf-8")
    assert main(["test", "--on", store, str(checks)]) == 1
    assert main(["store", "tick", store]) == 0
    capsys.readouterr()
    assert main(["look", store]) == 0
    assert "on 8443" in capsys.readouterr().out
