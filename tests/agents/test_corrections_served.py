"""Corrections and erasure by a person, on the command line and over MCP."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from malsim.agents.service import MemoryService, verdict_text
from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.judging.duties.engine.assessment import assess_all, memory_of
from malsim.memory import Rules
from malsim.memory.store import open_memory

pytest.importorskip("mcp", reason="the extra agents is not installed")

from tests.agents.test_server import answers_to

GOVERNED = Rules.governed()


def service(path: Path, writer: str, *, person: bool = False, day: float = 5.0) -> MemoryService:
    return MemoryService(path, writer=writer, rules=GOVERNED, clock=lambda: day, person=person)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a store in which bob claims a port, and cid derives a cell from that claim with a higher confidence."""
    store = tmp_path / "m.sqlite"
    bob, cid = service(store, "bob", day=1.0), service(store, "cid", day=2.0)
    first = bob.claim("the port is 8080", 0.8, object="port", value=8080.0)["handle"]
    cid.claim("open 8080 in the wall", 0.9, edges=[{"relation": "derived_from", "target": first}])
    return store


def handle(path: Path, title: str) -> str:
    return str(open_memory(path).cells.filter(title=title)["handle"][0])


def test_no_writer_can_restate_what_a_person_corrected(path: Path) -> None:
    port = handle(path, "the port is 8080")
    right = {"cell": port, "title": "the port is 9090", "value": 9090}
    (corrected, pushed) = answers_to(
        lambda: service(path, "ann", person=True), ("correct", right), ("push", {"objective": "port wall"})
    )
    assert corrected.startswith("admitted as obs_")
    assert f"retracted: {port} {handle(path, 'open 8080 in the wall')}" in corrected
    assert "9090" in pushed
    assert "8080" not in pushed
    again = {"title": "it is 8080, I am sure", "confidence": 0.8, "object": "port", "value": 8080}
    same_title = {"title": "The  port is 80\u200b80", "confidence": 0.8}
    from_it = {"title": "the wall lets it in", "confidence": 0.8, "edges": [{"relation": "derived_from", "target": port}]}
    known = {"title": "the port is 9090", "confidence": 0.6}
    answers = answers_to(
        lambda: service(path, "dan", day=6.0), *(("claim", claim) for claim in (again, same_title, from_it, known))
    )
    assert [answer.split()[0] for answer in answers] == ["refused:", "refused:", "refused:", "collided"]
    assert "8080" not in str(service(path, "dan", day=6.0).push("port wall"))


def test_server_fulfils_all_testable_duties(tmp_path: Path) -> None:
    command = f"{sys.executable} -m malsim agent serve {tmp_path / 'm.sqlite'} --rules governed --as-person ann"
    table = assess_all([memory_of(f"mcp:{command}")], draws=1)
    (memory,) = table.memories
    assert not table.of(memory)
    assert not table.errors
    unasked = {*table.of(memory, "not offered")}
    assert {"change.D", "K1", "S8", "T2", "F8", "change.C'"} <= unasked
    assert {"change.B", "mistake.C'", "retraction.B", "F3", "K4", "K5"} <= {*table.of(memory, "holds")}


def test_shell_commands_correct_and_forget_cells(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = handle(path, "the port is 8080")
    by = ["--by", "ann", "--rules", "governed"]
    assert main(["store", "correct", str(path), port, *by, "--instead", "the port is 9090", "--value", "9090"]) == 0
    assert re.match(r"admitted as obs_\w+, .*\n  retracted: ", capsys.readouterr().out)
    assert main(["store", "forget", str(path), handle(path, "the port is 9090"), *by]) == 0
    assert capsys.readouterr().out == "1 cell erased; the gate refuses the value from now on\n"
    for value in (8080.0, 9090.0):
        assert service(path, "dan").claim("so it is", 0.5, object="port", value=value)["verdict"] == "refused"
    assert main(["store", "forget", str(path), port, "--by", "a b"]) == 2
    assert main(["store", "correct", str(path), "obs_none", "--by", "ann"]) == 2
    assert main(["store", "forget", str(path.with_name("none.sqlite")), port, "--by", "ann"]) == 2


def test_forgotten_value_is_refused_afterwards(path: Path) -> None:
    person, port = service(path, "ann", person=True), handle(path, "the port is 8080")
    assert person.forget(port).startswith("2 cells erased")
    with pytest.raises(UsageError):
        person.forget(port)
    assert service(path, "dan").claim("so it is", 0.5, object="port", value=8080.0)["verdict"] == "refused"
    assert service(path, "dan").claim("the port is 8080", 0.5)["verdict"] == "refused"


def test_agent_corrects_only_its_own_cells(path: Path) -> None:
    port = handle(path, "the port is 8080")
    others = service(path, "dan").correct(port, "the port is 7070", 0.6, value=7070.0, object="port")
    assert any("does not let" in note or "do not let" in note for note in others["notes"])
    assert open_memory(path).cells.filter(handle=port)["status"][0] == "active"
    with pytest.raises(UsageError, match="not allowed to retract"):
        service(path, "dan").forget(port)
    corrected = service(path, "bob").correct(port, "the port is 9090", 0.6, value=9090.0)
    assert corrected["fell"] == [port, handle(path, "open 8080 in the wall")]
    assert service(path, "dan").claim("so it is", 0.5, object="port", value=8080.0)["verdict"] == "refused"


def test_agent_cannot_use_the_name_of_a_person(path: Path) -> None:
    with pytest.raises(UsageError, match="cannot act as a person"):
        service(path, "human")
    assert main(["agent", "serve", str(path), "--writer", "human"]) == 2


def test_only_verifiers_may_verify_externally(path: Path) -> None:
    claim = {"title": "the pump hums", "confidence": 0.95, "verification": "external"}
    (refused,) = answers_to(lambda: service(path, "dan"), ("claim", claim))
    assert "may not verify" in refused
    assert "human" in refused
    assert len(refused) <= 300
    by_person = service(path, "ann", person=True).claim("the pump hums", 0.95, verification="external")
    assert by_person["stated"] == 0.95
    granted = MemoryService(path, writer="dan", rules=GOVERNED.replace(verifiers="human dan"), clock=lambda: 5.0)
    assert granted.claim("the pump sings", 0.95, verification="external")["stated"] == 0.95


def test_secret_claim_is_reported_as_suppressed(path: Path) -> None:
    verdict = service(path, "dan").claim("a quiet remark", 0.5, sensitivity="secret")
    assert verdict_text(verdict).startswith("suppressed: admitted as obs_")


def test_correction_to_the_same_value_is_refused(path: Path) -> None:
    person = service(path, "ann", person=True)
    with pytest.raises(UsageError, match="the new value is the same as the rejected value"):
        person.correct(handle(path, "the port is 8080"), "it is 8080 after all", None, value=8080.0)
