"""Where `records` may be weak, a vote beside it: copies, topic liars, sleepers, few claims, values of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import SHARE
from malsim.laws.truth.closed import closed
from malsim.laws.truth.evidence import Evidence
from malsim.laws.truth.own_values import own_values
from tests.bench.studies import mean_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Array, Bools, Ints

__all__ = ["SPOTS", "weak_table"]

FACTS = 120
TOPIC = np.arange(FACTS) < FACTS // 3  # or what sleepers turn on


def copies(draw: np.random.Generator) -> tuple[Array, Bools]:
    """Four writers of .8, and one of .6 whom five others copy word for word."""
    right = draw.random((10, FACTS)) < np.where(np.arange(10) < 4, 0.8, 0.6)[:, None]
    right[5:] = right[4]
    return right.astype(float), np.ones(FACTS, dtype=bool)


def topic_liars(draw: np.random.Generator) -> tuple[Array, Bools]:
    """Five writers of .8, and four of .95 who lie about a third of the facts; asked is that third."""
    liar = (np.arange(9) >= 5)[:, None]
    right = draw.random((9, FACTS)) < np.where(liar, np.where(TOPIC, 0.05, 0.95), 0.8)
    return right.astype(float), TOPIC


def sleepers(draw: np.random.Generator) -> tuple[Array, Bools]:
    """Six writers of .8, and four who are always right until they turn, and always wrong then; asked is what came then."""
    right = draw.random((10, FACTS)) < 0.8
    right[6:] = ~TOPIC
    return right.astype(float), TOPIC


def few_claims(draw: np.random.Generator) -> tuple[Array, Bools]:
    """Twelve writers of .5 to .95, two of whom speak about each fact."""
    right = (draw.random((12, FACTS)) < draw.uniform(0.5, 0.95, 12)[:, None]).astype(float)
    right[draw.random((12, FACTS)).argsort(axis=0) >= 2] = np.nan  # who are silent
    return right, np.ones(FACTS, dtype=bool)


def open_values(draw: np.random.Generator) -> tuple[Array, Bools]:
    """The same twelve, four of whom speak about each fact, in values of its own, of which wrong ones are any of five."""
    right = (draw.random((12, FACTS)) < draw.uniform(0.3, 0.95, 12)[:, None]).astype(float)
    right[draw.random((12, FACTS)).argsort(axis=0) >= 4] = np.nan
    return right, np.ones(FACTS, dtype=bool)


SPOTS: dict[str, tuple[Callable[[np.random.Generator], tuple[Array, Bools]], int, int]] = {
    "six copies of one writer of .6, four of .8": (copies, 2, 0),
    "four of nine lie about one topic": (topic_liars, 2, 0),
    "four of ten sleepers, after they turn": (sleepers, 2, 0),
    "two claims a fact": (few_claims, 2, 0),
    "values of their own, four claims a fact": (open_values, 6, 0),
    "values of their own, ten facts verified": (open_values, 6, 10),
}
"""By name: who claims what, the number of values, and of how many facts the truth is known; they are not asked about."""


def weak_table(*, draws: int, seed: int = 0) -> pl.DataFrame:
    """The share of facts that each is right about, ties 1/k: spot, law, value, low, high (95 %)."""
    rows = []
    for spot, (world, values, verified) in SPOTS.items():
        both = [_shares(*world(rng), values, verified, rng) for rng in map(np.random.default_rng, range(seed, seed + draws))]
        laws = zip(("records", "majority"), np.array(both).T, strict=True)
        rows += [mean_row(each, SHARE, spot=spot, law=law) for law, each in laws]
    return pl.DataFrame(rows)


def _shares(right: Array, asked: Bools, values: int, verified: int, draw: np.random.Generator) -> tuple[float, float]:
    """What `records` and a vote are right about, of claims by [writers, facts]; wrong ones are any other value."""
    writer, about = np.nonzero(~np.isnan(right))
    truth = draw.integers(0, values, FACTS)
    wrong = draw.integers(1, values, right.shape) if values > 2 else np.ones(right.shape, dtype=np.int64)
    value = (truth[about] + np.where(right[writer, about] > 0.0, 0, wrong[writer, about])) % values
    known = np.isin(np.arange(FACTS), draw.choice(FACTS, verified, replace=False))
    keys = np.arange(FACTS) * values + truth
    items, item = np.unique(np.concatenate([about * values + value, keys[known]]), return_inverse=True)
    own = values > 2
    evidence = Evidence(
        writer=writer, object=about, value=item[: len(writer)] if own else value, weight=np.ones(len(writer)),
        bin=np.full(len(writer), -1), writer_rep=np.zeros(len(right), dtype=np.int64),
        object_rep=np.zeros(FACTS, dtype=np.int64), reps=1, values=values, item_object=items // values if own else None,
        pinned=np.where(known, np.searchsorted(items, keys) if own else truth, -1),
    )  # fmt: skip
    believed = np.full(FACTS * values, -1.0)
    if own:
        believed[items] = own_values(evidence).effective
    else:
        believed = closed(evidence).effective.ravel()
    votes = np.bincount(about * values + value, minlength=FACTS * values).astype(np.float64)
    return _right(believed, truth, asked & ~known), _right(votes, truth, asked & ~known)


def _right(worth: Array, truth: Ints, asked: Bools) -> float:
    table = worth.reshape(FACTS, -1)
    leads = table == table.max(axis=1, keepdims=True)
    return float((leads[np.arange(FACTS), truth] / leads.sum(axis=1))[asked].mean())
