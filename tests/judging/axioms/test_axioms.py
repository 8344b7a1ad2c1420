"""Axiom tests: planted defects are found, defect-free memories pass, and each law breaks exactly the recorded axioms."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

import malsim as ms
from malsim.base.errors import AdapterError, LawError, ScenarioError, UsageError
from malsim.cli import main
from malsim.judging.axioms import check
from malsim.judging.axioms.engine.axiom import find_axiom, shipped_axioms
from malsim.judging.axioms.engine.events import event_table
from malsim.judging.axioms.engine.matrix import judge, matrix
from malsim.judging.axioms.engine.subjects import every_subject, subject_of
from malsim.judging.verdict_table import BROKEN, ERROR, HOLDS, N_A
from tests.judging.axioms.planted.defects import Compounds, PageShares
from tests.judging.axioms.planted.detection import DEFECTS, SOUND, detection
from tests.judging.axioms.planted.sound import Sound
from tests.judging.axioms.recorded import KNOWN

if TYPE_CHECKING:
    from pathlib import Path

SUBJECTS = {subject.name: subject for subject in every_subject()}

FRESH = 20_261_125  # seed that was not used when the streams were tuned

test_defect_free_memory_breaks_no_axiom = check(Sound)


@pytest.mark.parametrize("memory", SOUND)
def test_defect_free_memories_satisfy_every_axiom(memory: type[Sound]) -> None:
    assert not matrix([subject_of(memory)], seed=FRESH).broken
    assert not matrix([subject_of(memory)], seed=FRESH + 1).errors


@pytest.mark.parametrize("defect", DEFECTS.values())
def test_planted_defect_breaks_its_axiom(defect: type[Sound]) -> None:
    verdict = judge(subject_of(defect), find_axiom(defect.axiom), seed=FRESH)
    assert verdict.verdict == BROKEN, verdict
    assert verdict.why
    assert verdict.witness[-1].do == "peek"


def test_every_axiom_has_a_planted_defect() -> None:
    assert {defect.axiom for defect in DEFECTS.values()} == set(shipped_axioms())


def test_detection_rates_have_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    found = detection(["stated", "unsaid"], seeds=(FRESH, FRESH + 1))
    defects = [sum(defect.axiom == axiom for defect in DEFECTS.values()) for axiom in ("stated", "unsaid")]
    assert found.rates["searches"].to_list() == [2 * count for count in (*defects, sum(defects))]
    assert (found.rates["found_low"] < found.rates["found"]).all()
    assert (found.not_found, found.alarms) == ([], ())
    assert main(["judge", "--planted", "--case", "stated", "--draws", "5"]) == 0
    assert "searches of 5 streams" in capsys.readouterr().out
    assert main(["judge", "mal", "--planted"]) == main(["judge", "--draws", "0"]) == 2
    with pytest.raises(UsageError, match="out of bounds"):
        ms.axioms("mal", streams=0)


def test_trivial_memories_break_the_headline_axioms() -> None:
    echo = ms.axioms("last_write", axiom="echo-independence")
    assert echo.broken
    assert "B, claimed 1 time by one writer" in str(echo)
    assert ms.axioms("sequential", axiom="truth-may-return").broken
    assert ms.axioms("majority", axiom="truth-may-return").broken
    assert not ms.axioms("majority", axiom="echo-independence").broken


@pytest.mark.parametrize("law", list(SUBJECTS))
def test_every_shipped_law_breaks_exactly_the_recorded_axioms(law: str) -> None:
    table = matrix([SUBJECTS[law]])
    assert not table.errors
    assert set(table.of(law)) == set(KNOWN.get(law, ()))


def test_every_recorded_break_has_a_reason() -> None:
    assert set(KNOWN) <= set(SUBJECTS)
    assert all(reason for axioms in KNOWN.values() for reason in axioms.values())


def test_witness_is_small_and_repeatable() -> None:
    item, two = (ms.axioms("graphiti", axiom="truth-may-return") for _ in range(2))
    assert item.verdicts == two.verdicts
    assert [event.do for event in item.broken[0].witness] == ["write", "write", "write", "peek"]
    assert len(ms.axioms("mem0_delete", axiom="total-evidence").broken[0].witness) <= 4
    echo = ms.axioms("graphiti", axiom="echo-independence").broken[0].witness
    assert sum(event.do == "write" for event in echo) == 3


def test_event_table_shows_the_maximum_length_of_a_peek() -> None:
    verdict = ms.axioms(PageShares, axiom="limit").broken[0]
    assert "peek x, 1 at most" in event_table(verdict.witness)


def test_unknown_or_unsuitable_law_parameters_are_refused() -> None:
    with pytest.raises(ScenarioError, match="no such parameter"):
        subject_of("membrane", settings={"half_lief": 7})
    with pytest.raises(UsageError, match="only item-based laws"):
        subject_of("mal", settings={"half_life": 7})
    assert main(["judge", "membrane", "--set", "half_life=7"]) == main(["judge", "--set", "law.half_life=7"]) == 2


def test_axioms_about_beliefs_need_a_memory_with_beliefs() -> None:
    verdicts = {item.name: item.verdict for item in ms.axioms("last_write").verdicts}
    assert verdicts["success"] == verdicts["settling"] == verdicts["half-life-halves"] == N_A
    assert verdicts["truth-may-return"] == HOLDS


class Raises(Sound):
    def tick(self, now: float) -> None:
        raise RuntimeError(f"the clock is missing at t = {now:g}")


class Hangs(Sound):
    def tick(self, now: float) -> None:  # noqa: ARG002
        time.sleep(30.0)


class NaNs(Sound):
    def scores(self, about: str, now: float) -> dict[str, float]:
        return dict.fromkeys(super().scores(about, now), math.nan)


class Nameless(Sound):
    def items(self, object_: str, now: float) -> list[dict[str, Any]]:
        return [{"value": item["value"]} for item in super().items(object_, now)]


class Mute:
    def write(self, claims: object, now: float) -> None: ...


@pytest.mark.parametrize(
    ("memory", "problem"),
    [(Raises, "Raises: tick: raised RuntimeError"), (Hangs, "Hangs: tick: did not return within 0.2 s"),
     (Nameless, "Nameless: peek: returned an item without id, object, rank")],
)  # fmt: skip
def test_error_names_the_call_and_other_axioms_still_run(memory: type[Sound], problem: str) -> None:
    table = ms.axioms(memory, axiom="anchor", limit=0.2)
    assert table.errors[0].verdict == ERROR
    assert problem in table.errors[0].why
    if memory is not Nameless:
        assert ms.axioms(memory, axiom="late-arrival", limit=0.2).verdicts[0].verdict == HOLDS


def test_hanging_memory_is_tried_only_once(tmp_path: Path) -> None:
    path = str(tmp_path / "ticks")

    class HangsOnTick(Sound):
        def tick(self, now: float) -> None:
            with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123
                file.write(f"{now}\n")
            time.sleep(30.0)

    subject = subject_of(HangsOnTick, limit=0.2)
    table = matrix([subject], [find_axiom(name) for name in ("anchor", "cadence", "outvoted", "late-arrival")])
    assert [item.verdict for item in table.verdicts] == [ERROR, ERROR, ERROR, HOLDS]
    assert all("did not return within 0.2 s" in item.why for item in table.errors)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        assert len(file.readlines()) == 1


def test_nan_breaks_bounds_and_is_an_error_elsewhere() -> None:
    assert ms.axioms(NaNs, axiom="bounds").broken
    assert "not a number" in ms.axioms(NaNs, axiom="locality").errors[0].why


def test_unsuitable_memories_and_unknown_names_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AdapterError, match="a required method is missing"):
        ms.axioms(Mute)
    with pytest.raises(AdapterError, match="cannot be imported"):
        ms.axioms("nowhere_at_all:Memory")
    with pytest.raises(LawError, match="no such law"):
        ms.axioms("graphitty")
    with pytest.raises(UsageError, match="no such axiom"):
        ms.axioms("graphiti", axiom="truth-may-retern")
    with pytest.raises(UsageError, match="cannot be tested"):
        ms.axioms(3)


def test_check_fails_if_an_expected_break_does_not_occur() -> None:
    case = check(Sound, expected_broken={"anchor"})
    with pytest.raises(pytest.fail.Exception, match="remove it from"):
        case("anchor")
    with pytest.raises(pytest.fail.Exception, match="is broken"):
        check(Compounds)("anchor")


def test_axioms_can_be_checked_for_a_rules_object() -> None:
    assert ms.axioms(ms.Rules(), axiom="settling").broken
    assert not ms.axioms(ms.Rules(damping=0.3), axiom="settling").broken


MEMORY = '''
class Last:
    """Keeps the last claim about each object."""
    def __init__(self):
        self.kept = {}
    def write(self, claims, now):
        for claim in claims:
            self.kept[claim.object] = claim
    def tick(self, now):
        pass
    def read(self, query, now, limit):
        return self.peek(query, now, limit)
    def peek(self, query, now, limit):
        claim = self.kept.get(query.object)
        return [] if claim is None else [{"id": 1, "object": claim.object, "value": claim.value, "rank": 1.0}]
    belief = False
'''


def test_command_judges_a_user_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_last_memory.py").write_text(MEMORY)
    assert main(["judge", "own_last_memory:Last", "--only", "axioms", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)["axioms"]
    assert set(rows[0]) == {"law", "axiom", "verdict", "witness"}
    assert {row["axiom"] for row in rows if row["verdict"] == BROKEN} == {"batching", "echo-independence", "late-arrival"}
    assert main(["judge", "own_last_memory:Last", "--case", "truth-may-return"]) == 0
    assert main(["judge", "no_such_law"]) == 2


def test_command_writes_verdicts_to_table_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["judge", "memex", "last_write", "--only", "axioms", "--only", "price", "--html", str(tmp_path / "page.html")])
        == 1
    )
    output = capsys.readouterr().out
    assert "memex" in output
    assert "X broken" in output
    page = (tmp_path / "page.html").read_text()
    assert (page.count("<svg"), page.count("<section")) == (1, 7)  # one price figure, and one section per witness
    assert not re.search(r"(src|href)=['\"]https?:", page)
    assert re.search(r"<th>last_write</th>.*<td>1</td><td>1</td><td>1</td><td>1</td></tr>", page)  # all prices are 1
    sentences = [unescape(code).removesuffix(".") for code in re.findall(r"<p><b>(.*?)</b></p>", page, re.DOTALL)]
    assert len(sentences) == 7
    assert main(["judge", "--list", "--only", "axioms"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(shipped_axioms())


def test_check_without_pytest_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytest", None)
    with pytest.raises(UsageError, match="needs pytest, which is not installed; pip install pytest"):
        check("mal")
