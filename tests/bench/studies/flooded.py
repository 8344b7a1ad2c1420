"""What facts of a liar's own, which nobody else writes about, do to laws that learn whom to believe.

Honest writers of .85 and liars who are always wrong claim a hundred facts of two values; then each liar adds five hundred.
ZenCrowd (Demartini, Difallah and Cudré-Mauroux 2012) and GLAD (Whitehill and others 2009) are no laws of malsim, but minimal
models: one reliability a writer without priors of links; ability times ease with priors of mean and variance one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from malsim.base.intervals import SHARE
from malsim.lab.studies.laws.stream import Stream, ask
from malsim.laws import find_law, plant_of
from tests.bench.studies import mean_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Ints
    from tests.bench.studies import Row

    Claims: TypeAlias = tuple[Ints, Ints, Ints]

FACTS, SWEEPS, DRAWS = 100, 20, 12
WORLDS = {"5 honest, 2 liars": (5, 2, False), "2 honest, 1 liar": (2, 1, False), "5, 2 who share one list": (5, 2, True)}


def rows(seed: int) -> list[Row]:
    return [
        mean_row([share(law, draw, honest, liars, own, shared) for draw in range(seed, seed + DRAWS)], SHARE,
                 law=name, world=index, facts=facts)
        for name, law in LAWS.items() for index, (honest, liars, shared) in WORLDS.items()
        for facts, own in (("without", 0), ("with", 500))
    ]  # fmt: skip


def share(law: Callable[[Claims], Array], seed: int, honest: int, liars: int, own: int, shared: bool = False) -> float:  # noqa: FBT001, FBT002  # a row of WORLDS
    claims, truth = world(seed, honest, liars, own, shared=shared)
    yes = law(claims)[:FACTS]
    return float(np.where(yes == 0.5, 0.5, (yes > 0.5) == truth).mean())


def world(seed: int, honest: int, liars: int, own: int, *, shared: bool = False) -> tuple[Claims, Ints]:
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, FACTS)
    writer, about = (part.ravel() for part in np.indices((honest + liars, FACTS)))
    right = draw.random(len(writer)) < np.where(writer < honest, 0.85, 0.0)
    value = np.where(right, truth[about], 1 - truth[about])
    lists = draw.integers(0, 2, (1 if shared else liars, own))
    who, number = (part.ravel() for part in np.indices((liars, own)))
    list_of = np.zeros_like(who) if shared else who
    more = (honest + who, FACTS + list_of * own + number, lists[list_of, number])
    return tuple(np.concatenate(both) for both in zip((writer, about, value), more, strict=True)), truth  # type: ignore[return-value]


def shipped(name: str, claims: Claims) -> Array:
    writer, about, value = (part.astype(str) for part in claims)
    stream = pl.DataFrame({"writer": writer, "object": about, "value": value}).with_columns(
        t=0.0, confidence=pl.lit(None, pl.Float64)
    )
    questions = pl.DataFrame({"object": np.arange(FACTS).astype(str)}).with_columns(
        asked=pl.lit(None, pl.Float64), value=pl.lit("1")
    )
    law = find_law(name)
    return ask(plant_of(law), Stream.of(stream, questions, alone=not law.pools), ticks=law.pools)["right"].to_numpy()


def zencrowd(claims: Claims, *, from_votes: bool) -> Array:
    writer, about, value = claims
    p = np.bincount(about, weights=value) / np.bincount(about)
    reliability = np.full(writer.max() + 1, 0.8)
    for sweep in range(SWEEPS):
        if sweep or not from_votes:
            p = expit(odds(claims, np.log(reliability / (1.0 - reliability))[writer]))
        mean = np.bincount(writer, weights=np.where(value == 1, p[about], 1.0 - p[about])) / np.bincount(writer)
        reliability = np.clip(mean, 1e-6, 1.0 - 1e-6)
    return expit(odds(claims, np.log(reliability / (1.0 - reliability))[writer]))


def glad(claims: Claims) -> Array:
    writer, about, value = claims
    writers, objects = int(writer.max()) + 1, int(about.max()) + 1
    index = np.ones(writers + objects)
    for _ in range(SWEEPS):
        p = expit(odds(claims, index[writer] * np.exp(index[writers + about])))
        agreed = np.where(value == 1, p[about], 1.0 - p[about])

        def loss(at: Array, agreed: Array = agreed) -> tuple[float, Array]:
            ease = np.exp(at[writers + about])
            x = at[writer] * ease
            likely = agreed @ log_expit(x) + (1.0 - agreed) @ log_expit(-x) - 0.5 * ((at - 1.0) ** 2).sum()
            gap = agreed - expit(x)
            slope = np.concatenate([np.bincount(writer, weights=gap * ease), np.bincount(about, weights=gap * x)])
            return -likely, (at - 1.0) - slope

        index = minimize(loss, index, jac=True, method="L-BFGS-B", options={"maxiter": 25}).x
    return expit(odds(claims, index[writer] * np.exp(index[writers + about])))


def odds(claims: Claims, weight: Array) -> Array:
    total: Array = np.bincount(claims[1], weights=(2 * claims[2] - 1) * weight).astype(np.float64)
    return total


LAWS: dict[str, Callable[[Claims], Array]] = {
    name: partial(shipped, name) for name in ("records", "dawid_skene", "crh", "truthfinder", "majority")
} | {
    "ZenCrowd, from votes": partial(zencrowd, from_votes=True),
    "ZenCrowd, from .8": partial(zencrowd, from_votes=False),
    "GLAD": glad,
}
