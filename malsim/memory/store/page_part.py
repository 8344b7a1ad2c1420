"""Load only the cells that bear on a page about a few cells; the numbers equal those of the whole store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.law import CALIBRATIONS, WriterRecords, records
from malsim.memory.law_steps import effective_now, show
from malsim.memory.schema import INIT
from malsim.memory.store.needed_rows import cells_where, line_of, rows_meant, rows_named
from malsim.memory.tables.layout import RECORD, STORED
from malsim.memory.tables.read import LAW_CELLS, last_scanned, moved_replications
from malsim.memory.tables.scores import only_claims_since_tick
from malsim.memory.tables.store_part import part_of, within

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from malsim.memory.graph.arrays import Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules
    from malsim.memory.tables.store_part import StorePart


def page_part(
    connection: sqlite3.Connection, text: str, rep: int, rules: Rules, row_of: Callable[[Memory, str, int], int]
) -> StorePart | None:
    """Return the cell that `text` names with its neighbours and versions; None if the page needs all cells.

    `row_of` finds the cell in a memory; it raises `AddressError` as it would over the whole store.
    """
    like = rows_meant(connection, text, rep)
    nearby = part_of(connection, like)
    row = int(nearby.rows[row_of(nearby.memory, text, rep)])
    edges = f"SELECT target FROM edges WHERE source = {row} UNION SELECT source FROM edges WHERE target = {row}"
    neighbours = {cell for (cell,) in connection.execute(edges)}
    own = nearby.memory.cells["handle"][int(nearby.local(np.array([row]))[0])]
    beside = like | line_of(connection, {row}) | rows_named(connection, [own])
    return _part_showing(connection, {row} | neighbours, beside, rules)


def answer_part(connection: sqlite3.Connection, object_: str, reps: Sequence[int], rules: Rules) -> StorePart | None:
    about = [cells_where(connection, "rep = ? AND object = ?", (rep, object_)) for rep in reps]
    return _part_showing(connection, set().union(*about), set(), rules)


def effective_in(connection: sqlite3.Connection, rows: Iterable[int], rules: Rules) -> Mapping[int, float | None] | None:
    """Return the present effective confidence of those rows that moved since the last tick; see `law_steps.effective_now`.

    None where it takes all cells to say so.
    """
    part = _part_showing(connection, set(rows), set(), rules, LAW_CELLS)
    if part is None:
        return None
    worth = effective_now(part.memory, rules)
    return {int(part.rows[row]): value for row, value in worth.items()}


def _part_showing(
    connection: sqlite3.Connection, rows: set[int], beside: set[int], rules: Rules, names: Iterable[str] = STORED
) -> StorePart | None:
    """Return a part in which `present` computes these rows as in the whole store; `beside` rows are only shown."""
    if rules.effective is not None or rules.wrong_when == "lost" or rules.evidence_from == "external":
        return None
    sources = connection.execute(f"SELECT source FROM edges WHERE {within('target', rows)}")
    part = part_of(connection, rows | beside | {row for (row,) in sources}, names)
    local = part.local(np.array(sorted(rows), dtype=np.int64))
    reps = part.memory.column("rep")[local]
    news = moved_replications(connection, np.unique(reps).tolist()) if rules.reads == "now" else set()
    here = local[np.isin(reps, list(news)) & part.memory.is_active[local]]
    show(part.memory, here, rules, _record(connection, part.memory, here, rules) if here.size else None)
    return part


def _record(connection: sqlite3.Connection, memory: Memory, rows: Ints, rules: Rules) -> WriterRecords:
    """Return the writer records that the whole store gives the writers of some rows; other writers have none.

    Writers to whom nothing happened since the last tick keep the record of that tick.
    """
    author = memory.column("author")
    authors = np.unique(author[rows]).tolist()
    before = WriterRecords(*(memory.table("writers").column(name) for name in RECORD))
    if rules.wrong_when != "contradicted" or not only_claims_since_tick(connection, rules):
        return _record_of(connection, memory, authors, rules)
    moved = sorted(_authors_moved(connection).intersection(authors))
    fresh, here = _record_of(connection, memory, moved, rules), np.isin(np.arange(len(before.claims)), moved)
    return WriterRecords(*(np.where(here, *pair) for pair in zip(fresh, before, strict=True))) if moved else before


def _authors_moved(connection: sqlite3.Connection) -> set[int]:
    """Return the writers whose record may have changed since the last tick: of new and replaced cells, and of targets."""
    query = """WITH moved (cell) AS (SELECT cell FROM unseen UNION SELECT target FROM edges WHERE "row" >= ?
            UNION SELECT target FROM edges WHERE source IN (SELECT cell FROM unseen))
        SELECT DISTINCT author FROM moved JOIN cells ON "row" = cell"""
    return {author for (author,) in connection.execute(query, (last_scanned(connection),))}


def _record_of(connection: sqlite3.Connection, memory: Memory, authors: list[int], rules: Rules) -> WriterRecords:
    part = part_of(connection, _rows_in_record(connection, memory, authors, rules), LAW_CELLS)
    claims = np.zeros(memory.table("writers").height, dtype=np.int64)
    query = f"SELECT author, count(*) FROM cells WHERE {within('author', authors)} GROUP BY author"
    for number, count in connection.execute(query):
        claims[number] = count
    return records(part.memory, part.memory.column("effective"), rules, claims)


def _rows_in_record(connection: sqlite3.Connection, memory: Memory, authors: list[int], rules: Rules) -> set[int]:
    theirs, stated = within("author", authors), np.array([0.0, 0.5, 1.0])
    if CALIBRATIONS[rules.calibration](stated, np.zeros(3, dtype=bool)).any():  # being right costs something too
        rows = cells_where(connection, theirs)
    else:
        rows = cells_where(connection, f"{theirs} AND successor IS NOT NULL")
        rows |= cells_where(connection, f"{theirs} AND stated IS NULL")
    against = f"""SELECT e.source, e.target FROM cells AS c CROSS JOIN edges AS e ON e.target = c."row"
        WHERE {theirs} AND e.relation = 'contradicts'"""
    rows.update(row for pair in connection.execute(against) for row in pair)
    lenders = (memory.writers["writer"] == INIT).arg_true().to_list()
    lent = "origin IN ('program', 'connector')" if set(lenders) & set(authors) else "origin = 'program'"
    return rows | cells_where(connection, f"{within('author', lenders)} AND {lent}")
