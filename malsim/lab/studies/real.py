"""Real claims as a problem to tune on: the graph built once, any rules scored on the objects one names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.errors import UsageError
from malsim.intervals import wilson
from malsim.lab.studies.laws.claims import file_of
from malsim.memory import Memory, Rules, schema, settle
from malsim.memory.graph.index import scattered
from malsim.memory.scoring.answers import answers
from malsim.sim.record.scoring import METRICS, metrics
from malsim.sim.replay.claim_files import read_claims, read_truth
from malsim.sim.replay.feed import replay

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["RealClaims", "answered", "halves", "read_real", "scored"]

TICKS = 60
STILL = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False)
class RealClaims:
    """Claims with truth: the memory they make, and what is true (object, value), one pair for each day that is asked about.

    But for the weight of its edges the graph does not depend on the rules, so it is built once, by a replay under the
    default rules, where every such weight is 1 or −1.
    """

    name: str
    parts: tuple[tuple[Memory, pl.DataFrame], ...]

    @property
    def objects(self) -> pl.Series:
        """The objects that truth is known of."""
        return pl.concat([truth["object"] for _, truth in self.parts]).unique().sort()

    def judged(
        self, rules: Rules, objects: pl.Series | None = None, *, afterwards: Callable[[Memory, Rules], Memory] | None = None
    ) -> pl.DataFrame:
        """The answers to the questions about some objects (all, if None) under rules: object, probability, right.

        The graph settles from stated confidence, in at most 60 ticks, to 1e-4; `afterwards` may settle it on in its own way.
        """
        supports = pl.col("weight") > 0.0
        scale = pl.when(supports).then(rules.weight_supports).otherwise(rules.weight_contradicts)
        ticks, still = min(rules.settle_ticks, TICKS), max(rules.settle_tolerance, STILL)
        quick = rules.replace(settle_ticks=ticks, settle_tolerance=still)
        found = []
        for memory, truth in self.parts:
            weighed = memory.edges.with_columns(weight=pl.col("weight") * scale)
            fresh = Memory(memory.cells.with_columns(effective=pl.col("stated")), weighed, memory.writers)
            now = float(memory.cells["created"].to_numpy().max())
            settled = settle(fresh, now, quick).memory
            found.append(answered(afterwards(settled, quick) if afterwards else settled, _asked(truth, objects)))
        return pl.concat(found)

    def score(self, rules: Rules, objects: pl.Series | None = None) -> dict[str, float]:
        """Every metric of `sim.scoring` over some objects under rules."""
        return scored(self.judged(rules, objects))

    def accuracy(self, rules: Rules, *, afterwards: Callable[[Memory, Rules], Memory] | None = None) -> dict[str, float]:
        """The share of questions answered rightly under rules, with its 95 % interval (Wilson)."""
        right = self.judged(rules, afterwards=afterwards)["right"]
        share = float(right.sum()) / len(right)
        low, high = wilson(share, len(right))
        return {"accuracy": share, "low": float(low), "high": float(high)}

    def voted(self, objects: pl.Series | None = None) -> pl.DataFrame:
        """What the majority answers: the value most claims gave, the earliest of equals, with its share as probability."""
        return pl.concat([_voted(memory, _asked(truth, objects)) for memory, truth in self.parts])


def read_real(folder: str | Path) -> RealClaims:
    """Read a folder with a claims and a truth file (such as claims.csv.gz, truth.csv.gz); bad rows are left out.

    Dated questions are asked of the memory as it stood before their day. Raises `UsageError` where no truth is given about
    an object of the claims.
    """
    folder = Path(folder)
    found = read_claims(file_of(folder, "claims"), on_bad_rows="skip")
    truth = read_truth(file_of(folder, "truth"), epoch=found.epoch)
    known = truth.unique(["object", "asked"], keep="first", maintain_order=True).join(
        found.claims.select("object").unique(), on="object", how="semi", maintain_order="left"
    )
    if known.is_empty():
        raise UsageError("no truth given for any object of the claims", where=str(folder))
    whole = replay(found.claims).memory
    parts = []
    for (asked,), questions in known.sort("asked", "object").group_by("asked", maintain_order=True):
        memory = whole if asked is None else before(whole, float(str(asked)))
        if memory.cells.height:
            parts.append((memory, questions.select("object", "value")))
    return RealClaims(name=folder.name, parts=tuple(parts))


def before(memory: Memory, day: float) -> Memory:
    """The graph as it stood before a day: its first cells, their edges, and nobody replaced by a later one."""
    count = int((memory.cells["created"] < day).sum())
    gone = pl.col("successor") < count
    status = pl.when(pl.col("successor").is_null() | gone).then("status").otherwise(pl.lit("active", _STATUS))
    cells = memory.cells.head(count).with_columns(status=status, successor=pl.when(gone).then("successor"))
    edges = memory.edges.filter((pl.col("t") < day) & (pl.col("source") < count) & (pl.col("target") < count))
    return Memory(cells, edges, memory.writers)


_STATUS = schema.CELLS["status"]


def answered(memory: Memory, asked: pl.DataFrame) -> pl.DataFrame:
    """What a replayed memory answers to questions (object, value): object, probability, right."""
    said = answers(memory).select("object", said="said", probability="effective")
    true = pl.format("{} is {}", "object", "value")
    both = asked.with_columns(true.alias("true")).join(said, on="object", maintain_order="left")
    return both.select("object", "probability", right=pl.col("said") == pl.col("true"))


def _asked(truth: pl.DataFrame, objects: pl.Series | None) -> pl.DataFrame:
    return truth if objects is None else truth.filter(pl.col("object").is_in(objects.implode()))


def _voted(memory: Memory, asked: pl.DataFrame) -> pl.DataFrame:
    """The majority's answers; every claim is a cell, replaced ones included."""
    said = memory.cells.select("object", "title").with_row_index("row")
    votes = said.group_by("object", "title").agg(pl.len().alias("votes"), pl.col("row").min())
    share = pl.col("votes") / pl.col("votes").sum().over("object")
    ranked = votes.with_columns(probability=share).sort(["votes", "row"], descending=[True, False])
    best = ranked.unique("object", keep="first", maintain_order=True)
    both = asked.with_columns(pl.format("{} is {}", "object", "value").alias("true")).join(
        best, on="object", maintain_order="left"
    )
    return both.select("object", "probability", right=pl.col("title") == pl.col("true"))


def halves(objects: pl.Series, *, seed: int = 0) -> tuple[pl.Series, pl.Series]:
    """Objects in two halves by a hash of their name and the seed: which half does not depend on their order."""
    ordered = objects.unique().sort()
    lot = scattered(ordered.hash(0).to_numpy() + scattered(np.array([seed], dtype=np.uint64)))
    order = np.argsort(lot, kind="stable")
    half = (len(ordered) + 1) // 2
    return ordered[order[:half]], ordered[order[half:]]


def scored(judged: pl.DataFrame) -> dict[str, float]:
    """Every metric of `sim.scoring` over judged answers."""
    if judged.is_empty():
        raise UsageError("no truth given for any of these objects", where="score")
    probability, right = judged["probability"].to_numpy(), judged["right"].to_numpy()
    one: NDArray[np.float64] = np.ones((1, judged.height))
    found = metrics(probability, right, one)
    return {name: float(found[name][0]) for name in METRICS}
