"""Wrong answers on real claims: the tuned law compared with Dawid and Skene's estimate of every writer's confusions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.studies.real import RealClaims, read_real
from malsim.memory import Rules
from tests.bench.rows.ratios import Ratio, peer

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["rows", "wrong_by_dawid_skene"]

DATA = Path("..") / "shared" / "data"
TUNED = Path("scenarios") / "rules" / "tuned_on_claims.toml"
FOLDERS = ("llm_boolq", "zencrowd_us", "snow_rte")
STEPS = 100


def rows() -> Iterator[Ratio]:
    """One row a set of claims whose truth does not change; no limit, as no law is promised to win on every set.

    Both hear every claim. The law's constants were tuned on half of the objects; Dawid and Skene's method sees no truth.
    Raises `UsageError` where crowd-kit or the claims are not at hand.
    """
    peer("crowdkit", hint="pip install crowd-kit==1.4.2")
    if not DATA.is_dir() or not TUNED.is_file():
        raise UsageError("no real claims to compare on", where="tests.bench", given=str(DATA), hint="run it where they are")
    rules = Rules.read(TUNED)
    for name in FOLDERS:
        claims = read_real(DATA / name)
        ours, theirs = 1.0 - float(claims.answers(rules)["right"].to_numpy().mean()), wrong_by_dawid_skene(claims)
        yield Ratio(
            name=f"wrong answers, {name}, against Dawid-Skene (crowd-kit)", ours=ours, theirs=theirs, limit=None, unit="%"
        )


def wrong_by_dawid_skene(claims: RealClaims) -> float:
    """The share of questions that Dawid and Skene's method answers wrongly, by crowd-kit, in 100 steps.

    Source: Dawid and Skene, Maximum likelihood estimation of observer error-rates, Applied Statistics 28 (1979).
    """
    aggregation = peer("crowdkit.aggregation", hint="pip install crowd-kit==1.4.2")
    ((memory, truth),) = claims.parts
    names = memory.writers["writer"].to_numpy()
    value = pl.col("title").str.slice(pl.col("object").str.len_chars() + len(" is "))
    labels = memory.cells.select(task="object", label=value).with_columns(worker=names[memory.cells["author"].to_numpy()])
    answers = aggregation.DawidSkene(n_iter=STEPS).fit_predict(labels.to_pandas())
    frame = pl.DataFrame({"object": answers.index.to_list(), "answer": answers.to_list()})
    both = truth.join(frame, on="object", how="left")
    right = both.select((pl.col("answer") == pl.col("value")).fill_null(value=False).mean())
    return 1.0 - float(right.item())
