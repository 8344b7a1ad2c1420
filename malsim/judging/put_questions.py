"""Judging of memories: the axioms that they keep, the duties that they owe, and the prices of a lie and of the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from malsim.base.errors import UsageError
from malsim.judging.axioms.engine.axiom import find_axiom
from malsim.judging.axioms.engine.matrix import matrix
from malsim.judging.axioms.own_claims import on_claims
from malsim.judging.duties.engine.assessment import DRAWS, assess_all
from malsim.judging.duties.engine.duty import find_duty
from malsim.judging.judgement import Judgement
from malsim.judging.prices.prices import PriceTable
from malsim.judging.prices.pricing import price_of, standing_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from malsim.judging.axioms.engine.subject import Subject
    from malsim.judging.questions import Questions

    Watch: TypeAlias = Callable[[Sequence[Subject]], Iterable[Subject]]


def judge(
    subjects: Sequence[Subject],
    questions: Questions,
    watch: Callable[[Sequence[Subject], str], Iterable[Subject]] = lambda subjects, _: subjects,
) -> Judgement:
    """Put every question to every memory (from `subject_of` or `memory_of`); `watch(subjects, section)` shows progress.

    A memory that never answers the truth has no price: that is an entry of `refused`, and a `UsageError` if nothing else
    was asked.
    """
    cases = questions.by_section
    sources = on_claims(subjects, questions.on) if questions.on is not None else list(subjects)
    axioms = duties = prices = None
    refused: list[str] = []
    if "axioms" in cases:
        tried = [replace(each, cases=questions.draws or each.cases) for each in sources]
        rows = map(find_axiom, cases["axioms"])
        axioms = matrix(tried, rows, seed=questions.seed, watch=lambda those: watch(those, "axioms"))
    if "duties" in cases:
        cells, draws = map(find_duty, cases["duties"]), questions.draws or DRAWS
        duties = assess_all(sources, cells, seed=questions.seed, draws=draws, watch=lambda those: watch(those, "duties"))
    if "price" in cases:
        prices, refused = _prices(subjects, questions, lambda those: watch(those, "price"))
    return Judgement(
        subjects={each.name: each for each in sources}, axioms=axioms, duties=duties, prices=prices, refused=tuple(refused)
    )


def _prices(subjects: Sequence[Subject], questions: Questions, watch: Watch) -> tuple[PriceTable, list[str]]:
    strategies = questions.by_section["price"] if questions.cases else ()
    prices, refused = [], []
    for subject in watch(subjects):
        try:
            world = questions.world
            if questions.on is not None and questions.fact is not None:
                world = standing_world(questions.on, questions.fact, subject, most=questions.most)
            prices.append(price_of(subject, world, strategies=strategies))
        except UsageError as problem:
            if len(subjects) == 1 and list(questions.by_section) == ["price"]:
                raise
            refused.append(str(problem))
    return PriceTable(tuple(prices)), refused
