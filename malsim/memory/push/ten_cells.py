"""The ten initial cells of every graph, and priming a project's memory from a global one."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.finite import finite
from malsim.memory.gate.admit import admit
from malsim.memory.rules import Rules
from malsim.memory.schema import INIT

if TYPE_CHECKING:
    from malsim.memory.graph.claim_graph import Memory

WRITER = INIT
MAP = "REF_map_0003"
STATED = 0.7  # no more than the gate lets an unsupported claim have
LEAST = 1e-6  # a claim is stated above 0


def ten_cells(*, t: float = 0.0, rep: int = 0) -> pl.DataFrame:
    """Return the ten initial claims: five locked, pinned, immutable ones, the same everywhere, and five questions.

    >>> ten_cells()["title"].to_list()[5:]
    ['objective', 'constraints', 'risks', 'success criteria', 'carried context']
    """
    text = files("malsim.memory.push").joinpath("ten_cells.toml").read_text(encoding="utf-8")
    cells = pl.DataFrame(tomllib.loads(text)["cell"]).with_columns(pl.col("fixed").fill_null(value=False))
    return cells.select(
        "handle",
        "title",
        pl.col("body").str.strip_chars(),
        locked="fixed",
        pinned="fixed",
        requires_review=~pl.col("fixed"),
        rep=rep,
        t=t,
        writer=pl.lit(WRITER),
        confidence=STATED,
        origin=pl.lit("program"),
        sequence=pl.int_range(pl.len()),
    )


def bootstrap(memory: Memory, *, t: float = 0.0, rep: int = 0, rules: Rules | None = None, missing: bool = False) -> Memory:
    """Return the memory with the ten cells if its replication is empty; with `missing`, add those it lacks."""
    t, here = finite(t, where="t"), memory.cells.filter(pl.col("rep") == rep)["handle"]
    if here.len() and not missing:
        return memory
    cells = ten_cells(t=t, rep=rep)
    return admit(memory, cells.filter(~pl.col("handle").is_in(here.implode())), rules).memory


def prime(memory: Memory, source: Memory, *, t: float = 0.0, rep: int = 0, rules: Rules | None = None) -> Memory:
    """Return the memory with the subjects of a global memory as claims by `_init`; confidence is not carried over.

    Of every active cell of `source` (replication 0) come kind, title, body, summary, object, value, topics, entities and
    stability, as sure as it is there but never surer than an unsupported claim may be; no record, no edge and no source
    comes along. What the memory already says is not said again. Afterwards the two stand alone.
    """
    rules, t = rules or Rules(), finite(t, where="t")
    cells = source.cells.with_row_index("sequence")
    cells = cells.filter((pl.col("status") == "active") & (pl.col("rep") == 0) & (pl.col("sensitivity") != "secret"))
    cells = cells.filter(pl.col("effective").is_not_null())  # who stated nothing lends nothing
    handles = memory.cells.filter(pl.col("rep") == rep)["handle"].implode()
    confidence = pl.min_horizontal("effective", pl.lit(rules.confidence_cap)).clip(lower_bound=LEAST)
    claims = cells.filter(pl.col("writer") != WRITER).select(
        pl.when(~pl.col("handle").is_in(handles)).then("handle").alias("handle"),
        *("kind", "title", "body", "summary", "object", "value", "topics", "entities", "stability", "sensitivity"),
        *(confidence.alias("confidence"), "sequence"),
        rep=rep,
        t=t,
        writer=pl.lit(WRITER),
        origin=pl.lit("connector"),
    )
    return admit(memory, claims, rules).memory
