"""Prices of a lie and of the truth as measures of a run."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.judging.axioms.engine.subjects import subject_of
from malsim.judging.prices.pricing import price_of
from malsim.judging.prices.worlds import closed_world
from malsim.laws import find_law
from malsim.memory import Rules

if TYPE_CHECKING:
    from malsim.judging.prices.prices import Price
    from malsim.judging.prices.worlds import ClaimWorld
    from malsim.sim.settings.scenario import Scenario

PRICES = {
    "price of the lie": "least claims of a liar after which the lie leads of three honest writers' truth; 7 for more",
    "price of the truth": "least claims of the honest after which the new truth leads; 7 for more",
    "gap": "price of the lie over price of the truth",
}
HONEST, MOST = 3, 6


def price_figure(subject: Scenario | Rules, name: str) -> float:
    """Return one of `PRICES` for a scenario or rules, in the closed world of `malsim judge --only price`.

    Six steps are tried, not twelve, and what takes more counts seven. It depends on the settings alone, not on writers.
    Raises `UsageError` for a memory of one's own, which `malsim judge --only price` takes.

    >>> from malsim import Scenario
    >>> price_figure(Scenario(law="majority", days=1.0), "gap")
    2.0
    >>> price_figure(Scenario(law="crh", days=1.0), "price of the lie")
    7.0
    """
    price = _price(subject)
    lie, truth = (min(claims or MOST + 1, MOST + 1) for claims in (price.lie_claims, price.truth_claims))
    return {"price of the lie": float(lie), "price of the truth": float(truth), "gap": lie / truth}[name]


def _price(subject: Scenario | Rules) -> Price:
    if isinstance(subject, Rules):
        return _of_rules(subject)
    if subject.adapter:
        raise UsageError(
            "tuning prices laws and rules", where=subject.name, given=subject.law, hint="malsim judge --only price"
        )
    if subject.law == "mal":
        return _of_rules(subject.rules)
    return price_of(subject_of(find_law(subject.law, where="law"), settings=subject.law_settings), _world())


@lru_cache(maxsize=4096)
def _of_rules(rules: Rules) -> Price:
    return price_of(subject_of(rules), _world())


def _world() -> ClaimWorld:
    return closed_world(HONEST, most=MOST)
