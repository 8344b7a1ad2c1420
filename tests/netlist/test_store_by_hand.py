"""Tests of commands that edit a store: charter, claims, programs and ticks, with days given as dates."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from malsim.cli import main
from malsim.memory.store import Store
from malsim.netlist.shipped import catalogue

STORES = Path(__file__).parents[2] / "scenarios" / "stores"


@pytest.fixture
def store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = tmp_path / "memory.sqlite"
    assert main(["import", str(STORES / "atlas.json"), "-o", str(path)]) == 0
    capsys.readouterr()
    return str(path)


def test_charter_can_be_added_to_an_existing_store(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Expect ten charter cells, a new answer that supersedes the previous one, and a prompt for the next question."""
    assert main(["store", "charter", store, "--answer", "Ship."]) == 0
    words = ["--question", "objective", "--answer", "Ship on Friday.", "--now", "2026-04-02"]
    assert main(["store", "charter", store, *words]) == 0
    assert main(["store", "charter", store]) == 0
    output = capsys.readouterr().out
    assert output.startswith("objective: written as obj_")
    assert "constraints: What" in output
    with Store(store, write=False) as stored:
        chain = stored.memory.chain(stored.memory.row("obj_objective_0006"))
        assert stored.memory.cells["body"].gather(chain).to_list()[1:] == ["Ship.", "Ship on Friday."]
        assert stored.memory.cells.filter(pl.col("writer") == "_init").height == 10
        assert stored.day == 87.0
    assert main(["store", "charter", store, "--answer", " "]) == 2
    assert main(["store", "charter", store, "--answer", "the key is AKIAIOSFODNN7EXAMPLQ"]) == 1
    assert "refused: body screen: possible AWS access key id" in capsys.readouterr().out


def test_unparsable_program_is_refused_with_its_fault(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    program = ["store", "write", store, "--writer", "ann", "--kind", "prg", "--title", "watch it"]
    program += ["--confidence", ".7", "--body"]
    assert main([*program, "addf wotch tick [keys: dec_a3ee]"]) == 1
    assert "did you mean watch" in capsys.readouterr().out
    assert main([*program, "addf watch tick [keys: dec_a3ee]"]) == 0
    assert main([*program, "Watch it twice a day."]) == 1
    with Store(store, write=False) as stored:
        assert stored.verdicts["verdict"].to_list()[-3:] == ["refused", "admitted", "refused"]


def test_tick_prints_the_largest_change_and_the_chosen_signals(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "tick", store, "--now", "2026-04-01", "--signals", "time-to-stale,compaction-pressure"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "day 86: 16 cells, 9 moved, obs_51c0 farthest, by -0.485"
    assert rest[0].startswith("time-to-stale               surfaced  fires on 5 of 16 cells: obs_")
    assert rest[1].strip() == "queue for a refresh before it goes stale"
    assert rest[2].endswith("fires on 0 of 1 run")
    assert main(["store", "tick", store, "--now", "2026-03-01"]) == 2


def test_tick_command_can_read_every_signal(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "tick", store, "--now", "2026-04-01", "--signals", "all"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in catalogue())


def test_write_requires_a_confidence(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["store", "write", store, "--writer", "ann", "--title", "b"])
    assert "--confidence" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "weight"), [("contradicts {} -.8", -0.8), ("supports {}", 1.0)])
def test_edge_has_the_stated_weight_or_the_relation_default(
    words: str, weight: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "s.sqlite")
    assert main(["store", "write", path, "--writer", "ann", "--title", "a", "--confidence", ".7"]) == 0
    handle = capsys.readouterr().out.split()[2].rstrip(",")
    claim = ["store", "write", path, "--writer", "bob", "--title", "b", "--confidence", ".7"]
    assert main([*claim, "--edge", words.format(handle)]) == 0
    with Store(path, write=False) as store:
        cells, (edge,) = store.memory.cells, store.memory.edges.to_dicts()
    assert cells["handle"][edge["target"]] == handle
    assert (edge["relation"], edge["weight"]) == (words.split(maxsplit=1)[0], weight)


def test_invalid_arguments_create_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = tmp_path / "new.sqlite"
    claim = ["store", "write", str(new), "--writer", "ann", "--title", "b", "--confidence", ".7"]
    assert main([*claim, "--now", "2026-01-01"]) == 2
    assert main([*claim, "--edge", "nonsense"]) == 2
    assert not new.exists()
    assert "no date for day 0" in capsys.readouterr().err
    assert main(claim) == 0
    output = capsys.readouterr()
    assert output.err == f"created {new}\n"
    assert output.out.startswith("admitted as obs_")
