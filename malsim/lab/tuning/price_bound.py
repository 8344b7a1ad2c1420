"""A price that settings must keep while something else is tuned: `gap >= 3`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.lab.studies.price_figures import PRICES, price_figure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from malsim.lab.tuning.problems import Problem
    from malsim.memory import Rules
    from malsim.sim.settings.scenario import Scenario

FORM = re.compile(rf"\s*({'|'.join(PRICES)})\s*(>=|<=)\s*(\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class PriceBound:
    """A figure of `PRICES`, `>=` or `<=`, and a number."""

    name: str
    relation: str
    value: float

    @classmethod
    def of(cls, text: str) -> PriceBound:
        """Read one; raises `UsageError` for what is none.

        >>> PriceBound.of("gap >= 3")
        PriceBound(name='gap', relation='>=', value=3.0)
        """
        if not (match := FORM.fullmatch(text)):
            allowed = f"{', '.join(PRICES)}, then >= or <= and a number"
            raise UsageError("not a bound on a price", where="--keep", given=text, allowed=allowed, hint='--keep "gap >= 3"')
        return cls(match[1], match[2], float(match[3]))

    def holds(self, subject: Scenario | Rules) -> bool:
        """Return True if a scenario or rules keep the bound."""
        figure = price_figure(subject, self.name)
        return figure >= self.value if self.relation == ">=" else figure <= self.value

    def __str__(self) -> str:
        return f"{self.name} {self.relation} {self.value:g}"


@dataclass(frozen=True)
class Within:
    """Test that all problems keep the price bounds under given settings; it can be pickled."""

    bounds: tuple[PriceBound, ...]
    problems: tuple[Problem, ...]

    def __call__(self, values: Mapping[str, Any]) -> bool:
        """Price the rules under some settings."""
        return all(bound.holds(one.under(values)) for bound in self.bounds for one in self.problems)
