"""Prices of doubt, of a lie and of the truth for one memory, and a price table for several memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.judging.axioms.engine.events import event_table
from malsim.judging.axioms.engine.subject import TOLERANCE, tolerance_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.judging.axioms.engine.events import Event


@dataclass(frozen=True)
class Count:
    """Minimum numbers of steps for doubt and for a changed answer (None: not reached), and the stream that changes it."""

    doubt: int | None
    price: int | None
    witness: tuple[Event, ...] = ()


@dataclass(frozen=True)
class Price:
    """Cost of changing a memory's answer, per strategy of a liar and per way in which honest writers correct the answer.

    A price is None if it exceeds `most` steps. Scores that differ by at most `tolerance` are equal.
    """

    memory: str
    most: int
    lie: Mapping[str, Count]
    truth: Mapping[str, Count]
    tolerance: float = TOLERANCE

    @property
    def lie_claims(self) -> int | None:
        """Minimum number of claims over all strategies, including claims that earn a track record."""
        return min((_claims(count.witness) for count in self.lie.values() if count.price), default=None)

    @property
    def lie_identities(self) -> int | None:
        """Minimum number of writers that a liar needs."""
        lies = [count.witness for count in self.lie.values() if count.price]
        return min((len({event.writer for event in lie if event.do == "write"}) for lie in lies), default=None)

    @property
    def lie_days(self) -> float | None:
        """Minimum number of days between a liar's first and last step."""
        return min((count.witness[-1].t - count.witness[0].t for count in self.lie.values() if count.price), default=None)

    @property
    def doubt_claims(self) -> int | None:
        """Minimum number of steps after which the truth no longer leads."""
        return min((count.doubt for count in self.lie.values() if count.doubt), default=None)

    @property
    def truth_claims(self) -> int | None:
        """Minimum number of claims by honest writers over all ways of correcting the memory."""
        return min((count.price for count in self.truth.values() if count.price), default=None)

    @property
    def gap(self) -> float | None:
        """Lie price divided by truth price, in claims; infinite if no lie is believed, None if no truth is believed."""
        if self.truth_claims is None:
            return None
        return float("inf") if self.lie_claims is None else self.lie_claims / self.truth_claims

    @property
    def witness(self) -> tuple[Event, ...]:
        """Shortest stream that makes the memory answer with the lie."""
        return min((count.witness for count in self.lie.values() if count.price), key=_claims, default=())

    def counts(self) -> dict[str, dict[str, list[int | None]]]:
        """Return `[doubt, price]` per strategy of a liar and per way of correcting the memory."""
        return {
            kind: {name: [count.doubt, count.price] for name, count in counts.items()}
            for kind, counts in (("lie", self.lie), ("truth", self.truth))
        }


@dataclass(frozen=True, repr=False)
class PriceTable:
    """Prices of several memories, as a table."""

    prices: tuple[Price, ...]

    @property
    def frame(self) -> pl.DataFrame:
        """Table of prices: doubt, lie and truth (claims), identities, days and gap. Null means never reached."""
        fields = {
            "memory": ("memory", pl.String), "doubt": ("doubt_claims", pl.Int64), "lie": ("lie_claims", pl.Int64),
            "identities": ("lie_identities", pl.Int64), "days": ("lie_days", pl.Float64),
            "truth": ("truth_claims", pl.Int64), "gap": ("gap", pl.Float64),
        }  # fmt: skip
        rows = [tuple(getattr(price, name) for name, _ in fields.values()) for price in self.prices]
        return pl.DataFrame(rows, schema={column: kind for column, (_, kind) in fields.items()}, orient="row")

    def counts(self) -> dict[str, dict[str, dict[str, list[int | None]]]]:
        """Return `{memory: {"lie": {strategy: [doubt, price]}, "truth": {way: [doubt, price]}}}`."""
        return {price.memory: price.counts() for price in self.prices}

    def figure(self, *, without: Sequence[str] = ()) -> Any:
        """Plot the price of the lie against the price of the truth, with the diagonal.

        Memories in `without` are left out.
        """
        from malsim.showing.plots.studies.laws import price_figure

        frame = self.frame.filter(~pl.col("memory").is_in(list(without)))
        return price_figure(frame, most=max((price.most for price in self.prices), default=12))

    def __repr__(self) -> str:
        """Return a table with one row per memory: doubt and price per strategy and way of correcting the memory.

        For a single memory, include its witness.
        """
        if not self.prices:
            return "no memories"
        first = self.prices[0]
        wide = max(len(price.memory) for price in self.prices) + 2
        names = [*first.lie, *(f"t:{way}" for way in first.truth), "lie", "who", "truth", "gap"]
        rows = [("", names), *((price.memory, price_cells(price)) for price in self.prices)]
        lines = [
            f"doubt/price in steps (-: over {first.most}), per strategy of a liar and (t:) per way of correcting the memory",
            "lie, truth: fewest claims; who: fewest identities of a liar; gap: lie / truth",
        ]
        lines += [f"{name:<{wide}}" + " ".join(f"{cell:>10}" for cell in cells) for name, cells in rows]
        lines += [tolerance_text(price.memory, price.tolerance) for price in self.prices if price.tolerance > TOLERANCE]
        if len(self.prices) == 1:
            lines += ["", "the shortest lie that is believed:", event_table(first.witness) or "  none was found"]
        return "\n".join(lines)


def price_cells(price: Price) -> list[str]:
    """Return a memory's table row: doubt/price per strategy and correction, then lie, identities, truth, gap (`-`: none)."""
    counts = [*price.lie.values(), *price.truth.values()]
    least = (price.lie_claims, price.lie_identities, price.truth_claims, price.gap)
    return [*(f"{_number(count.doubt)}/{_number(count.price)}" for count in counts), *map(_number, least)]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _claims(events: Sequence[Event]) -> int:
    return sum(event.do == "write" for event in events)
