"""Worlds of facts that change and return: who sees the changes how late, and who repeats what was once said."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

VALUES, FACTS, SOLO, DAYS = "ABC", 40, 20, 2000.0
STANDS, MORE, EVERY = 125.0, 175.0, 90.0  # d: how long a value stands, at least and beyond on average; between two gossips
LATEST, ROUND = 60.0, 60.0  # d: the longest lag; questions are asked every so often, of what changed longer ago than that
STATED = 0.8
SIGHTS = {"prompt": ((0.5, 0.5), 0.0), "late": ((0.5, LATEST), 0.0), "misses": ((0.5, LATEST), 0.3)}  # lags d, share missed


@dataclass(frozen=True, order=True)
class HeadlineWorld:
    """So many honest writers, how they see a change (`SIGHTS`), so many gossips, and facts that no gossip speaks about.

    A fact has one of three values for 125 days and 175 more on average. Each honest writer says a new value half a day to
    sixty days later, or misses it. A gossip says of each fact, some ninety days apart, what an honest writer once said.
    """

    honest: int
    sight: str
    gossips: int = 0
    solo: int = 0

    def draw(self, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Claims (t, writer, object, value, confidence) and questions (object, value, asked, returned).

        Asked is, of facts that gossips speak of, each value that an honest writer has said: once, at the first round sixty
        days after it began.
        """
        keys = (seed, self.honest, list(SIGHTS).index(self.sight), self.gossips, self.solo)
        rng, claims, questions = np.random.default_rng(keys), [], []
        for number in range(FACTS + self.solo):
            name = f"fact {number}"
            history = list(_history(rng))
            reports = self._honest(rng, name, history)
            claims += reports
            if number < FACTS:
                claims += self._gossip(rng, name, reports)
                questions += list(_questions(name, history, reports))
        frame = pl.DataFrame(claims, schema=["t", "writer", "object", "value"], orient="row").sort("t", "writer", "object")
        frame = frame.with_columns(confidence=pl.lit(STATED))
        return frame, pl.DataFrame(questions, schema=["object", "value", "asked", "returned"], orient="row").sort("asked")

    def _honest(
        self, rng: np.random.Generator, name: str, history: list[tuple[float, str]]
    ) -> list[tuple[float, str, str, str]]:
        (least, most), missed = SIGHTS[self.sight]
        return [
            (begin + float(rng.uniform(least, most)), f"honest {writer}", name, value)
            for place, (begin, value) in enumerate(history)
            for writer in range(self.honest)
            if rng.random() >= missed or not place
        ]

    def _gossip(
        self, rng: np.random.Generator, name: str, reports: list[tuple[float, str, str, str]]
    ) -> Iterator[tuple[float, str, str, str]]:
        for writer in range(self.gossips):
            t = float(rng.exponential(EVERY))
            while t < DAYS:
                past = [value for day, _, _, value in reports if day < t]
                if past:
                    yield t, f"gossip {writer}", name, past[int(rng.integers(len(past)))]
                t += float(rng.exponential(EVERY))


def _history(rng: np.random.Generator) -> Iterator[tuple[float, str]]:
    """When each value of a fact began."""
    t, place = float(rng.uniform(0.0, 30.0)), 0
    while t < DAYS - 2.0 * ROUND:
        yield t, VALUES[place]
        t += STANDS + float(rng.exponential(MORE))
        place = (place + int(rng.integers(1, len(VALUES)))) % len(VALUES)


def _questions(
    name: str, history: list[tuple[float, str]], reports: list[tuple[float, str, str, str]]
) -> Iterator[tuple[str, str, float, bool]]:
    ends = [begin for begin, _ in history[1:]] + [DAYS]
    for place, ((begin, value), end) in enumerate(zip(history, ends, strict=True)):
        day = ROUND * np.ceil((begin + LATEST) / ROUND)
        answerable = any(begin < t < day and each == value for t, _, _, each in reports)
        if place and day < end and answerable:
            yield name, value, float(day), value in [former for _, former in history[: place - 1]]


def worlds() -> list[HeadlineWorld]:
    """All of them: one, three and four honest writers, each way of seeing, 0, 1, 2, 3 and 10 gossips; 20 solo facts at 3."""
    everywhere = [*product((0, 1, 2, 3, 10), (0,)), (3, SOLO)]
    return [HeadlineWorld(honest, sight, *rest) for honest, sight, rest in product((1, 3, 4), SIGHTS, everywhere)]
