"""What verified facts do for `records` on three sets of real claims, and which to verify next.

Draws of objects of a set; five facts are verified at a time, and count as right from then on. The choices: what is closest
under `records`, what is closest by votes, at random, and, of the ten closest, the largest expected fall of the squared
error: each candidate at each of its two values, by what is believed of them. Answers are those of confusions; in one row
ten facts or more choose the form, as they do in `records` where nothing else is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import ANY, SHARE
from malsim.lab.studies.laws.claims import read_folder
from malsim.lab.studies.laws.stream import Stream, arrived, ask
from malsim.lab.studies.laws.verify_next import closest_facts
from malsim.laws import plant_of
from malsim.sim.record.scoring import squared_error
from tests.bench.studies import mean_row, share_row
from tests.docs.page_figures import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from tests.bench.studies import Row

    Choice: TypeAlias = Callable[[pl.DataFrame, int], pl.Series]

SETS = ("llm_boolq", "snow_rte", "zencrowd_us")
DRAWS, SIZE, AT_A_TIME, COUNTS = 8, 200, 5, (5, 20)
LARGE, FACTS = 600, 50  # of the draws whose form verified facts choose


def rows(seed: int) -> list[Row]:
    """Accuracy under either form; accuracy of each choice, how much more its Brier score is than the closest's, its end."""
    form: dict[tuple[str, str], list[float]] = {}
    scores: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for data, claims, truth, draw in _worlds(seed):
        large = truth.sample(LARGE, seed=draw)
        known = large.sample(FACTS, seed=draw)
        for values in ("shared", "auto"):
            form.setdefault((data, values), []).append(_scores(_stream(claims, large, known), large, known, values)[0])
        objects = truth.sample(SIZE, seed=draw)
        for name, (choose, values) in CHOICES.items():
            for count, pair in _verified(claims, objects, choose, values, draw):
                scores.setdefault((name, count), []).append(pair)
    found = [mean_row(each, SHARE, data=data, form=values) for (data, values), each in form.items()]
    for (name, count), each in scores.items():
        right, brier = np.array(each).T
        more = brier - np.array(scores["closest", count])[:, 1]
        words = {"choice": name, "verified": str(count)}
        found.append(mean_row(right, SHARE, figure="accuracy", **words))
        found.append(mean_row(more, ANY, figure="brier", **words))
        sets = zip(SETS, np.split(brier, len(SETS)), strict=True)
        found += [mean_row(part, SHARE, figure=f"brier on {data}", **words) for data, part in sets]
    turned = (right < 0.5 for each in scores.values() for right, _ in each)
    return [*found, share_row(turned, figure="below a half")]


def _worlds(seed: int) -> Iterator[tuple[str, pl.DataFrame, pl.DataFrame, int]]:
    """Claims and truth of each set, once a draw."""
    for data in SETS:
        claims, truth = read_folder(DATA / data, on_bad_rows="skip")
        truth = truth.filter(pl.col("object").is_in(claims["object"].implode())).unique(
            "object", keep="first", maintain_order=True
        )
        for draw in range(DRAWS):
            yield data, claims, truth, 1000 * seed + draw


def _stream(claims: pl.DataFrame, objects: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The claims about some objects, and some facts that are verified."""
    facts = known.select("object", "value", writer=pl.lit("audit"), verified=pl.lit(value=True), line=pl.lit(-1, pl.Int64))
    own = claims.filter(pl.col("object").is_in(objects["object"].implode())).with_columns(
        verified=pl.lit(value=False), line=pl.col("line").cast(pl.Int64)
    )
    return pl.concat([own, facts], how="diagonal_relaxed")


def _scores(stream: pl.DataFrame, objects: pl.DataFrame, known: pl.DataFrame, values: str) -> tuple[float, float]:
    """Accuracy and Brier score of `records` on the objects that are not verified."""
    asked = objects.join(known, on="object", how="anti", maintain_order="left")
    answers = ask(plant_of("records", {"values": values}), Stream.of(arrived(stream), asked), ticks=True)
    right = answers["right"].to_numpy()
    return float(right.mean()), float(squared_error(answers["probability"].to_numpy(), right).mean())


def _verified(
    claims: pl.DataFrame, objects: pl.DataFrame, choose: Choice, values: str, draw: int
) -> Iterator[tuple[int, tuple[float, float]]]:
    """Scores on all objects after so many facts."""
    known = objects.head(0)
    for count in range(AT_A_TIME, COUNTS[-1] + 1, AT_A_TIME):
        chosen = choose(_stream(claims, objects, known), draw + count)
        known = pl.concat([known, objects.filter(pl.col("object").is_in(chosen.implode()))])
        if count in COUNTS:
            right, brier = _scores(_stream(claims, objects, known), objects, known, values)
            left = 1.0 - known.height / objects.height
            yield count, (right * left + 1.0 - left, brier * left)


def _closest(stream: pl.DataFrame, _draw: int) -> pl.Series:
    return closest_facts(stream, AT_A_TIME)["object"]


def _random(stream: pl.DataFrame, draw: int) -> pl.Series:
    open_facts = (
        stream.filter(~pl.col("object").is_in(stream.filter("verified")["object"].implode()))["object"].unique().sort()
    )
    return open_facts.sample(AT_A_TIME, seed=draw)


def _expected_fall(stream: pl.DataFrame, _draw: int) -> pl.Series:
    """The five of the ten closest whose verdict would leave least Σ m (1 − m), m what is believed of the best value."""
    near = closest_facts(stream, 2 * AT_A_TIME)
    left = [
        sum(belief * _error(stream, about, value) for value, belief in ((leads, high), (rival, low))) / (high + low)
        for about, leads, high, rival, low in near.iter_rows()
    ]
    return near["object"].gather(np.argsort(left, kind="stable")[:AT_A_TIME])


def _error(stream: pl.DataFrame, about: str, value: str) -> float:
    fact = pl.DataFrame({"object": [about], "value": [value]})
    m = closest_facts(pl.concat([stream, _stream(stream.head(0), fact, fact)], how="diagonal_relaxed"), stream.height)[
        "belief"
    ].to_numpy()
    return float((m * (1.0 - m)).sum())


CHOICES: dict[str, tuple[Choice, str]] = {
    "closest": (_closest, "shared"),
    "closest by votes": (lambda stream, _: closest_facts(stream, AT_A_TIME, law="majority")["object"], "shared"),
    "random": (_random, "shared"),
    "expected fall": (_expected_fall, "shared"),
    "closest choose the form": (_closest, "auto"),
}
