"""Tombstones: marks of rejected or erased cells, and digests of the values that the gate refuses from then on.

A fact is a replication (in a store, a scope), an object, and the value stated about it or, without a value, the title.
Facts are compared after look-alike letters are replaced (`malsim.base.screen.look_alikes`); a paraphrase is another fact.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl

from malsim.base.screen.look_alikes import undisguised
from malsim.memory import schema
from malsim.memory.graph.texts import content_of, folded

if TYPE_CHECKING:
    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

ERASED = "(erased)"
TEXTS = ("key", "object", "title", "body", "summary", "value", "value_text", "topics", "entities", "source_refs")
_STATED = pl.coalesce(pl.col("value").cast(pl.String), "value_text", "title")
_SOURCES = ("derived_from", "depends_on")


def value_as_text() -> pl.Expr:
    """Return an expression for the value, as text, that a cell or claim states about its object."""
    return pl.coalesce(pl.col("value").cast(pl.String), folded(pl.coalesce("value_text", "title")))


def digest(rep: int, object_: str | None, value: str) -> str:
    """Return a digest that identifies a fact without revealing its words. Look-alike spellings have the same digest."""
    fact = f"{rep}\0{undisguised(object_ or '')}\0{undisguised(value)}"
    return blake2b(fact.encode(), digest_size=16).hexdigest()


def digests_of(titles: Literal["none", "without value", "all"] = "none") -> pl.Expr:
    """Return an expression for the digest of the fact in each cell or claim and, if requested, of its title."""
    value = pl.coalesce(pl.col("value").cast(pl.String), "value_text")

    def join(rep: int, object_: str | None, title: str, value: str | None) -> str:
        digests = [digest(rep, object_, title if value is None else value)]
        if titles == "all" or (titles == "without value" and value is None):
            digests.append(digest(rep, None, title))
        return " ".join(dict.fromkeys(digests))

    def texts(facts: pl.Series) -> pl.Series:
        return pl.Series([join(*row) for row in facts.struct.unnest().rows()], dtype=pl.String)

    fact = pl.struct("rep", "object", title=pl.col("title").fill_null(""), value=value)
    return fact.map_batches(texts, return_dtype=pl.String)


def tombstones(memory: Memory) -> frozenset[str]:
    """Return the digests of all facts and titles that the gate refuses."""
    return frozenset(word for text in memory.cells["tombstone"].drop_nulls() for word in text.split())


def text_of(value: str | float) -> str:
    """Return a value as text. Numbers are formatted as polars formats floats."""
    return value if isinstance(value, str) else str(pl.Series([float(value)]).cast(pl.String).item())


def rows_about(memory: Memory, rep: int, object_: str, value: str | float | None = None) -> Ints:
    """Return the rows of the cells about an object. With a value, return only the cells that state it, in any spelling."""
    rows = _rows(memory, (pl.col("rep") == rep) & (pl.col("object") == object_))
    if value is None or not rows.size:
        return rows
    fact = digest(rep, object_, text_of(value))
    stating: Ints = rows[(memory.cells[rows].select(digests_of()).to_series() == fact).to_numpy()]
    return stating


def rows_like(memory: Memory, row: int) -> Ints:
    """Return the rows of the cells that state the same value about the same object, or only `row` if it has no object."""
    cell = memory.cells[row].select("rep", "object", value=_STATED).row(0, named=True)
    if not cell["object"]:
        return np.array([row])[[memory.cells["title"][row] != ERASED]]
    return rows_about(memory, cell["rep"], cell["object"], cell["value"])


def rows_barred(memory: Memory, fact: str) -> Ints:
    return _rows(memory, pl.col("tombstone").str.contains(fact, literal=True))


def _rows(memory: Memory, condition: pl.Expr) -> Ints:
    return np.flatnonzero(memory.cells.select(condition.fill_null(value=False)).to_series().to_numpy())


def derived(memory: Memory, rows: Ints) -> Ints:
    """Return the given rows and all rows that derive from or depend on them, directly or indirectly."""
    edges = memory.edges.filter(pl.col("relation").cast(pl.String).is_in(_SOURCES)).select("source", "target")
    source, target = (edges[name].to_numpy() for name in ("source", "target"))
    fallen = np.zeros(memory.height, dtype=bool)
    fallen[rows] = True
    while (more := source[fallen[target] & ~fallen[source]]).size:
        fallen[more] = True
    return np.flatnonzero(fallen)


def reject(memory: Memory, rows: Ints, *, now: float, facts: Ints) -> Memory:
    """Annex the given cells and mark them as rejected on day `now`.

    From then on, the gate refuses the facts in the rows `facts`.
    """
    memory = memory.recorded
    return memory.with_cells(_retracted(memory.cells, rows, now, facts))


def erase(memory: Memory, rows: Ints, *, now: float, facts: Ints) -> Memory:
    """Reject the given cells as `reject` does, and remove their texts and values."""
    memory, erased = memory.recorded, _mask(memory.height, rows)
    nothing: dict[str, pl.Expr] = {name: pl.lit(None, schema.CELLS[name]) for name in TEXTS}
    nothing |= {"key": pl.col("handle"), "title": pl.lit(ERASED), "body": pl.lit("")}
    nothing |= dict.fromkeys(("topics", "entities", "source_refs"), pl.lit([], dtype=schema.CELLS["topics"]))
    cells = _retracted(memory.cells, rows, now, facts).with_columns(
        pl.when(erased).then(value).otherwise(name).alias(name) for name, value in nothing.items()
    )
    content = content_of(pl.col("kind").cast(pl.String), folded(pl.col("title")))
    cells = cells.with_columns(pl.when(erased).then(content).otherwise("content").alias("content"))
    return memory.with_texts(cells)


class Retraction(NamedTuple):
    """Request by a person to reject or erase values on a given day."""

    do: Literal["correct", "forget"]
    by: str
    now: float


def retract(
    memory: Memory, rows: Ints, group: Ints, count: int, request: Retraction, rules: Rules
) -> tuple[Memory, Bools, Ints]:
    """Reject or erase `count` values, as far as the rules allow this person to do so.

    Return the memory, a mask of the values for which this was allowed, and the erased rows. `group` is the index of the
    value that each row states. Rejected cells no longer have any effect; under `corrections = "reject"` their values are
    refused from now on, and under `derived = "fall"` everything derived from them is rejected too. Only writers of a value
    and verifiers may erase it.
    """
    nothing = np.zeros(0, dtype=np.int64)
    forgets = request.do == "forget"
    rules = rules.replace(supersede_by="own") if forgets else rules
    allowed: Bools = np.zeros(count, dtype=bool)
    if rows.size:
        groups, compact = np.unique(group, return_inverse=True)
        allowed[groups] = may_retract(memory, rows, compact, request.by, rules)
    rows = rows[allowed[group]]
    if not rows.size:
        return memory, allowed, nothing
    fallen = derived(memory, rows) if rules.derived == "fall" or forgets else rows
    if forgets:
        return erase(memory, fallen, now=request.now, facts=rows), allowed, fallen
    facts = rows if rules.corrections == "reject" else nothing
    return reject(memory, fallen, now=request.now, facts=facts), allowed, nothing


def rows_stating(memory: Memory, cells: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Return the rows of the unrejected cells whose key is in `wanted`, and the position of each row's key in `wanted`.

    `cells` and `wanted` have one column per key; a key with a negative part is never found.
    """
    rows = np.flatnonzero((cells >= 0).all(axis=0) & np.isnan(memory.column("rejected")))
    sizes = np.maximum(cells.max(axis=1, initial=0), wanted.max(axis=1, initial=0)) + 1
    keys, of_rows = np.ravel_multi_index(tuple(wanted), sizes), np.ravel_multi_index(tuple(cells[:, rows]), sizes)
    order = np.argsort(keys)
    index = np.minimum(np.searchsorted(keys, of_rows, sorter=order), len(keys) - 1)
    hit = keys[order[index]] == of_rows
    return rows[hit], order[index[hit]]


