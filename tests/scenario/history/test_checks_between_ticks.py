"""Checks on a store read what a reader saw: after an admission, what a tick would have given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from malsim import Store
from malsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def test_a_check_fails_on_a_contradiction_before_any_tick(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, checks = tmp_path / "m.sqlite", tmp_path / "checks.toml"
    claim = {
        "kind": "dec",
        "handle": "dec_a3ee",
        "writer": "ann",
        "title": "x",
        "confidence": 0.9,
        "verification": "external",
    }
    against = {"kind": "obs", "writer": "bob", "title": "y", "confidence": 1.0, "verification": "external", "t": 2.0,
               "edges": [{"relation": "contradicts", "target": "dec_a3ee"}]}  # fmt: skip
    with Store(path) as store:
        store.admit([claim])
        store.tick(1.0)
        store.admit([against])
    text = 'why = "x"\n[[check]]\nname = "stands"\nproperty = "always (eff(dec_a3ee) >= 0.8)"\n'
    checks.write_text(text, encoding="utf-8")
    assert main(["test", str(checks), "--on", str(path)]) == 1
    assert "fail" in capsys.readouterr().out
    with Store(path) as store:
        assert store.memory.cells["effective"][0] == pytest.approx(0.443, abs=1e-3)
