"""Tests of `malsim store update`: the editor is recorded, texts are screened, and a refused update changes nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from malsim.base.errors import StoreError, UsageError
from malsim.base.screen.credentials import stand_in
from malsim.cli import main
from malsim.memory.gate.edit import update
from malsim.memory.store import Store
from malsim.scenario.history.store_history import store_history
from malsim.sim.settings.scenario import Scenario


@pytest.fixture
def path(tmp_path: Path) -> str:
    with Store(tmp_path / "m.sqlite") as store:
        store.admit([{"handle": "dec_a3ee", "writer": "ann", "title": "use SQLite", "confidence": 0.9}])
        store.tick(30.0)
    return str(tmp_path / "m.sqlite")


def test_update_rewrites_and_reinforces_a_cell(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--verification", "checked", "--body", "measured again", "--topics", "store,speed"]
    assert main(["store", "update", path, "dec_a3ee", "--writer", "bob", *options]) == 0
    assert "updated by bob on day 30" in capsys.readouterr().out
    with Store(path, write=False) as store:
        cell = store.memory.cells.row(0, named=True)
        assert store.ticks["deed"].to_list() == ["admit", "tick", "update"]
        assert store.at(29.0).cells["body"].to_list() != [cell["body"]]
    assert (cell["verification"], cell["body"], cell["topics"], cell["touched"]) == (
        "checked", "measured again", ["store", "speed"], 30.0,
    )  # fmt: skip


def test_editor_is_recorded_and_shown(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["store", "update", path, "dec_a3ee", "--writer", "bob", "--body", "measured", "--verification", "checked"])
    main(["store", "update", path, "dec_a3ee", "--writer", "cy", "--body", "measured again", "--now", "41"])
    with Store(path) as store:
        assert store.ticks["writer"].to_list() == [None, None, "bob", "cy"]
        store.save(update(store.memory, "dec_a3ee", now=50.0, summary="fast"))
        assert store.updates("dec_a3ee").rows() == [
            (30.0, "body", "bob"), (30.0, "verification", "bob"), (41.0, "body", "cy"), (50.0, "summary", None),
        ]  # fmt: skip
    bob, cy = "rewritten on day 30 by bob: body, verification\n", "rewritten on day 41 by cy: body\n"
    capsys.readouterr()
    for command in ("why", "look"):
        assert main([command, path, "dec_a3ee"]) == 0
        output = capsys.readouterr().out
        assert f"  {bob}  {cy}  rewritten on day 50 by an unknown writer: summary\n" in output
        assert main([command, path, "dec_a3ee", "--at", "35"]) == 0
        output = capsys.readouterr().out
        assert bob in output
        assert cy not in output
    assert main(["look", path, "dec_a3ee#body"]) == 0
    assert capsys.readouterr().out == "measured again\n"
    events = store_history(Path(path), Scenario()).events.filter(pl.col("kind") == "updated")
    assert events.select("subject", "detail", "cause").row(1) == ("dec_a3ee", "body", "cy")


def test_why_under_the_records_law_names_the_editor_of_a_claim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "m.sqlite")
    claim = {"writer": "ann", "kind": "obs", "object": "pump", "value": 1.0, "confidence": 0.8}
    with Store(path) as store:
        store.admit([{**claim, "handle": f"obs_000{n}", "title": f"claim {n}", "t": float(n)} for n in range(2)])
    main(["store", "update", path, "obs_0001", "--writer", "human", "--verification", "external", "--now", "9"])
    capsys.readouterr()
    assert main(["why", path, "obs_0001", "--law", "records"]) == 0
    output = capsys.readouterr().out
    assert "verified" in output
    assert output.endswith("  rewritten on day 9 by human: verification\n")
    assert main(["why", path, "obs_0001", "--law", "records", "--at", "5"]) == 0
    output = capsys.readouterr().out
    assert "rewritten" not in output
    assert "verified" not in output


def test_saved_memory_names_its_editor(path: str) -> None:
    with Store(path) as store:
        store.save(update(store.memory, "dec_a3ee", now=31.0, body="anew", writer="bob"), t=31.0, writer="bob")
        update(store.memory, "dec_a3ee", now=32.0, summary="fast").save(path, t=32.0, writer="cy")
        for writer in ("", " ", stand_in("GitHub token")):
            with pytest.raises(UsageError) as refused:
                store.save(update(store.memory, "dec_a3ee", now=33.0, body="else"), writer=writer)
            assert stand_in("GitHub token") not in str(refused.value)
        assert store.updates("dec_a3ee").rows() == [(31.0, "body", "bob"), (32.0, "summary", "cy")]


@pytest.mark.parametrize(
    "options",
    [
        ["--writer", "bob"],
        ["--writer", "bob", "--body", f"the token is {stand_in('GitHub token')}"],
        ["--writer", stand_in("GitHub token"), "--body", "fine"],
        ["--writer", "", "--verification", "checked"],
        ["--writer", " ", "--body", "fine"],
        ["--writer", "bob", "--verification", "sworn"],
        ["--writer", "bob", "--stability", "forever"],
        ["--writer", "bob", "--body", "half a letter \udc80"],
        ["--writer", "bob", "--topics", "pump,\udc80"],
        ["--writer", "\udc80", "--body", "fine"],
        ["--writer", "bob", "--body", "no\0"],
        ["--writer", "bob", "--body", "fine", "--now", "nan"],
        ["--writer", "bob", "--body", "fine", "--now", "inf"],
    ],
)
def test_refused_update_changes_nothing(options: list[str], path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "update", path, "dec_a3ee", *options]) == 2
    output = "".join(capsys.readouterr())
    assert "this is a bug" not in output
    assert stand_in("GitHub token") not in output
    with Store(path, write=False) as store:
        assert store.ticks["deed"].to_list() == ["admit", "tick"]


@pytest.mark.parametrize(
    "command",
    [
        ["look", "STORE", "--limit", "-1"],
        ["look", "STORE", "dec_a3ee", "--rep", "9" * 400],
        ["why", "STORE", "dec_a3ee", "--rep", "9" * 400],
        ["why", "STORE", "\udc80"],
        ["why", "STORE", "\udc80", "--law", "records"],
        ["store", "tick", "STORE", "--now", "1e999"],
        ["export", "STORE", "--as", "recall", "-o", "OUT.json"],
        ["export", "STORE", "--as", "recall", "-o", "OUT.db"],
        ["import", "STORE", "-o", "no\0"],
        ["netlist", "check", "no\0"],
    ],
)
def test_invalid_argument_is_a_usage_error_and_creates_no_file(
    command: list[str], path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(path) as store:
        store.tick(1e9)
        store.update("dec_a3ee", writer="bob", now=1e9, body="in a million years")
    files = sorted(tmp_path.iterdir())
    assert main([word.replace("STORE", path).replace("OUT", str(tmp_path / "out")) for word in command]) == 2
    assert "this is a bug" not in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == files


def test_store_name_with_nul_is_refused() -> None:
    for write in (True, False):
        with pytest.raises(StoreError, match="a path cannot contain a NUL character"):
            Store("no\0", write=write)


def test_update_does_not_create_a_store(tmp_path: Path) -> None:
    assert main(["store", "update", str(tmp_path / "none.sqlite"), "dec_a3ee", "--writer", "bob", "--body", "x"]) == 2
    assert not list(tmp_path.iterdir())
