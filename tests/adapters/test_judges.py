"""Simulated judges that replace a language model: their error rates, and memories that use them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import pytest

from malsim.adapters import Claim, Query
from malsim.adapters.judges import CONTRADICTS, NEW, SAME, Judge
from malsim.adapters.load import load_factory
from malsim.base.errors import AdapterError

DRAWS = 4000


class Careful:
    """Memory that replaces a fact only if its judge reports a contradiction."""

    belief = False

    def __init__(self, judge: Judge | None = None) -> None:
        self.judge, self.facts = judge or Judge(), dict[str, str]()

    def write(self, claims: Sequence[Claim], _: float) -> None:
        for claim in claims:
            value = self.judge.verdict(CONTRADICTS, claim.writer, claim.time)
            if claim.object not in self.facts or value == CONTRADICTS:
                self.facts[claim.object] = self.judge.hears(claim.value, claim.writer, claim.time)

    def tick(self, _: float) -> None:
        pass

    def peek(self, query: Query, _: float) -> list[dict[str, Any]]:
        value = self.facts.get(query.object)
        return [{"id": value, "object": query.object, "value": value, "rank": 1.0}] if value else []

    read = peek


def skip_without(package: str) -> None:
    if not find_spec(package):
        pytest.skip(f"{package} is not installed")


@pytest.mark.parametrize(
    ("rate", "truly", "wrong"), [("miss", SAME, NEW), ("miss", CONTRADICTS, NEW), ("false_alarm", NEW, CONTRADICTS)]
)
def test_judge_errs_at_its_configured_rate(rate: str, truly: str, wrong: str) -> None:
    judge = Judge(**{rate: 0.2})  # type: ignore[arg-type]  # a rate
    verdicts = [judge.verdict(truly, "x is A", "x is B", number) for number in range(DRAWS)]
    assert set(verdicts) == {truly, wrong}
    assert verdicts.count(wrong) / DRAWS == pytest.approx(0.2, abs=0.025)  # tolerance of four standard errors
    assert verdicts == [judge.verdict(truly, "x is A", "x is B", number) for number in range(DRAWS)]
    assert {Judge().verdict(truly, number) for number in range(100)} == {truly}


def test_judge_invents_and_rephrases_as_configured() -> None:
    values = [Judge(invention=0.2).hears("A", number) for number in range(DRAWS)]
    assert 1.0 - values.count("A") / DRAWS == pytest.approx(0.2, abs=0.025)
    assert len({Judge(wording="varied").words("x is A", number) for number in range(9)}) == 9
    assert Judge().words("x is A", 1) == "x is A"


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        ("miss=1.5", "out of bounds"),
        ("miss=much", "not a number"),
        ("mis=0.1", "no such setting"),
        ("wording=odd", "no such wording"),
    ],
)
def test_invalid_judge_is_refused(judge: str, problem: str) -> None:
    with pytest.raises(AdapterError, match=problem):
        load_factory(f"{judge}/tests.adapters.test_judges:Careful")


def test_judge_settings_for_a_memory_without_judge_are_refused() -> None:
    with pytest.raises(AdapterError, match="this memory does not use a judge"):
        load_factory("miss=0.1/malsim.adapters.langgraph:in_memory")


@pytest.mark.filterwarnings("ignore")
def test_mem0_pipeline_stores_repeats_that_its_judge_misses() -> None:
    skip_without("mem0")
    counts = {}
    for judge in ("miss=0", "miss=0,wording=varied", "miss=1,wording=varied"):
        memory = load_factory(f"{judge}/malsim.adapters.mem0:pipeline")()
        for day, value in enumerate(("open", "shut", "open")):
            memory.write([Claim(float(day), "ann", "valve", value, text=f"valve is {value}")], float(day))
        counts[judge] = len(memory.peek(Query("valve", "what is valve?"), 3.0, 10))  # type: ignore[arg-type]  # a list
    assert list(counts.values()) == [2, 2, 3]
