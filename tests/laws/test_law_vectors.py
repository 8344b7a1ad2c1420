"""Every law reproduces its recorded scores within 1e-9."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from malsim.laws import plant_of
from malsim.laws.engine.play import run_events

FOLDER = Path(os.environ.get("MALSIM_VECTORS") or Path(__file__).parents[1] / "vectors" / "laws")
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}


def recorded(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize("name", [name for name, path in FILES.items() if "law" in recorded(path)])
def test_law_reproduces_every_recorded_peek(name: str) -> None:
    data = recorded(FILES[name])
    for case in data["cases"]:
        peeks = run_events(plant_of(data["law"]), case["events"])
        assert len(peeks) == len(case["peeked"]), case["case"]
        for number, (peek, expected) in enumerate(zip(peeks, case["peeked"], strict=True)):
            scores = sorted(peek)
            where = f"{case['case']}, peek {number}"
            assert [value for value, _ in scores] == [value for value, _ in expected], where
            for (_, score), (_, wanted) in zip(scores, expected, strict=True):
                assert score == pytest.approx(wanted, rel=0.0, abs=1e-9), where


def test_law_vectors_exist() -> None:
    assert FILES, f"no recorded events in {FOLDER}"
