"""Recall database on the command line: import, display, and priming of another store."""

from __future__ import annotations

from pathlib import Path

import pytest

from malsim.cli import main
from malsim.memory import Memory
from malsim.memory.store import Store

pytestmark = pytest.mark.usefixtures("untouched")


def test_shell_imports_and_shows_a_database(recall_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "memory.sqlite")
    assert main(["import", str(recall_file), "-o", out]) == 0
    output = capsys.readouterr().out
    assert "43 cells, 113 edges, 5 writers" in output
    assert "day 0 is 2026-04-01" in output
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
    assert "contains a word of 'zebra'" in capsys.readouterr().out
    assert main(["look", out, "--at", "-1"]) == 0
    assert "no cells yet" in capsys.readouterr().out
    assert main(["look", out, "--at", "soon"]) == 2
    assert main(["look", out, "nothing_0000"]) == 2
    assert main(["look", str(recall_file)]) == 2
    assert main(["import", str(tmp_path / "gone.sqlite3"), "-o", str(tmp_path / "new.sqlite")]) == 2
    assert not (tmp_path / "new.sqlite").exists()
    with Store(out, write=False) as store:
        assert store.ticks.height == 1  # `malsim look` does not write to the store


def test_import_command_primes_a_store_from_another_store(
    recall_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared, project = str(tmp_path / "global.sqlite"), str(tmp_path / "project.sqlite")
    assert main(["import", str(recall_file), "-o", shared]) == 0
    assert main(["import", shared, "-o", project]) == 0
    assert "new cells" in capsys.readouterr().out
    memory = Memory.open(project)
    assert memory.cells["writer"].unique().to_list() == ["_init"]
    assert memory.cells["stated"].max() == 0.7
    assert memory.edges.is_empty()
    assert main(["import", str(recall_file), "-o", project]) == 2  # refuses to overwrite another memory
    assert "holds data that this memory lacks" in capsys.readouterr().err
    assert Memory.open(project).cells.height == memory.cells.height
