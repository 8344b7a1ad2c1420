"""Prices of doubt, of the lie and of the truth for count memory, and the table for many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.judging.axioms.engine.events import event_table
from malsim.judging.axioms.engine.subject import TOLERANCE, tolerance_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.judging.axioms.engine.events import Event
    from malsim.judging.prices.counting import Count


@dataclass(frozen=True)
class Price:
    """Cost of changing the answer of count memory: counts by strategy of a liar, and by way of correcting with the truth.

    A price is None where it is over `most` steps; scores within `tolerance` counted as equal.
    """

    memory: str
    most: int
    lie: Mapping[str, Count]
    truth: Mapping[str, Count]
    tolerance: float = TOLERANCE

    @property
    def lie_claims(self) -> int | None:
        """Least claims, over strategies; claims that earn a track record count."""
        return min((_claims(count.witness) for count in self.lie.values() if count.price), default=None)

    @property
    def lie_identities(self) -> int | None:
        """Least number of writers that a liar needs."""
        return min(
            (len({event.writer for event in _writes(count.witness)}) for count in self.lie.values() if count.price),
            default=None,
        )

    @property
    def lie_days(self) -> float | None:
        """Least days from a liar's first step to its last."""
        return min((count.witness[-1].t - count.witness[0].t for count in self.lie.values() if count.price), default=None)

    @property
    def doubt_claims(self) -> int | None:
        """Least steps after which the truth no longer leads."""
        return min((count.doubt for count in self.lie.values() if count.doubt), default=None)

    @property
    def truth_claims(self) -> int | None:
        """Least claims of the honest writers, over ways."""
        return min((count.price for count in self.truth.values() if count.price), default=None)

    @property
    def gap(self) -> float | None:
        """Price of the lie over price of the truth, in claims; infinite where no lie is believed, None where no truth is."""
        if self.truth_claims is None:
            return None
        return float("inf") if self.lie_claims is None else self.lie_claims / self.truth_claims

    @property
    def witness(self) -> tuple[Event, ...]:
        """Shortest stream that makes the memory answer the lie."""
        return min((count.witness for count in self.lie.values() if count.price), key=_claims, default=())

    def counts(self) -> dict[str, dict[str, list[int | None]]]:
        """Return `[doubt, price]` by strategy, and by way."""
        return {
            kind: {name: [count.doubt, count.price] for name, count in counts.items()}
            for kind, counts in (("lie", self.lie), ("truth", self.truth))
        }


@dataclass(frozen=True, repr=False)
class PriceTable:
    """Prices of several memories."""

    prices: tuple[Price, ...]

    @property
    def frame(self) -> pl.DataFrame:
        """Prices, price row per memory: doubt, lie (claims), identities, days, truth (claims), gap; null is above `most`."""
        kinds = {
            "memory": pl.String, "doubt": pl.Int64, "lie": pl.Int64, "identities": pl.Int64, "days": pl.Float64,
            "truth": pl.Int64, "gap": pl.Float64,
        }  # fmt: skip
        rows = [
            (
                price.memory,
                price.doubt_claims,
                price.lie_claims,
                price.lie_identities,
                price.lie_days,
                price.truth_claims,
                price.gap,
            )
            for price in self.prices
        ]
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def counts(self) -> dict[str, dict[str, dict[str, list[int | None]]]]:
        """Return `{memory: {"lie": {strategy: [doubt, price]}, "truth": {way: [doubt, price]}}}`."""
        return {price.memory: price.counts() for price in self.prices}

    def figure(self, *, without: Sequence[str] = ()) -> Any:
        """Plot the price of the truth on x and that of the lie on y, with the diagonal; leave out some memories."""
        from malsim.showing.plots.studies.laws import price_figure

        frame = self.frame.filter(~pl.col("memory").is_in(list(without)))
        return price_figure(frame, most=max((price.most for price in self.prices), default=12))

    def __repr__(self) -> str:
        """Return doubt and price by strategy and way, then the least of each."""
        return price_text(self)


def price_text(table: PriceTable) -> str:
    """Return a row per memory; for a single memory also its witness."""
    if not table.prices:
        return "no memories"
    first = table.prices[0]
    wide = max(len(price.memory) for price in table.prices) + 2
    names = [*first.lie, *(f"t:{way}" for way in first.truth), "lie", "who", "truth", "gap"]
    lines = [f"doubt/price in steps, - is over {first.most}; t: the truth's ways; lie, truth in claims, who in identities",
             " " * wide + " ".join(f"{name:>10}" for name in names)]  # fmt: skip
    for price in table.prices:
        cells = [*map(_cell, price.lie.values()), *map(_cell, price.truth.values())]
        cells += [_number(price.lie_claims), _number(price.lie_identities), _number(price.truth_claims), _number(price.gap)]
        lines.append(f"{price.memory:<{wide}}" + " ".join(f"{cell:>10}" for cell in cells))
    lines += [tolerance_text(price.memory, price.tolerance) for price in table.prices if price.tolerance > TOLERANCE]
    if len(table.prices) == 1:
        lines += ["", "the shortest lie that is believed:", event_table(first.witness) or "  none was found"]
    return "\n".join(lines)


def _cell(count: Count) -> str:
    return f"{_number(count.doubt)}/{_number(count.price)}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _writes(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event.do == "write"]


def _claims(events: Sequence[Event]) -> int:
    return len(_writes(events))
