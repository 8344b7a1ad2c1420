"""Tombstones: rejected or erased cells, and digests of values that are refused from then on.

A fact is a replication (in a store, a scope), an object and what is said of it: the value, or else the words of the title.
Facts are compared without their disguises (`malsim.base.screen.look_alikes`): a paraphrase is another fact.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.screen.look_alikes import undisguised
from malsim.memory import schema
from malsim.memory.graph.texts import content_of, folded

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

ERASED = "(erased)"
TEXTS = ("key", "object", "title", "body", "summary", "value", "value_text", "topics", "entities", "source_refs")
_VALUES = {name: schema.CELLS[name] for name in ("value", "value_text", "title")}
_AS_SAID = pl.coalesce(pl.col("value").cast(pl.String), "value_text", "title")
_SOURCES = ("derived_from", "depends_on")


def value_as_text() -> pl.Expr:
    """Return what a cell or claim says of its object, as text.

    >>> cell = {"value": [8080.0, None], "value_text": [None, None], "title": ["the port is 8080", " Uses  SQLite"]}
    >>> pl.DataFrame(cell).cast({"value_text": pl.String}).select(value_as_text()).to_series().to_list()
    ['8080.0', 'uses sqlite']
    """
    return pl.coalesce(pl.col("value").cast(pl.String), folded(pl.coalesce("value_text", "title")))


def digest(rep: int, object_: str | None, value: str) -> str:
    """Return what stands for a fact where its words may not, the same for each disguise of them.

    >>> digest(0, "port", "8080.0") == digest(0, "Port", "80 80") != digest(1, "port", "8080.0")
    True
    """
    fact = f"{rep}\0{undisguised(object_ or '')}\0{undisguised(value)}"
    return blake2b(fact.encode(), digest_size=16).hexdigest()


def digests_of() -> pl.Expr:
    """Return the digest of what each row of a frame of cells or claims says of its object."""
    return _by_row(lambda rep, object_, title, value: digest(rep, object_, title if value is None else value))


def digests_barred() -> pl.Expr:
    """Return what a row that is taken back bars: its fact, and its title where a claim says nothing but a title."""

    def both(rep: int, object_: str | None, title: str, value: str | None) -> str:
        return " ".join(dict.fromkeys([digest(rep, object_, title if value is None else value), digest(rep, None, title)]))

    return _by_row(both)


def digests_claimed() -> pl.Expr:
    """Return the digests by which a claim may be barred: its fact's; without a value, also its title's."""

    def one_or_two(rep: int, object_: str | None, title: str, value: str | None) -> str:
        facts = [digest(rep, object_, title if value is None else value)]
        return " ".join(dict.fromkeys([*facts, *([digest(rep, None, title)] if value is None else [])]))

    return _by_row(one_or_two)


def _by_row(make: Callable[..., str]) -> pl.Expr:
    value = pl.coalesce(pl.col("value").cast(pl.String), "value_text")

    def texts(facts: pl.Series) -> pl.Series:
        return pl.Series([make(*row) for row in facts.struct.unnest().rows()], dtype=pl.String)

    fact = pl.struct("rep", "object", title=pl.col("title").fill_null(""), value=value)
    return fact.map_batches(texts, return_dtype=pl.String)


def tombstones(memory: Memory) -> frozenset[str]:
    return frozenset(word for text in memory.cells["tombstone"].drop_nulls() for word in text.split())


def text_of(value: str | float) -> str:
    """Return a value as text, a number as its column prints it.

    >>> text_of(8080), text_of("Uses SQLite")
    ('8080.0', 'Uses SQLite')
    """
    numbers = [None if isinstance(value, str) else float(value)]
    words = [value if isinstance(value, str) else None]
    item = pl.DataFrame({"value": numbers, "value_text": words, "title": words}, schema=_VALUES)
    return str(item.select(_AS_SAID).item())


def rows_about(memory: Memory, rep: int, object_: str, value: str | float | None = None) -> Ints:
    about = _rows(memory, (pl.col("rep") == rep) & (pl.col("object") == object_))
    return about if value is None else _same(memory, about, digest(rep, object_, text_of(value)))


def rows_like(memory: Memory, row: int) -> Ints:
    cell = memory.cells[row].select("rep", "object", value=_AS_SAID).row(0, named=True)
    if not cell["object"]:
        return np.array([row])[[memory.cells["title"][row] != ERASED]]
    return rows_about(memory, cell["rep"], cell["object"], cell["value"])


def _same(memory: Memory, rows: Ints, fact: str) -> Ints:
    """Return those of some rows that say a fact, in a disguise or not."""
    return rows[(memory.cells[rows].select(digests_of()).to_series() == fact).to_numpy()] if rows.size else rows


def rows_barred(memory: Memory, fact: str) -> Ints:
    return _rows(memory, pl.col("tombstone").str.contains(fact, literal=True))


def _rows(memory: Memory, here: pl.Expr) -> Ints:
    return np.flatnonzero(memory.cells.select(here.fill_null(value=False)).to_series().to_numpy())


def derived(memory: Memory, rows: Ints) -> Ints:
    edges = memory.edges.filter(pl.col("relation").cast(pl.String).is_in(_SOURCES)).select("source", "target")
    source, target = (edges[name].to_numpy() for name in ("source", "target"))
    fallen = np.zeros(memory.height, dtype=bool)
    fallen[rows] = True
    while (more := source[fallen[target] & ~fallen[source]]).size:
        fallen[more] = True
    return np.flatnonzero(fallen)


def reject(memory: Memory, rows: Ints, *, now: float, facts: Ints) -> Memory:
    memory = memory.recorded
    return memory.with_cells(_taken_back(memory.cells, rows, now, facts))


def erase(memory: Memory, rows: Ints, *, now: float, facts: Ints) -> Memory:
    memory, here = memory.recorded, _mask(memory.height, rows)
    nothing: dict[str, pl.Expr] = {name: pl.lit(None, schema.CELLS[name]) for name in TEXTS}
    nothing |= {"key": pl.col("handle"), "title": pl.lit(ERASED), "body": pl.lit("")}
    nothing |= dict.fromkeys(("topics", "entities", "source_refs"), pl.lit([], dtype=schema.CELLS["topics"]))
    cells = _taken_back(memory.cells, rows, now, facts).with_columns(
        pl.when(here).then(value).otherwise(name).alias(name) for name, value in nothing.items()
    )
    content = content_of(pl.col("kind").cast(pl.String), folded(pl.col("title")))
    cells = cells.with_columns(pl.when(here).then(content).otherwise("content").alias("content"))
    return memory.with_texts(cells)


def may_take_back(memory: Memory, rows: Ints, group: Ints, by: str, rules: Rules) -> Bools:
    """Mark the groups of rows that a person may take back: own ones, those the rules let them supersede, all for a verifier.

    `group` numbers the groups from 0; whoever wrote one row of a group may take back all of it. Under
    `better_calibrated` the person's record in that replication must exceed those of all its writers.
    """
    count, names = int(group.max(initial=-1)) + 1, rules.verifiers.split()
    locked = memory.column("locked")[rows] | memory.column("immutable")[rows] if rules.locks == "enforced" else rows < 0
    free: Bools = np.bincount(group[locked], minlength=count) == 0
    if rules.supersede_by == "any" or "*" in names or by in names:
        return free
    writers, authors = memory.writers, memory.column("author")[rows]
    own = np.bincount(group[(writers["writer"] == by).to_numpy()[authors]], minlength=count) > 0
    if rules.supersede_by == "better_calibrated":
        grounded = writers.filter(pl.col("writer") == by, pl.col("claims") >= rules.calibration_history)
        record = dict(grounded.select("rep", "calibration").rows())
        his = np.array([record.get(rep, -1.0) for rep in memory.column("rep")[rows].tolist()])
        above = his > writers["calibration"].to_numpy()[authors]
        own |= np.bincount(group[~above], minlength=count) == 0
    return free & own


def lift(memory: Memory, rows: Ints) -> Memory:
    memory, here = memory.recorded, _mask(memory.height, rows)
    none = pl.lit(None, pl.String)
    return memory.with_cells(memory.cells.with_columns(pl.when(here).then(none).otherwise("tombstone").alias("tombstone")))


def _taken_back(cells: pl.DataFrame, rows: Ints, now: float, facts: Ints) -> pl.DataFrame:
    here, digests = _mask(cells.height, rows), cells["tombstone"]
    facts = facts[(cells["title"][facts] != ERASED).to_numpy()] if facts.size else facts
    if facts.size:
        digests = digests.scatter(facts, cells[facts].select(digests_barred()).to_series())
    annexed = pl.lit("annexed", schema.CELLS["status"])
    return cells.with_columns(
        pl.when(here).then(pl.coalesce("rejected", pl.lit(now))).otherwise("rejected").alias("rejected"),
        pl.when(here).then(annexed).otherwise("status").alias("status"),
        pl.when(here).then(None).otherwise("worth").alias("worth"),
        (pl.col("annexed") | here).alias("annexed"),
        digests.alias("tombstone"),
    )


def _mask(height: int, rows: Ints) -> pl.Series:
    mask = np.zeros(height, dtype=bool)
    mask[rows] = True
    return pl.Series(mask)
