"""Real claims for tuning: a graph that is built once and answers questions under any rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.lab.studies.laws.claims import file_of
from malsim.memory import Memory, Rules, schema, settle
from malsim.memory.graph.index import scattered
from malsim.memory.outcomes import leaders, share_right
from malsim.sim.replay.feed import replay
from malsim.sim.writers.engine.claim_files import read_claims, read_truth

TICKS = 60
STILL = 1e-4


@dataclass(frozen=True, kw_only=True, eq=False)
class RealClaims:
    """Claims with known truth: for each day with questions, the memory at that time and the true values (object, value).

    Only the graph's edge weights depend on the rules. The graph is therefore built once, by a replay under the default
    rules, which make every weight 1 or −1.
    """

    name: str
    parts: tuple[tuple[Memory, pl.DataFrame], ...]
    path: Path | None = None

    @property
    def objects(self) -> pl.Series:
        """Objects with a known truth, sorted."""
        return pl.concat([truth["object"] for _, truth in self.parts]).unique().sort()

    def answers(self, rules: Rules, objects: pl.Series | None = None) -> pl.DataFrame:
        """Answer the questions about `objects` (None: all) under `rules`. Columns: object, probability, currency, right.

        The graph settles from stated confidence to 1e-4, in at most 60 ticks.
        """
        supports = pl.col("weight") > 0.0
        scale = pl.when(supports).then(rules.weight_supports).otherwise(rules.weight_contradicts)
        ticks, still = min(rules.settle_ticks, TICKS), max(rules.settle_tolerance, STILL)
        quick = rules.replace(settle_ticks=ticks, settle_tolerance=still)
        parts = []
        for start, truth in self.parts:
            edges = start.edges.with_columns(weight=pl.col("weight") * scale)
            fresh = Memory(start.cells.with_columns(effective=pl.col("stated")), edges, start.writers)
            now = float(start.cells["created"].to_numpy().max())
            memory = settle(fresh, now, quick).memory
            best = leaders(memory)
            currency = memory.cells["currency"].gather(best["row"])
            leading = best.select("object", "tied", probability="effective", currency=currency)
            questions = truth if objects is None else truth.filter(pl.col("object").is_in(objects.implode()))
            both = questions.join(leading, on="object", maintain_order="left")
            both = both.with_columns(title=pl.format("{} is {}", "object", "value")).with_columns(right=share_right("title"))
            parts.append(both.drop("value", "tied", "title"))
        return pl.concat(parts)


def read_real(folder: str | Path) -> RealClaims:
    """Read a folder with a claims file and a truth file, such as claims.csv.gz and truth.csv.gz. Bad rows are skipped.

    A dated question is answered by the memory as it was before that day. Raises `UsageError` if no claim is about an object
    of the truth.
    """
    folder = Path(folder)
    read = read_claims(file_of(folder, "claims"), on_bad_rows="skip")
    truth = read_truth(file_of(folder, "truth"), epoch=read.epoch)
    truth = truth.unique(["object", "asked"], keep="first", maintain_order=True).join(
        read.claims.select("object").unique(), on="object", how="semi", maintain_order="left"
    )
    if truth.is_empty():
        raise UsageError("the claims and the truth have no object in common", where=str(folder))
    whole = replay(read.claims).memory
    parts = []
    for (day,), questions in truth.sort("asked", "object").group_by("asked", maintain_order=True):
        memory = whole if day is None else before(whole, float(str(day)))
        if memory.cells.height:
            parts.append((memory, questions.select("object", "value")))
    return RealClaims(name=folder.name, parts=tuple(parts), path=file_of(folder, "claims"))


def before(memory: Memory, day: float) -> Memory:
    """Return the graph as it was before `day`, without later cells, edges and supersessions."""
    count = int((memory.cells["created"] < day).sum())
    replaced = pl.col("successor") < count
    active = pl.lit("active", schema.CELLS["status"])
    status = pl.when(pl.col("successor").is_null() | replaced).then("status").otherwise(active)
    cells = memory.cells.head(count).with_columns(status=status, successor=pl.when(replaced).then("successor"))
    edges = memory.edges.filter((pl.col("t") < day) & (pl.col("source") < count) & (pl.col("target") < count))
    return Memory(cells, edges, memory.writers)


def halves(objects: pl.Series, *, seed: int = 0) -> tuple[pl.Series, pl.Series]:
    """Split objects into two halves by a hash of name and seed. The split does not depend on the order of the objects."""
    names = objects.unique().sort()
    hashes = scattered(names.hash(0).to_numpy() + scattered(np.array([seed], dtype=np.uint64)))
    order = np.argsort(hashes, kind="stable")
    half = (len(names) + 1) // 2
    return names[order[:half]], names[order[half:]]
