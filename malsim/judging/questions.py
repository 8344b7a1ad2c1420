"""Questions put to memories: sections, their cases, the number of repetitions, and the claims behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.judging.axioms.engine.axiom import shipped_axioms
from malsim.judging.duties.engine.duty import every_duty
from malsim.judging.prices.strategies import STRATEGIES
from malsim.judging.prices.worlds import closed_world

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from malsim.judging.prices.worlds import ClaimWorld


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Questions put to every memory.

    Parameters
    ----------
    only, cases
        Sections (axioms, duties, price), and names of axioms, of duties and of a liar's strategies; all if none are named.
        Cases alone select the sections that have them.
    seed
        Of the draws.
    draws
        Streams that an axiom tries and draws of a duty; by default 20, of axioms of the graph 4.
    on, fact
        A store from which axioms and duties take claims and gaps. Prices are then those of overturning a fact of it, and
        are left out if no fact is named.
    honest, most
        Honest writers of the prices' world, and steps of each strategy that are tried.

    Raises `UsageError` for an unknown case, for a number out of bounds, for a fact without a store, and for a store without
    a fact if prices alone are asked.
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
            raise UsageError("a store and a fact of it go together", where="--on, --fact", hint="give both")
        if self.draws is not None and self.draws < 1:
            raise UsageError("too few", where="--draws", given=self.draws, allowed="1 and more")
        _ = self.world

    @property
    def by_section(self) -> dict[str, list[str]]:
        """Names to judge, section by section."""
        by_section = _sections_of(self.cases, self.only)
        if self.on is not None and self.fact is None:
            by_section.pop("price", None)
        return by_section

    @property
    def world(self) -> ClaimWorld:
        """Closed world of the prices."""
        return closed_world(self.honest, most=self.most)


def _sections_of(cases: Iterable[str], only: Iterable[str]) -> dict[str, list[str]]:
    every = {"axioms": list(shipped_axioms()), "duties": list(every_duty()), "price": list(STRATEGIES)}
    sections, names = list(only) or list(every), list(cases)
    allowed = [name for section in sections for name in every[section]]
    for name in names:
        if name not in allowed:
            hint = nearest(name, allowed, "`malsim judge --list` prints them")
            raise UsageError("unknown case", where="--case", given=name, hint=hint)
    if not names:
        return {section: every[section] for section in sections}
    by_section = {section: [name for name in every[section] if name in names] for section in sections}
    return {section: own for section, own in by_section.items() if own}
