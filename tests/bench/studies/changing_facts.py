"""Benefit of the time constant that `records` estimates for changing facts, measured on simulated claims and on polls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.intervals import SHARE
from malsim.lab.studies.laws.claims import read_folder
from malsim.lab.studies.laws.replay_report import replay_law
from malsim.lab.studies.laws.stream import Stream, ask, questions_of
from malsim.laws import plant_of
from tests.bench.studies import mean_row

if TYPE_CHECKING:
    from tests.bench.studies import Row

DATA = Path(__file__).parents[4] / "shared" / "data"
LAGS, MISSED, OBJECTS, DAYS, DRAWS = (0.5, 60.0), 0.3, 40, 2000.0, 8


def rows(seed: int) -> list[Row]:
    claims, truth = read_folder(DATA / "polls_seats_to_2012")
    found: list[Row] = []
    for tau_from in ("claims", "given"):
        draws = [right_share(draw, tau_from) for draw in range(seed, seed + DRAWS)]
        found.append(mean_row(draws, SHARE, world="four late writers", tau_from=tau_from))
        score = replay_law(claims, truth, law="records", params={"tau_from": tau_from}, seed=seed).score
        assert score is not None
        low, high = score.interval["accuracy"]
        polls = {"world": "polls", "tau_from": tau_from, "figure": "accuracy"}
        found.append({**polls, "value": score.value["accuracy"], "low": low, "high": high})
        found.append({**polls, "figure": "brier", "value": score.value["brier"]})
    return found


def right_share(seed: int, tau_from: str) -> float:
    claims, truth = late_writers(seed, writers=4)
    stream = Stream.of(claims, questions_of(truth, ask=61.0))
    return float(ask(plant_of("records", {"tau_from": tau_from}), stream, ticks=True)["right"].to_numpy().mean())


def late_writers(seed: int, writers: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw, claims, truth = np.random.default_rng(seed), [], []
    for name in (f"fact {number}" for number in range(OBJECTS)):
        t, value = float(draw.uniform(0.0, 30.0)), 0
        while t < DAYS:
            truth.append((name, f"{name} is {value}", t))
            sees = [writer for writer in range(writers) if t < 30.0 or draw.random() > MISSED]
            claims += [(f"w{writer}", name, f"{name} is {value}", t + float(draw.uniform(*LAGS))) for writer in sees]
            t, value = t + 60.0 + float(draw.exponential(240.0)), (value + int(draw.integers(1, 3))) % 3
    frame = pl.DataFrame(claims, schema=["writer", "object", "value", "t"], orient="row").sort("t")
    frame = frame.with_columns(confidence=pl.lit(0.8))
    return frame, pl.DataFrame(truth, schema=["object", "value", "asked"], orient="row")
