"""Partial loading of a store: only the cells that a call can affect or show, found by SQLite indexes.

All numbers equal those of the whole store. Where a call needs every cell, the functions return None.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.gate.resolution import SUPERSEDES
from malsim.memory.graph.index import handle_by_key, handles_by_ordinal
from malsim.memory.graph.tombstones import digests_of
from malsim.memory.law import CALIBRATIONS, WriterRecords, records
from malsim.memory.law_steps import effective_now, show
from malsim.memory.schema import INIT
from malsim.memory.tables.layout import STORED
from malsim.memory.tables.read import LAW_CELLS, cells_by_rep, count_cells_elsewhere, moved_replications, part_of, within
from malsim.memory.tables.search import content_numbers, make_contents, rows_with_content

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl

    from malsim.memory.gate.claims import Validated
    from malsim.memory.graph.arrays import Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules
    from malsim.memory.tables.read import StorePart

MOST_CLAIMS = 256  # maximum number of claims per batch; for a larger batch, the whole memory is loaded
_LAST_CHARACTER = "\U0010ffff"


def part_for_claims(connection: sqlite3.Connection, checked: Validated, rules: Rules) -> StorePart | None:
    """Return the cells that a batch of claims may restate, name or supersede, and those that may cause a refusal."""
    claims, edges = checked.claims.frame(), checked.edges.frame()
    needs_all = rules.recompute == "admit" or rules.reused_keys != "refused" or rules.restated_among == "first"
    if needs_all or claims.height > MOST_CLAIMS:
        return None
    make_contents(connection)
    names = {*claims["handle"].drop_nulls(), *claims["key"].drop_nulls(), *edges["target"].drop_nulls()}
    rows = rows_where(connection, named(names))
    rows |= rows_with_content(connection, content_numbers(claims["title"], claims["body"]))
    rows |= _rows_with_prefix(connection, _generated_handles(connection, claims))
    superseded = edges.filter(code=SUPERSEDES)["target"].drop_nulls()
    rows |= chains_of(connection, rows_where(connection, named(superseded)))
    digests = [word for text in claims.select(digests_of("without value")).to_series() for word in text.split()]
    barred = "tombstone IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(?) WHERE instr(tombstone, value))"
    rows |= rows_where(connection, barred, (json.dumps(digests),))
    part = part_of(connection, rows)
    count_cells_elsewhere(connection, part.memory)
    return part


def _generated_handles(connection: sqlite3.Connection, claims: pl.DataFrame) -> set[str]:
    """Return the shortest handles that the gate may generate for the claims that have none."""
    unnamed, counts = claims.filter(claims["handle"].is_null()), cells_by_rep(connection)
    names = {handle_by_key(kind, key) for kind, key in unnamed.select("kind", "key").drop_nulls().rows()}
    for (rep,), batch in unnamed.group_by("rep"):
        count = counts.get(int(str(rep)), 0)
        for kind in batch["kind"].drop_nulls().unique():
            names.update(handles_by_ordinal(kind, np.arange(count, count + claims.height)))
    return names


def _rows_with_prefix(connection: sqlite3.Connection, prefixes: set[str]) -> set[int]:
    ranges = json.dumps([[prefix, prefix + _LAST_CHARACTER] for prefix in prefixes])
    queries = (
        f"""SELECT "row" FROM json_each(?) AS prefix CROSS JOIN cells
            WHERE cells.{column} >= prefix.value ->> 0 AND cells.{column} < prefix.value ->> 1"""
        for column in ("handle", "key")
    )
    return {row for query in queries for row in _rows(connection, query, (ranges,))}


def rows_meant(connection: sqlite3.Connection, text: str, rep: int) -> set[int]:
    """Return the rows of the cells whose handle or key is `text`, and of their version chains.

    A version or field may follow the name. The set is empty without an exact match; finding a cell by a prefix of its
    handle needs the whole memory.
    """
    names = {text, *(text.partition(sign)[0] for sign in "#-")}
    names |= {name.partition("@v")[0] for name in names}
    return chains_of(connection, rows_where(connection, f"rep = ? AND {named(names)}", (rep,)))


def chains_of(connection: sqlite3.Connection, rows: Iterable[int]) -> set[int]:
    """Return these rows and the rows of all cells that they replaced or that replaced them, directly or indirectly."""
    query = """WITH RECURSIVE line (cell) AS (SELECT value FROM json_each(?)
        UNION SELECT c.successor FROM line JOIN cells AS c ON c."row" = line.cell WHERE c.successor IS NOT NULL
        UNION SELECT c."row" FROM line JOIN cells AS c ON c.successor = line.cell WHERE c.successor IS NOT NULL
        UNION SELECT e.target FROM line JOIN edges AS e ON e.source = line.cell WHERE e.relation = 'supersedes'
        UNION SELECT e.source FROM line JOIN edges AS e ON e.target = line.cell WHERE e.relation = 'supersedes')
        SELECT cell FROM line"""
    return _rows(connection, query, (json.dumps(list(rows)),))


def rows_where(connection: sqlite3.Connection, condition: str, parameters: Sequence[object] = ()) -> set[int]:
    return _rows(connection, f'SELECT "row" FROM cells WHERE {condition}', parameters)


def named(names: Iterable[str]) -> str:
    """Return the SQL condition that the handle or key of a cell is one of these names."""
    return f"({within('handle', names := list(names))} OR {within('key', names)})"


def _rows(connection: sqlite3.Connection, query: str, parameters: Sequence[object]) -> set[int]:
    return {row for (row,) in connection.execute(query, parameters)}


def part_for_page(
    connection: sqlite3.Connection, text: str, rep: int, rules: Rules, row_of: Callable[[Memory, str, int], int]
) -> StorePart | None:
    """Return the cell that `text` names, with its neighbours and versions.

    `row_of` finds the cell in a memory; it raises `AddressError` as it would for the whole store.
    """
    if not (candidates := rows_meant(connection, text, rep)):
        return None
    chains = part_of(connection, candidates)
    row = int(chains.rows[row_of(chains.memory, text, rep)])
    edges = f"SELECT target FROM edges WHERE source = {row} UNION SELECT source FROM edges WHERE target = {row}"
    handle = chains.memory.cells["handle"][int(chains.local(np.array([row]))[0])]
    context = candidates | chains_of(connection, {row}) | rows_where(connection, named([handle]))
    return _part_showing(connection, {row} | _rows(connection, edges, ()), context, rules)


def part_for_answer(connection: sqlite3.Connection, object_: str, reps: Sequence[int], rules: Rules) -> StorePart | None:
    """Return the cells about an object in the given replications."""
    about = [rows_where(connection, "rep = ? AND object = ?", (rep, object_)) for rep in reps]
    return _part_showing(connection, set().union(*about), set(), rules)


def effective_of(connection: sqlite3.Connection, rows: Iterable[int], rules: Rules) -> Mapping[int, float | None] | None:
    """Map those of the given rows that changed since the last tick to the effective confidence that a reader sees."""
    part = _part_showing(connection, set(rows), set(), rules, LAW_CELLS)
    if part is None:
        return None
    return {int(part.rows[row]): value for row, value in effective_now(part.memory, rules).items()}


def _part_showing(
    connection: sqlite3.Connection, rows: set[int], context: set[int], rules: Rules, names: Iterable[str] = STORED
) -> StorePart | None:
    """Load enough of the store for `present` to compute `rows` exactly. The cells in `context` are only displayed."""
    if rules.effective is not None or rules.wrong_when == "lost" or rules.evidence_from == "external":
        return None
    sources = _rows(connection, f"SELECT source FROM edges WHERE {within('target', rows)}", ())
    part = part_of(connection, rows | context | sources, names)
    local = part.local(np.array(sorted(rows), dtype=np.int64))
    reps = part.memory.column("rep")[local]
    moved = moved_replications(connection, np.unique(reps).tolist()) if rules.reads == "now" else set()
    recomputed = local[np.isin(reps, list(moved)) & part.memory.is_active[local]]
    show(part.memory, recomputed, rules, _records(connection, part.memory, recomputed, rules) if recomputed.size else None)
    return part


def _records(connection: sqlite3.Connection, memory: Memory, rows: Ints, rules: Rules) -> WriterRecords:
    """Return the records of the writers of these rows, computed from the whole store. Other writers get empty records."""
    authors = np.unique(memory.column("author")[rows]).tolist()
    part = part_of(connection, _rows_in_records(connection, memory, authors, rules), LAW_CELLS)
    claims = np.zeros(memory.table("writers").height, dtype=np.int64)
    query = f"SELECT author, count(*) FROM cells WHERE {within('author', authors)} GROUP BY author"
    for author, count in connection.execute(query):
        claims[author] = count
    return records(part.memory, part.memory.column("effective"), rules, claims)


def _rows_in_records(connection: sqlite3.Connection, memory: Memory, authors: list[int], rules: Rules) -> set[int]:
    by_authors, stated = within("author", authors), np.array([0.0, 0.5, 1.0])
    if CALIBRATIONS[rules.calibration](stated, np.zeros(3, dtype=bool)).any():  # even right claims are penalised
        rows = rows_where(connection, by_authors)
    else:
        rows = rows_where(connection, f"{by_authors} AND successor IS NOT NULL")
        rows |= rows_where(connection, f"{by_authors} AND stated IS NULL")
    contradictions = f"""SELECT e.source, e.target FROM cells AS c CROSS JOIN edges AS e ON e.target = c."row"
        WHERE {by_authors} AND e.relation = 'contradicts'"""
    rows.update(row for pair in connection.execute(contradictions) for row in pair)
    lenders = (memory.writers["writer"] == INIT).arg_true().to_list()
    lent = "origin IN ('program', 'connector')" if set(lenders) & set(authors) else "origin = 'program'"
    return rows | rows_where(connection, f"{within('author', lenders)} AND {lent}")
