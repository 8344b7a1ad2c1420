"""What a project's own rules refuse at write, and who may verify another's cell from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from malsim import cli
from malsim.base.errors import RulesError, UsageError
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
def test_drawn_claims_pass_the_same_refusals(rules: Rules) -> None:
    writers = (Population(behaviour="honest", count=2, rate=1.0, settings={"accuracy": 0.9, "noise": 0.0}),)
    run = bench.run(Scenario(facts=(Fact(name="tide"),), writers=writers, days=4.0, replications=1, seed=1, rules=rules))
    texts = run.memory.cells["title"].to_list() + run.memory.cells["body"].to_list()
    assert (run.memory.height == 0) == (rules.sources == "required" or rules.sure_above == 0.4)
    assert not any("claims" in text.split() for text in texts) or rules.banned == ""


def test_only_a_verifier_verifies_anothers_cell_from_outside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = admit(Memory.empty(), [CLAIM]).memory
    with pytest.raises(UsageError, match="no verifier") as error:
        update(memory, "obs_0001", now=1.0, writer="bob", verification="external")
    assert "human" in str(error.value)
    for writer, rules in (
        ("human", Rules()),
        ("bob", Rules(verifiers="eve bob")),
        ("bob", Rules(verifiers="*")),
        ("ann", Rules()),
    ):
        after = update(memory, "obs_0001", now=1.0, writer=writer, rules=rules, verification="external")
        assert after.cells["verification"].to_list() == ["external"]
    assert update(memory, "obs_0001", now=1.0, writer="bob", verification="checked").cells["verification"][0] == "checked"
    path = tmp_path / "memory.sqlite"
    with Store(path) as store:
        store.admit([CLAIM])
    told = ["store", "update", str(path), "obs_0001", "--verification", "external", "--now", "2", "--writer"]
    assert cli.main([*told, "bob"]) == 2
    assert "no verifier" in capsys.readouterr().err
    assert cli.main([*told, "human"]) == 0
    capsys.readouterr()
    assert cli.main(["look", str(path), "obs_0001"]) == 0
    assert "rewritten on day 2 by human: verification" in capsys.readouterr().out


def test_words_of_a_rule_are_a_text() -> None:
    with pytest.raises(RulesError, match="not a text"):
        Rules(banned=3)  # type: ignore[arg-type]
