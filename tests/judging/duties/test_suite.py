"""The duty suite gives each reference memory its known verdicts and finds exactly the planted failures."""

from __future__ import annotations

import pytest

from malsim.judging.duties.engine.assessment import Conformance, assess_all, memory_of
from malsim.judging.duties.engine.step import OBLIGATION, PROHIBITION
from malsim.judging.duties.plots import every_duty
from malsim.judging.duties.references import REFERENCES
from malsim.judging.verdict_table import ERROR, FAILS, HOLDS, NOT_OFFERED, VACUOUS
from tests.judging.duties.planted import PLANTED

FEW = 3  # number of draws per cell; the nightly test uses all draws
FAILING = ["nothing", "append", "overwrite"]


@pytest.fixture(scope="module")
def references() -> Conformance:
    return assess_all([memory_of(name) for name in REFERENCES], draws=FEW)


def test_duties_have_19_obligations_and_38_prohibitions() -> None:
    kinds = [cell.kind for cell in every_duty().values()]
    assert (kinds.count(OBLIGATION), kinds.count(PROHIBITION)) == (19, 38)
    assert all(any(step.control for step in cell.steps) == (cell.kind == PROHIBITION) for cell in every_duty().values())


def test_reference_memories_get_their_known_verdicts(references: Conformance) -> None:
    assert len(references.of("governed", HOLDS)) == 56
    counts = {name: (len(references.of(name)), 57 - len(references.of(name, NOT_OFFERED))) for name in FAILING}
    assert counts == {"nothing": (9, 25), "append": (20, 25), "overwrite": (14, 25)}
    assert not references.having(ERROR)
    kinds = {item.kind for item in references.verdicts if item.memory == "nothing" and item.verdict == VACUOUS}
    assert (kinds, references.of("nothing", HOLDS)) == ({PROHIBITION}, [])
    assert set(references.of("append")) - set(references.of("overwrite")) >= {"change.B", "change.C"}


@pytest.mark.parametrize("memory", PLANTED, ids=lambda memory: memory.__name__)
def test_planted_defect_fails_exactly_the_expected_duties(memory: type) -> None:
    (failing, vacuous), name = PLANTED[memory], memory.__name__
    table = assess_all([memory_of(memory)], draws=FEW)
    assert (set(table.of(name)), set(table.of(name, VACUOUS))) == (failing, vacuous)
    assert len(table.of(name, HOLDS)) == 56 - len(failing) - len(vacuous)


def test_all_duties_except_two_have_a_planted_defect() -> None:
    assert set(every_duty()) - set().union(*(failing for failing, _ in PLANTED.values())) == {"F1", "K6"}


def test_witness_lists_the_calls_that_led_to_the_failure(references: Conformance) -> None:
    failed = references.having(FAILS)
    assert {item.memory for item in failed} == set(FAILING)
    for item in failed:
        assert len(item.calls.splitlines()) <= 6
    item = references.at("append", "change.B")
    old = item.why.split(": ", 1)[1].split(" must be")[0]
    calls = item.calls.splitlines()
    assert any(" write " in line and f"value='{old}'" in line for line in calls)
    assert any(" ask " in line and line.endswith(f"# {old} not current") for line in calls)


@pytest.mark.nightly
@pytest.mark.parametrize("memory", [*REFERENCES, *PLANTED])
def test_verdicts_do_not_depend_on_seed_or_number_of_draws(memory: object) -> None:
    few, all_ = assess_all([memory_of(memory)], draws=FEW), assess_all([memory_of(memory)], seed=7)
    assert [item.verdict for item in few.verdicts] == [item.verdict for item in all_.verdicts]
