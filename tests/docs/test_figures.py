"""Figures of pages: each stands in its page as listed, and at night a second seed gives it again, within its interval."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from malsim.cli import main

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGES: list[dict[str, Any]] = tomllib.loads((HERE / "figures.toml").read_text(encoding="utf-8"))["page"]
WIDER = 2.0**0.5  # two estimates with errors of their own, not one against the truth


def as_printed(number: float) -> str:
    return f"{number:.2f}".removeprefix("0")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page["page"])
def test_they_stand_in_the_page_with_their_seed(page: dict[str, Any]) -> None:
    text = (ROOT / "malsim" / "docs" / page["page"]).read_text(encoding="utf-8")
    assert f"--seed {page['seed']}" in text
    for law, metric, value, low, high in page["rows"]:
        cell = f"{as_printed(value)} [{as_printed(low)}, {as_printed(high)}]"
        line = next(line for line in text.splitlines() if line.startswith(f"| `{law}` |") and cell in line)
        assert line, (law, metric)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page["page"])
def test_a_second_seed_gives_them_again(
    page: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main([*shlex.split(page["command"]), "--seed", str(page["again"])]) == 0
    rows = {(row["law"], row["metric"]): row["value"] for row in json.loads(capsys.readouterr().out)}
    for law, metric, value, low, high in page["rows"]:
        down, up = WIDER * (value - low), WIDER * (high - value)
        assert value - down <= rows[law, metric] <= value + up, (page["page"], law, metric)
