"""Recorded scores computed anew, what was tampered with named; and Recall's files from the shell."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import malsim
from malsim.cli import main
from malsim.importers.recall.importer import import_recall
from malsim.importers.recall.verify import verify
from malsim.memory import Memory
from malsim.memory.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("untouched")
VECTORS = Path(os.environ.get("MALSIM_VECTORS") or Path(__file__).parents[1] / "vectors")
FOLDER = VECTORS / "recall" if (VECTORS / "recall").is_dir() else VECTORS


def traces(path: Path) -> tuple[bytes, int, list[Path]]:
    return hashlib.sha256(path.read_bytes()).digest(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())


def real() -> list[Path]:
    return sorted(FOLDER.glob("*.sqlite3"))


@pytest.mark.parametrize("path", real(), ids=lambda path: path.stem)
def test_a_real_file_comes_whole_and_its_scores_are_what_the_preset_computes(
    path: Path, recall_cells: list[dict[str, Any]]
) -> None:
    before = traces(path)
    assert import_recall(path).memory.cells.height == len(recall_cells)
    assert verify(path).differing.is_empty()
    assert traces(path) == before


def test_recorded_scores_are_what_the_preset_computes(recall_file: Path) -> None:
    assert verify(recall_file).differing.is_empty()
    assert verify(FOLDER / "sample_recall.json").differing.is_empty()  # no tick is on record there


@pytest.mark.parametrize(
    ("handle", "score", "by", "named"),
    [
        ("tsk_83fd", "effective", 1e-6, {"tsk_83fd"}),
        ("dec_5e22", "effective", -1e-3, {"dec_5e22"}),  # superseded; other orders of edges come to more and to less
        ("rsk_9d6e", "currency", 1e-4, {"rsk_9d6e"}),
        ("obs_c721", "sourceQuality", -0.5, {"obs_c721"}),
    ],
)
def test_a_score_that_was_tampered_with_is_named(
    tmp_path: Path,
    handle: str,
    score: str,
    by: float,
    named: set[str],
    capsys: pytest.CaptureFixture[str],
    recall_database: Callable[..., Path],
) -> None:
    def tamper(cell: dict[str, Any]) -> None:
        if cell["handle"] == handle:
            cell["scores"][score] += by

    path = recall_database(tmp_path / "recall.sqlite3", change=tamper)
    assert set(verify(path).differing["handle"]) == named
    assert main(["verify", str(path)]) == 1
    assert f"  {handle}" in capsys.readouterr().out


def test_an_edge_that_was_taken_out_shows(tmp_path: Path, recall_database: Callable[..., Path]) -> None:
    def cut(cell: dict[str, Any]) -> None:
        if cell["handle"] == "tsk_83fd":
            cell["edgesOut"] = []

    assert "hyp_5002" in set(verify(recall_database(tmp_path / "recall.sqlite3", change=cut)).differing["handle"])


def test_what_is_not_recorded_is_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    shipped = Path(malsim.__file__).parents[1] / "scenarios" / "stores"
    for store in sorted(shipped.glob("*.json")):
        assert main(["verify", str(store)]) == 0, store
    assert "without a recorded effective" in capsys.readouterr().out


def test_import_look_and_verify_from_the_shell(
    recall_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "memory.sqlite")
    assert main(["import", str(recall_file), "-o", out]) == 0
    output = capsys.readouterr().out
    assert "43 cells, 113 edges, 5 writers" in output
    assert "day 0 is 2026-04-01" in output
    assert main(["verify", str(recall_file)]) == 0
    assert "43 cells, 3 ticks: every recorded score" in capsys.readouterr().out
    assert main(["look", out, "--query", "bodies"]) == 0
    assert "sample cell" in capsys.readouterr().out
    assert main(["look", out, "tsk_83fd"]) == 0
    output = capsys.readouterr().out
    assert "overturned by" in output
    assert "= effective" in output
    assert main(["look", out, "--at", "2026-04-04"]) == 0
    assert "4 cells, 7 edges on day 3 (2026-04-04)" in capsys.readouterr().out
    assert main(["look", out, "--at", "400", "--set", "rules.challenge_ceiling=0.45", "--limit", "1"]) == 0
    assert "on day 400 (2027-05-06)" in capsys.readouterr().out
    assert main(["look", out, "--query", "zebra"]) == 0
    assert "holds a word of 'zebra'" in capsys.readouterr().out
    assert main(["look", out, "--at", "-1"]) == 0
    assert "no cell was there yet" in capsys.readouterr().out
    assert main(["look", out, "--at", "soon"]) == 2
    assert main(["look", out, "nothing_0000"]) == 2
    assert main(["look", str(recall_file)]) == 2
    assert main(["verify", str(tmp_path / "gone.sqlite3")]) == 2
    assert main(["import", str(tmp_path / "gone.sqlite3"), "-o", str(tmp_path / "new.sqlite")]) == 2
    assert not (tmp_path / "new.sqlite").exists()
    with Store(out, write=False) as store:
        assert store.ticks.height == 1  # looking left no trace


def test_a_store_primes_another_from_the_shell(
    recall_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared, own = str(tmp_path / "global.sqlite"), str(tmp_path / "project.sqlite")
    assert main(["import", str(recall_file), "-o", shared]) == 0
    assert main(["import", shared, "-o", own]) == 0
    assert "cells new" in capsys.readouterr().out
    memory = Memory.open(own)
    assert memory.cells["writer"].unique().to_list() == ["_init"]
    assert memory.cells["stated"].max() == 0.7
    assert memory.edges.is_empty()
    assert main(["import", str(recall_file), "-o", own]) == 2  # what stands there is not written over
    assert "holds what this memory does not" in capsys.readouterr().err
    assert Memory.open(own).cells.height == memory.cells.height