def may_retract(memory: Memory, rows: Ints, group: Ints, by: str, rules: Rules) -> Bools:
    """Return a mask of the groups of rows that `by` may retract, as a writer, as a verifier, or under `supersede_by`.

    `group` numbers the groups from 0; the writer of one row of a group may retract the whole group. Under
    `better_calibrated` the person's record in that replication must exceed those of all writers of the group.
    """
    count, names = int(group.max(initial=-1)) + 1, rules.verifiers.split()
    locked = memory.column("locked")[rows] | memory.column("immutable")[rows] if rules.locks == "enforced" else rows < 0
    free: Bools = np.bincount(group[locked], minlength=count) == 0
    if rules.supersede_by == "any" or "*" in names or by in names:
        return free
    writers, authors = memory.writers, memory.column("author")[rows]
    may = np.bincount(group[(writers["writer"] == by).to_numpy()[authors]], minlength=count) > 0
    if rules.supersede_by == "better_calibrated":
        grounded = writers.filter(pl.col("writer") == by, pl.col("claims") >= rules.calibration_history)
        record = dict(grounded.select("rep", "calibration").rows())
        of_person = np.array([record.get(rep, -1.0) for rep in memory.column("rep")[rows].tolist()])
        better = of_person > writers["calibration"].to_numpy()[authors]
        may |= np.bincount(group[~better], minlength=count) == 0
    return free & may


def lift(memory: Memory, rows: Ints) -> Memory:
    """Remove the tombstones of the given cells, so that the gate admits their facts again."""
    memory, lifted = memory.recorded, _mask(memory.height, rows)
    none = pl.lit(None, pl.String)
    return memory.with_cells(memory.cells.with_columns(pl.when(lifted).then(none).otherwise("tombstone").alias("tombstone")))


def _retracted(cells: pl.DataFrame, rows: Ints, now: float, facts: Ints) -> pl.DataFrame:
    mask, digests = _mask(cells.height, rows), cells["tombstone"]
    facts = facts[(cells["title"][facts] != ERASED).to_numpy()] if facts.size else facts
    if facts.size:
        digests = digests.scatter(facts, cells[facts].select(digests_of("all")).to_series())
    annexed = pl.lit("annexed", schema.CELLS["status"])
    return cells.with_columns(
        pl.when(mask).then(pl.coalesce("rejected", pl.lit(now))).otherwise("rejected").alias("rejected"),
        pl.when(mask).then(annexed).otherwise("status").alias("status"),
        pl.when(mask).then(None).otherwise("worth").alias("worth"),
        (pl.col("annexed") | mask).alias("annexed"),
        digests.alias("tombstone"),
    )


def _mask(height: int, rows: Ints) -> pl.Series:
    mask = np.zeros(height, dtype=bool)
    mask[rows] = True
    return pl.Series(mask)
