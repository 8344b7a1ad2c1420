"""A check kind of one's own: a class, its row in `KINDS` and its keys in the schema are enough for every command."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, fields
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

from malsim.cli import main
from malsim.scenario.checks.checks import KINDS
from malsim.scenario.checks.kind import KindCheck
from malsim.scenario.file import json_schema
from malsim.scenario.file.json_schema import scenario_schema

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from malsim.scenario.properties import Trace
    from malsim.sim.run import Run

SCENARIO = """why = "three claims at most"
seed = 1

[run]
days = 3

[[claim]]
at = "1d"
writer = "ann"
title = "up"
handle = "obs_a1b2"
confidence = 0.6

[[check]]
name = "few cells"
cells = "obs"
most = {most}
"""


@dataclass(frozen=True)
class Count:
    """How many there are, and how many there may be."""

    count: int
    most: int

    @property
    def passed(self) -> bool:
        return self.margin >= 0

    @property
    def margin(self) -> float:
        return self.most - self.count

    @property
    def replication(self) -> int:
        return 0

    def __str__(self) -> str:
        return f"{self.count} of {self.most} cells"


@dataclass(frozen=True, kw_only=True)
class CountCheck(KindCheck):
    """At most so many cells whose handle begins with a kind."""

    cells: str
    most: float

    @classmethod
    def read(cls, given: Mapping[str, Any], line: int, where: str) -> CountCheck:  # noqa: ARG003
        return cls(**given, property=f"at most {given['most']}", line=line)

    def result(self, run: Run, trace: Trace) -> Count:  # noqa: ARG002
        return Count(sum(str(name).startswith(self.cells) for name in run.cells["cell"].unique()), int(self.most))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = deepcopy(scenario_schema())
    keys = schema["properties"]["check"]["items"]["properties"]
    keys |= {"cells": {"type": "string"}, "most": {"type": "number"}}
    monkeypatch.setitem(KINDS, "cells", CountCheck)
    monkeypatch.setattr("malsim.scenario.file.scenario_file.scenario_schema", lambda: schema)


@pytest.mark.usefixtures("counted")
def test_a_kind_of_ones_own_is_tested_with_its_margin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for most, code, text in ((2, 0, "1 passed"), (0, 1, "1 of 0 cells")):
        path = tmp_path / f"most_{most}.toml"
        path.write_text(SCENARIO.format(most=most))
        assert main(["test", str(path), "--html", str(tmp_path / "page.html"), "--junit", str(tmp_path / "j.xml")]) == code
        assert text in capsys.readouterr().out
    path.write_text(SCENARIO.format(most=0).replace("most = 0\n", ""))
    assert main(["test", str(path)]) == 2
    assert "'most' is missing" in capsys.readouterr().out


def test_the_schema_has_the_keys_of_every_kind() -> None:
    text = resources.files(json_schema.__package__).joinpath("data", "check.schema.json").read_text(encoding="utf-8")
    keys = json.loads(text)["check"]["items"]["properties"]
    assert {"property", "name", "share"} | {key for kind in KINDS.values() for key in _own(kind)} == set(keys)


def _own(kind: type[KindCheck]) -> set[str]:
    return {each.name for each in fields(kind)} - {each.name for each in fields(KindCheck)}


@pytest.mark.usefixtures("counted")
def test_a_kind_of_ones_own_is_asked_of_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, checks = str(tmp_path / "memory.sqlite"), tmp_path / "checks.toml"
    claim = ["--writer", "ann", "--title", "up", "--confidence", ".7", "--source", "log", "--now", "1"]
    assert main(["store", "write", store, *claim]) == 0
    checks.write_text('why = "none"\n\n[[check]]\nname = "no cells"\ncells = "obs"\nmost = 0\n')
    assert main(["test", str(checks), "--on", store]) == 1
    assert "2 of 0 cells" in capsys.readouterr().out  # one of the ten cells of a new store is an observation too
