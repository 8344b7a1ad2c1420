"""The ten initial cells of every graph, and the transfer of cells from a global memory to a project's memory."""

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
STATED = 0.7  # stated confidence: the default cap for claims without support
LEAST = 1e-6  # lowest confidence, because the gate refuses a confidence of 0


def ten_cells(*, t: float = 0.0, rep: int = 0) -> pl.DataFrame:
    """Return the ten initial claims: five locked, pinned and immutable ones, and five questions."""
    text = files("malsim.memory.push").joinpath("ten_cells.toml").read_text(encoding="utf-8")
    cells = pl.DataFrame(tomllib.loads(text)["cell"]).with_columns(pl.col("fixed").fill_null(value=False))
    return cells.select(
        "handle", "title", pl.col("body").str.strip_chars(), locked="fixed", pinned="fixed",
        requires_review=~pl.col("fixed"), rep=rep, t=t, writer=pl.lit(WRITER), confidence=STATED,
        origin=pl.lit("program"), sequence=pl.int_range(pl.len()),
    )  # fmt: skip


def bootstrap(memory: Memory, *, t: float = 0.0, rep: int = 0, rules: Rules | None = None, missing: bool = False) -> Memory:
    """Return the memory with the ten initial cells if the replication is empty.

    With `missing`, add those that are absent.
    """
    t, here = finite(t, where="t"), memory.cells.filter(pl.col("rep") == rep)["handle"]
    if here.len() and not missing:
        return memory
    cells = ten_cells(t=t, rep=rep)
    return admit(memory, cells.filter(~pl.col("handle").is_in(here.implode())), rules).memory


def prime(memory: Memory, source: Memory, *, t: float = 0.0, rep: int = 0, rules: Rules | None = None) -> Memory:
    """Return the memory after admitting the active cells of a global memory as claims by the writer `_init`.

    Kind, title, body, summary, object, value, topics, entities, stability and sensitivity are copied from `source`
    (replication 0), except secret cells. The confidence is the effective confidence there, capped as for a claim without
    support. Records, edges and sources are not copied, and neither is content that the memory has already.
    """
    rules, t = rules or Rules(), finite(t, where="t")
    cells = source.cells.with_row_index("sequence")
    cells = cells.filter((pl.col("status") == "active") & (pl.col("rep") == 0) & (pl.col("sensitivity") != "secret"))
    cells = cells.filter(pl.col("effective").is_not_null())
    handles = memory.cells.filter(pl.col("rep") == rep)["handle"].implode()
    confidence = pl.min_horizontal("effective", pl.lit(rules.confidence_cap)).clip(lower_bound=LEAST)
    claims = cells.filter(pl.col("writer") != WRITER).select(
        pl.when(~pl.col("handle").is_in(handles)).then("handle").alias("handle"),
        *("kind", "title", "body", "summary", "object", "value", "topics", "entities", "stability", "sensitivity"),
        *(confidence.alias("confidence"), "sequence"),
        rep=rep, t=t, writer=pl.lit(WRITER), origin=pl.lit("connector"),
    )  # fmt: skip
    return admit(memory, claims, rules).memory
