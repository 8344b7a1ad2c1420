"""Zoo of memory defects: a check and an axiom distinguish each defect from its repair. Axioms also accept stored claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.judging.axioms.engine.axiom import find_axiom
from malsim.judging.axioms.engine.matrix import judge
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.axioms.store_claims import histories, on_claims
from malsim.judging.axioms.zoo import DEFECTS, Defect, sides
from malsim.judging.verdict_table import BROKEN, HOLDS

if TYPE_CHECKING:
    from malsim.judging.axioms.engine.subject import Subject
    from malsim.scenario.judge.judge import Judged

FOLDER = Path(__file__).parents[3] / "scenarios" / "zoo"
DRAWN = [defect for defect in DEFECTS if defect.name in ("recall_speeds_forgetting", "one_quiet_night")]
UNPAIRED = {"latecomer_wins"}  # compares one-way and mutual edges in one file, so it is not in DEFECTS


def under_test(judged: Judged) -> Subject:
    scenario = judged.scenario
    return subject_of(scenario.rules) if scenario.law == "mal" else subject_of(scenario.law, settings=scenario.law_settings)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_check_fails_only_under_the_broken_law(defect: Defect) -> None:
    both = sides(defect)
    assert both.distinguished, both
    assert [outcome.status for outcome in both.healthy.outcomes].count("pass") == len(both.healthy.outcomes) > 0
    assert main(["test", str(defect.path), *defect.options.split()]) == 1
    if defect.axiom:
        assert judge(under_test(both.healthy), find_axiom(defect.axiom)).verdict == HOLDS
        assert judge(under_test(both.broken), find_axiom(defect.axiom)).verdict == BROKEN


@pytest.mark.parametrize("defect", DRAWN, ids=lambda defect: defect.name)
@pytest.mark.parametrize("seed", [20_261, 20_262])
def test_random_defects_are_detected_on_new_seeds(defect: Defect, seed: int) -> None:
    assert sides(defect, seed=seed).distinguished


def test_zoo_folder_has_a_passing_scenario_for_each_defect() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == {defect.name for defect in DEFECTS} | UNPAIRED
    assert main(["test", str(FOLDER)]) == 0


def test_zoo_command_draws_one_figure_per_defect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "--zoo", "egc_sweep"]) == 2
    assert main(["judge", "--zoo", "both_facts_gone", "disputes_ring", "-o", str(tmp_path / "out")]) == 0
    output = capsys.readouterr().out
    assert "broken   fail  mem0_delete" in output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"both_facts_gone.png", "disputes_ring.png"}


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(item) for item in records) + "\n", encoding="utf-8")
    return path


def test_axioms_can_use_claims_from_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    observations = ["listens on 8443", "listens on 9443", "owned by team Rook"]
    history = lines(tmp_path / "memory.jsonl", {"type": "entity", "name": "api", "entityType": "service",
                                             "observations": observations})  # fmt: skip
    (claims,) = histories(history).values()
    assert [claim.value for claim in claims] == observations
    assert [claim.t for claim in claims] == [0.0, 1.0, 2.0]
    assert main(["judge", "membrane", "--on", str(history), "--case", "anchor"]) == 1
    assert "[unknown:mcp on api: " in capsys.readouterr().out
    verdict, again = (
        judge(on_claims([subject_of("graphiti")], history)[0], find_axiom("truth-may-return")) for _ in range(2)
    )
    assert verdict == again
    assert verdict.verdict == BROKEN
    empty = lines(tmp_path / "empty.jsonl", {"type": "entity", "name": "api", "entityType": "service", "observations": []})
    with pytest.raises(UsageError, match="the store contains no claims"):
        histories(empty)
