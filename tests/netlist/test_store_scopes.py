"""Tests that the netlist, addresses and signals of a scope read only claims of that scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from malsim.agents.service import MemoryService
from malsim.cli import main
from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.graph.replicate import only_replication, without
from malsim.memory.store import Store
from malsim.netlist import evaluate, parse
from malsim.netlist.shipped.store_wires import load_all

if TYPE_CHECKING:
    from pathlib import Path

CLAIM = st.tuples(st.integers(0, 2), st.sampled_from(["ann", "bob"]), st.integers(0, 4), st.booleans())


def claims_of(drawn: list[tuple[int, str, int, bool]]) -> list[dict[str, Any]]:
    """Return the drawn claims; a claim may contradict the first claim of its replication."""
    first: dict[int, str] = {}
    claims = []
    for number, (rep, writer, value, contradicts) in enumerate(drawn):
        claim: dict[str, Any] = {
            "rep": rep,
            "writer": writer,
            "t": float(number),
            "title": f"pump is {value}",
            "kind": "obs",
        }
        claim |= {"handle": f"obs_{number:04x}", "confidence": 0.6, "topics": [f"of {rep}"]}
        if contradicts and rep in first:
            claim["edges"] = [{"relation": "contradicts", "target": first[rep], "weight": -1.0}]
        first.setdefault(rep, claim["handle"])
        claims.append(claim)
    return claims


def grown(claims: list[dict[str, Any]]) -> Memory:
    memory = admit(Memory.empty(), claims[: len(claims) // 2]).memory
    return admit(tick(memory, 20.0), claims[len(claims) // 2 :]).memory


@given(drawn=st.lists(CLAIM, max_size=12), rep=st.integers(0, 2))
def test_scope_behaves_like_a_store_with_only_its_claims(drawn: list[tuple[int, str, int, bool]], rep: int) -> None:
    claims = claims_of(drawn)
    whole, half = grown(claims), len(claims) // 2
    separate = admit(Memory.empty(), [claim | {"rep": 0} for claim in claims[:half] if claim["rep"] == rep]).memory
    separate = admit(tick(separate, 20.0), [claim | {"rep": 0} for claim in claims[half:] if claim["rep"] == rep]).memory
    seen = only_replication(whole, rep)
    for name in ("cells", "edges", "writers"):
        assert_frame_equal(getattr(seen, name), getattr(separate, name))
    assert (seen.scanned, without(whole, [])) == (separate.scanned, whole)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memory.sqlite"
    with Store(path) as file:
        for rep, name in enumerate(["everybodys", "anns", "bobs"]):
            assert file.rep_of(name[:3] if rep else "", make=True) == rep
            claim = {"rep": rep, "writer": name, "kind": "obs", "stability": "ephemeral", "confidence": 0.6, "t": 0.0}
            words = [{"title": f"{name} word {number}", "object": name, "topics": [name]} for number in range(rep + 1)]
            file.admit([claim | word for word in words], Rules.governed())
        file.wire(lambda memory, here: load_all(memory, here, [parse("addf time-to-stale tick\n")], Rules()))
        file.tick(30.0, Rules.governed())
    return path


SCOPES = {"everybodys": [], "anns": ["--scope", "ann"], "bobs": ["--scope", "bob"]}


@pytest.mark.parametrize("name", SCOPES)
def test_text_of_another_scope_is_not_read(name: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells, within = 1 + list(SCOPES).index(name), SCOPES[name]
    for command in (
        ["look", store, "--signals", "all"], ["signals", store], ["signals", store, "time-to-stale"],
        ["netlist", "render", store], ["netlist", "value", "cell-title", store],
        ["netlist", "value", "writer-writer", store],
    ):  # fmt: skip
        assert main([*map(str, command), *within]) == 0
        value = capsys.readouterr().out
        assert not [other for other in SCOPES if other != name and other in value], command
    assert main(["netlist", "value", "count(cell-scores-eff)", str(store), *within]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f",0,{cells}"
    assert main(["signals", str(store), "time-to-stale", *within]) == 0
    assert f"of {cells} cell" in capsys.readouterr().out
    with Store(store, write=False) as file:
        lines = file.mini_index(rep=cells - 1).sections.signals
        assert all(f"{cells - 1} more" in line for line in lines) if cells > 1 else lines


def test_server_reads_only_its_scope(store: Path) -> None:
    service = MemoryService(store, scope="ann", clock=lambda: 31.0)
    assert "anns word 1" in service.netlist()
    assert "bobs" not in service.netlist() + service.signals()
    assert "of 2 cells" in service.signals(["time-to-stale"])
    service.close()


def test_unknown_scope_is_refused(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["netlist", "value", "cell-title", str(store), "--scope", "cid"]) == 2
    assert "allowed: ann, bob" in capsys.readouterr().err


def test_store_without_scopes_includes_all_replications(tmp_path: Path) -> None:
    with Store(tmp_path / "m.sqlite") as file:
        file.save(grown(claims_of([(rep, "ann", 1, False) for rep in (0, 1, 2)])))
        assert evaluate("count(cell-scores-eff)", file.within(file.memory))["rep"].to_list() == [0, 1, 2]
