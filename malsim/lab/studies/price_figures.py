"""Price of the lie and price of the truth, in claims (see `PRICES`), as measures of a run."""

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
    from malsim.sim.settings.scenario import Scenario

PRICES = {
    "price of the lie": "fewest claims of a liar until the lie leads over the truth of three honest writers; 7 if more",
    "price of the truth": "fewest claims of honest writers until a new truth leads; 7 if more",
    "gap": "price of the lie divided by price of the truth",
}
HONEST, MOST = 3, 6


def price_figure(subject: Scenario | Rules, name: str) -> float:
    """Return one of the `PRICES`, by name, of a scenario or rules, computed as in `malsim judge --only price`.

    Only six claims are tried, not twelve; a higher price counts as seven. Prices depend only on the law and its settings.
    Raises `UsageError` for a user-defined memory, which `malsim judge --only price` accepts.

    >>> from malsim import Scenario
    >>> price_figure(Scenario(law="majority", days=1.0), "gap")
    2.0
    >>> price_figure(Scenario(law="crh", days=1.0), "price of the lie")
    7.0
    """
    if isinstance(subject, Rules):
        price = _price_of_rules(subject)
    elif subject.adapter:
        hint = "use malsim judge --only price"
        raise UsageError("prices can be computed only for laws and rules", where=subject.name, given=subject.law, hint=hint)
    elif subject.law == "mal":
        price = _price_of_rules(subject.rules)
    else:
        law = subject_of(find_law(subject.law, where="law"), settings=subject.law_settings)
        price = price_of(law, closed_world(HONEST, most=MOST))
    lie, truth = (min(claims or MOST + 1, MOST + 1) for claims in (price.lie_claims, price.truth_claims))
    return {"price of the lie": float(lie), "price of the truth": float(truth), "gap": lie / truth}[name]


@lru_cache(maxsize=4096)
def _price_of_rules(rules: Rules) -> Price:
    return price_of(subject_of(rules), closed_world(HONEST, most=MOST))
