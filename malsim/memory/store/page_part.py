"""What a reader is shown of a few cells of a store, made of those that bear on it: the numbers that the whole would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.law import CALIBRATIONS, WriterRecords, records
from malsim.memory.law_steps import effective_now, none_for_nan, show, touched
from malsim.memory.schema import INIT
from malsim.memory.store.needed_rows import cells_where, line_of, rows_meant, rows_named
from malsim.memory.tables.layout import RECORD, STORED
from malsim.memory.tables.read import LAW_CELLS, last_scanned
from malsim.memory.tables.scores import ticked_last, view_after
from malsim.memory.tables.store_part import part_of, within

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from malsim.memory.graph.arrays import Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules
    from malsim.memory.tables.store_part import StorePart

MOST_TOUCHED = 4_096  # of more cells, the whole memory is read


def page_part(
    connection: sqlite3.Connection, text: str, rep: int, rules: Rules, row_of: Callable[[Memory, str, int], int]
) -> StorePart | None:
    """What a page about the cell that `text` names shows: it, its neighbours, its line; None where it takes all cells.

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
    """What an answer about an object within some replications rests on; None where it takes all cells."""
    about = [cells_where(connection, "rep = ? AND object = ?", (rep, object_)) for rep in reps]
    return _part_showing(connection, set().union(*about), set(), rules)


def effective_in(
    connection: sqlite3.Connection, rows: Iterable[int] | None, rules: Rules
) -> Mapping[int, float | None] | None:
    """What those of some rows are worth that the last tick saw otherwise, as of `law_steps.effective_now`.

    Of None all rows are meant. None where it takes all cells to say so.
    """
    if (deed := ticked_last(connection, rules)) is not None:
        cells, values = view_after(connection, deed)
        here = slice(None) if rows is None else np.isin(cells, list(rows))
        return dict(zip(cells[here].tolist(), none_for_nan(values[here]), strict=True))
    wanted = _unseen_by_tick(connection) if rows is None else set(rows)
    part = _part_showing(connection, wanted, set(), rules, LAW_CELLS) if len(wanted) <= MOST_TOUCHED else None
    if part is None:
        return None
    worth = effective_now(part.memory, rules)
    return {int(part.rows[row]): value for row, value in worth.items()}


def _unseen_by_tick(connection: sqlite3.Connection) -> set[int]:
    """The rows that the last tick did not see as they are, and those that edges from them or since then point at."""
    unseen = connection.execute("SELECT cell FROM unseen LIMIT ?", (MOST_TOUCHED + 1,))
    moved = {row for (row,) in unseen}
    if len(moved) > MOST_TOUCHED:
        return moved
    query = f"""SELECT target FROM edges WHERE "row" >= ?1 UNION
        SELECT target FROM edges WHERE {within("source", moved)} LIMIT ?2"""
    return moved | {row for (row,) in connection.execute(query, (last_scanned(connection), MOST_TOUCHED + 1))}


def _part_showing(
    connection: sqlite3.Connection, rows: set[int], beside: set[int], rules: Rules, names: Iterable[str] = STORED
) -> StorePart | None:
    """A part, of these columns, in which `present` gives these rows as of the whole; the others only stand there."""
    if rules.effective is not None or rules.wrong_when == "lost" or rules.evidence_from == "external":
        return None
    sources = connection.execute(f"SELECT source FROM edges WHERE {within('target', rows)}")
    part = part_of(connection, rows | beside | {row for (row,) in sources}, names)
    local = part.local(np.array(sorted(rows), dtype=np.int64))
    moved = np.intersect1d(touched(part.memory, rules), local) if rules.reads == "now" else local[:0]
    show(part.memory, moved, rules, _record(connection, part.memory, moved, rules) if moved.size else None)
    return part


def _record(connection: sqlite3.Connection, memory: Memory, rows: Ints, rules: Rules) -> WriterRecords:
    """The record that the whole store gives the writers of some rows; of others it says nothing.

    Of those to whom nothing happened since the last tick it is what that tick gave them.
    """
    author = memory.column("author")
    authors = np.unique(author[rows]).tolist()
    before = WriterRecords(*(memory.table("writers").column(name) for name in RECORD))
    deed = ticked_last(connection, rules, "admit") if rules.wrong_when == "contradicted" else None
    if deed is None:
        return _record_of(connection, memory, authors, rules)
    moved = sorted(_authors_moved(connection, deed).intersection(authors))
    fresh, here = _record_of(connection, memory, moved, rules), np.isin(np.arange(len(before.claims)), moved)
    return WriterRecords(*(np.where(here, *pair) for pair in zip(fresh, before, strict=True))) if moved else before


def _authors_moved(connection: sqlite3.Connection, deed: int) -> set[int]:
    """The writers whose record claims may have moved since a tick: theirs, those they replace, and whom either bears on."""
    query = """WITH was AS (SELECT cells, scanned FROM ticks WHERE "row" = ?1),
        replaced (cell) AS (SELECT "row" FROM cells WHERE successor >= (SELECT cells FROM was)),
        moved (cell) AS (SELECT "row" FROM cells WHERE "row" >= (SELECT cells FROM was) UNION SELECT cell FROM replaced
            UNION SELECT target FROM edges WHERE "row" >= (SELECT scanned FROM was)
            UNION SELECT target FROM edges WHERE source IN (SELECT cell FROM replaced))
        SELECT DISTINCT author FROM moved JOIN cells ON "row" = cell"""
    return {author for (author,) in connection.execute(query, (deed,))}


def _record_of(connection: sqlite3.Connection, memory: Memory, authors: list[int], rules: Rules) -> WriterRecords:
    """The record of these writers, made of all cells that say anything of it."""
    part = part_of(connection, _rows_in_record(connection, memory, authors, rules), LAW_CELLS)
    claims = np.zeros(memory.table("writers").height, dtype=np.int64)
    query = f"SELECT author, count(*) FROM cells WHERE {within('author', authors)} GROUP BY author"
    for number, count in connection.execute(query):
        claims[number] = count
    return records(part.memory, part.memory.column("effective"), rules, claims)


def _rows_in_record(connection: sqlite3.Connection, memory: Memory, authors: list[int], rules: Rules) -> set[int]:
    """The cells of these writers that may cost them something, that are no outcomes, and what speaks against them."""
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
