"""Questions about memories (axioms, duties and prices), and the judgement that answers them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.judging.axioms.engine.axiom import find_axiom, shipped_axioms
from malsim.judging.axioms.engine.matrix import matrix
from malsim.judging.axioms.store_claims import on_claims
from malsim.judging.duties.engine.assessment import DRAWS, assess_all
from malsim.judging.duties.plots import every_duty, find_duty
from malsim.judging.judgement import Judgement
from malsim.judging.prices.prices import PriceTable
from malsim.judging.prices.pricing import price_of, standing_world
from malsim.judging.prices.worlds import STRATEGIES, closed_world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from malsim.judging.axioms.engine.subject import Subject
    from malsim.judging.prices.worlds import ClaimWorld


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Questions on which every memory is judged.

    `only` selects sections (axioms, duties, price), `cases` axioms, duties and liar strategies by name. `draws` is the
    number of streams per axiom and of draws per duty: by default 20, but 4 for axioms of the graph. The store `on` provides
    claims and gaps for axioms and duties; prices are then the prices of overturning its `fact`, and are left out without a
    fact. For prices, `honest` is the number of honest writers and `most` the maximum number of steps per strategy.

    Raises `UsageError` for an unknown case, a number out of bounds, a fact without a store, or a store without a fact if
    only prices are requested.
    """

    only: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    seed: int = 0
    draws: int | None = None
    on: str | Path | None = None
    fact: str | None = None
    honest: int = 3
    most: int = 12

    def __post_init__(self) -> None:
        price_alone = list(_sections_of(self.cases, self.only)) == ["price"]
        if (self.on is None) != (self.fact is None) and (price_alone or self.on is None):
            raise UsageError("--on and --fact are needed together", hint="add the other option")
        if self.draws is not None and self.draws < 1:
            raise UsageError("out of bounds", where="--draws", given=self.draws, allowed="1 or more")
        _ = self.world

    @property
    def by_section(self) -> dict[str, list[str]]:
        """Names of the axioms, duties and strategies to judge, keyed by section."""
        by_section = _sections_of(self.cases, self.only)
        if self.on is not None and self.fact is None:
            by_section.pop("price", None)
        return by_section

    @property
    def world(self) -> ClaimWorld:
        return closed_world(self.honest, most=self.most)


def _sections_of(cases: Iterable[str], only: Iterable[str]) -> dict[str, list[str]]:
    every = {"axioms": list(shipped_axioms()), "duties": list(every_duty()), "price": list(STRATEGIES)}
    sections, names = list(only) or list(every), list(cases)
    allowed = [name for section in sections for name in every[section]]
    for name in names:
        if name not in allowed:
            hint = nearest(name, allowed, "run `malsim judge --list` to list them")
            raise UsageError("no such case", where="--case", given=name, hint=hint)
    if not names:
        return {section: every[section] for section in sections}
    by_section = {section: [name for name in every[section] if name in names] for section in sections}
    return {section: members for section, members in by_section.items() if members}


def judge(
    subjects: Sequence[Subject],
    questions: Questions,
    watch: Callable[[Sequence[Subject], str], Iterable[Subject]] = lambda subjects, _: subjects,
) -> Judgement:
    """Judge every memory (from `subject_of` or `memory_of`) on every question. `watch(subjects, section)` shows progress.

    A memory that never answers the truth has no price: the reason is in `refused`, or in a `UsageError` if only
    the price of a single memory was requested.
    """
    cases = questions.by_section
    sources = on_claims(subjects, questions.on) if questions.on is not None else list(subjects)
    axioms = duties = prices = None
    refused: list[str] = []
    if "axioms" in cases:
        tried = [replace(subject, cases=questions.draws or subject.cases) for subject in sources]
        rows = map(find_axiom, cases["axioms"])
        axioms = matrix(tried, rows, seed=questions.seed, watch=lambda group: watch(group, "axioms"))
    if "duties" in cases:
        cells, draws = map(find_duty, cases["duties"]), questions.draws or DRAWS
        duties = assess_all(sources, cells, seed=questions.seed, draws=draws, watch=lambda group: watch(group, "duties"))
    if "price" in cases:
        prices, refused = _prices(subjects, questions, lambda group: watch(group, "price"))
    return Judgement(axioms=axioms, duties=duties, prices=prices, refused=tuple(refused))


def _prices(
    subjects: Sequence[Subject], questions: Questions, watch: Callable[[Sequence[Subject]], Iterable[Subject]]
) -> tuple[PriceTable, list[str]]:
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
