"""Tests of a project's rules for writing: required sources, banned words, verifiers, and the screening of updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from malsim import cli
from malsim.base.errors import RulesError, UsageError
from malsim.base.screen.credentials import stand_in
from malsim.memory import Memory, Rules, admit
from malsim.memory.gate.edit import update
from malsim.memory.store import Store
from malsim.sim import bench
from malsim.sim.settings.population import Population
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact

if TYPE_CHECKING:
    from pathlib import Path

CLAIM = {"handle": "obs_0001", "writer": "ann", "title": "pump 3 runs", "confidence": 0.6, "t": 0.0}
BANNED = Rules(banned="secretly foo* C++")


@pytest.mark.parametrize(
    ("rules", "more", "path"),
    [
        (BANNED, {"title": "Secretly, it runs"}, "title"),
        (BANNED, {"body": "we use c++ here"}, "body"),
        (BANNED, {"summary": "about foo*"}, "summary"),
        (BANNED, {"title": "run in secretlyish ways"}, None),
        (Rules(sources="required"), {}, "source_refs"),
        (Rules(sources="required"), {"source_refs": ["log:41"]}, None),
        (Rules(sure_above=0.5), {}, "confidence"),
        (Rules(sure_above=0.5), {"verification": "checked"}, None),
        (Rules(sure_above=0.6), {}, None),
        (Rules(), {"title": "secretly", "confidence": 1.0}, None),
    ],
)
def test_gate_refuses_what_the_rules_forbid(rules: Rules, more: dict[str, Any], path: str | None) -> None:
    memory, verdicts = admit(Memory.empty(), [CLAIM | more], rules)
    assert memory.height == (path is None)
    assert [issue["path"] for issue in verdicts["issues"][0]] == ([] if path is None else [path])


@pytest.mark.parametrize(
    "rules", [Rules(sources="required"), Rules(sure_above=0.4), Rules(banned="claims"), Rules(sure_above=0.95)]
)
def test_gate_applies_write_rules_to_simulated_claims(rules: Rules) -> None:
    writers = (Population(behaviour="honest", count=2, rate=1.0, settings={"accuracy": 0.9, "noise": 0.0}),)
    run = bench.run(Scenario(facts=(Fact(name="tide"),), writers=writers, days=4.0, replications=1, seed=1, rules=rules))
    texts = run.memory.cells["title"].to_list() + run.memory.cells["body"].to_list()
    assert (run.memory.height == 0) == (rules.sources == "required" or rules.sure_above == 0.4)
    assert not any("claims" in text.split() for text in texts) or rules.banned == ""


def test_verifying_another_writers_cell_needs_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = admit(Memory.empty(), [CLAIM]).memory
    with pytest.raises(UsageError, match="may not verify") as error:
        update(memory, "obs_0001", now=1.0, writer="bob", verification="external")
    assert "human" in str(error.value)
    allowed = (("human", Rules()), ("bob", Rules(verifiers="eve bob")), ("bob", Rules(verifiers="*")), ("ann", Rules()))
    for writer, rules in allowed:
        after = update(memory, "obs_0001", now=1.0, writer=writer, rules=rules, verification="external")
        assert after.cells["verification"].to_list() == ["external"]
    assert update(memory, "obs_0001", now=1.0, writer="bob", verification="checked").cells["verification"][0] == "checked"
    path = tmp_path / "memory.sqlite"
    with Store(path) as store:
        store.admit([CLAIM])
    command = ["store", "update", str(path), "obs_0001", "--verification", "external", "--now", "2", "--writer"]
    assert cli.main([*command, "bob"]) == 2
    assert "may not verify" in capsys.readouterr().err
    assert cli.main([*command, "human"]) == 0
    capsys.readouterr()
    assert cli.main(["look", str(path), "obs_0001"]) == 0
    assert "rewritten on day 2 by human: verification" in capsys.readouterr().out


def test_update_is_screened_and_needs_a_writer(tmp_path: Path) -> None:
    token = stand_in("GitHub token")
    memory = admit(Memory.empty(), [CLAIM | {"sensitivity": "public"}]).memory
    for fields in ({"body": f"use {token}"}, {"topics": ["a", token]}, {"writer": token, "body": "z"}):
        with pytest.raises(UsageError, match="screen: possible GitHub token") as refused:
            update(memory, "obs_0001", now=1.0, **fields)
        assert token not in str(refused.value)
    with pytest.raises(UsageError, match="email address"):
        update(memory, "obs_0001", now=1.0, summary="ask ann@example.org")
    with pytest.raises(UsageError, match="the verifier is missing"):
        update(memory, "obs_0001", now=1.0, verification="checked")
    with Store(tmp_path / "a.db") as store:
        store.admit([CLAIM])
        store.tick(5.0)
        assert store.update("obs_0001", writer="bob", now=6.0, body="replaced").cells["touched"][0] == 6.0
        assert store.memory.cells["body"][0] == "replaced"


def test_banned_words_must_be_text() -> None:
    with pytest.raises(RulesError, match="not a string"):
        Rules(banned=3)  # type: ignore[arg-type]
