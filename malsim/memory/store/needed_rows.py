"""Select the cells that a call can affect, using the store's SQLite indexes, so that only those are loaded."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.gate.resolve import SUPERSEDES
from malsim.memory.graph.index import handle_by_key, handles_by_place
from malsim.memory.graph.tombstones import digests_claimed
from malsim.memory.tables.contents import content_numbers, make_contents, rows_saying
from malsim.memory.tables.read import cells_by_rep
from malsim.memory.tables.store_part import know_of_others, part_of, within

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    import polars as pl

    from malsim.memory.gate.claims import Validated
    from malsim.memory.rules import Rules
    from malsim.memory.tables.store_part import StorePart

MOST_CLAIMS = 256  # of more at once, the whole memory is read
FEW, NEAR = 8, 5  # as many as an error lists, and letters that are likely right
_TAG = re.compile(r"[0-9a-f]{4,}")
_PAST_ANY = "\U0010ffff"


def part_for_claims(connection: sqlite3.Connection, checked: Validated, rules: Rules) -> StorePart | None:
    claims = checked.claims.frame()
    asks_for_all = rules.recompute == "admit" or rules.reused_keys != "refused" or rules.restated_among == "first"
    if asks_for_all or claims.height > MOST_CLAIMS:
        return None
    make_contents(connection)
    names = {*claims["handle"].drop_nulls(), *claims["key"].drop_nulls(), *checked.edges.frame()["target"].drop_nulls()}
    rows = rows_named(connection, names) | rows_saying(connection, content_numbers(claims["title"], claims["body"]))
    rows |= _rows_named_like(connection, _names_to_make(connection, claims))
    replaced = checked.edges.frame().filter(code=SUPERSEDES)["target"].drop_nulls()
    rows |= line_of(connection, rows_named(connection, replaced)) if replaced.len() else set()
    if _any(connection, "SELECT 1 FROM cells WHERE tombstone IS NOT NULL"):
        digests = json.dumps([word for text in claims.select(digests_claimed()).to_series() for word in text.split()])
        barred = "tombstone IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(?) WHERE instr(tombstone, value))"
        rows |= cells_where(connection, barred, (digests,))
    part = part_of(connection, rows)
    know_of_others(connection, part.memory)
    return part


def rows_named(connection: sqlite3.Connection, names: Iterable[str]) -> set[int]:
    names = list(names)
    return (
        {row for column in ("handle", "key") for row in cells_where(connection, within(column, names))} if names else set()
    )


def _names_to_make(connection: sqlite3.Connection, claims: pl.DataFrame) -> set[str]:
    unnamed = claims.filter(claims["handle"].is_null())
    bring_key = unnamed.select("kind", "key").drop_nulls()
    names = {handle_by_key(kind, key) for kind, key in bring_key.rows()}
    counts = cells_by_rep(connection)
    for (rep,), own in unnamed.group_by("rep"):
        count = counts.get(int(str(rep)), 0)
        ordinals = np.arange(count, count + claims.height)
        for kind in own["kind"].drop_nulls().unique():
            names.update(handles_by_place(kind, ordinals))
    return names


def _rows_named_like(connection: sqlite3.Connection, names: set[str]) -> set[int]:
    beginnings = json.dumps([[name, name + _PAST_ANY] for name in names])
    rows = set[int]()
    for column in ("handle", "key"):
        query = f"""SELECT "row" FROM json_each(?) AS name CROSS JOIN cells
            WHERE cells.{column} >= name.value ->> 0 AND cells.{column} < name.value ->> 1"""
        rows.update(row for (row,) in connection.execute(query, (beginnings,)))
    return rows


def _rows_named_nearly(connection: sqlite3.Connection, names: Iterable[str], rep: int) -> set[int]:
    rows = set[int]()
    begins = 'SELECT "row" FROM cells WHERE handle >= ? AND handle < ?'
    for name in names:
        rows |= _first(connection, f"{begins} AND +rep = ? ORDER BY handle LIMIT ?", (name, name + _PAST_ANY, rep, FEW))
        near = name[:NEAR]
        rows |= _first(connection, f'{begins} ORDER BY "row" LIMIT ?', (near, near + _PAST_ANY, FEW))
        if _TAG.fullmatch(name):
            tagged = "SELECT \"row\" FROM cells WHERE handle LIKE ? ESCAPE '!' AND +rep = ? ORDER BY handle LIMIT ?"
            rows |= _first(connection, tagged, (f"%!_{name}%", rep, MOST_CLAIMS))
    return rows


def rows_meant(connection: sqlite3.Connection, text: str, rep: int) -> set[int]:
    names = {text, *(text.partition(sign)[0] for sign in "#-")}
    names |= {name.partition("@v")[0] for name in names}
    return line_of(connection, rows_named(connection, names) | _rows_named_nearly(connection, names, rep))


def line_of(connection: sqlite3.Connection, rows: Iterable[int]) -> set[int]:
    query = """WITH RECURSIVE line (cell) AS (SELECT value FROM json_each(?)
        UNION SELECT c.successor FROM line JOIN cells AS c ON c."row" = line.cell WHERE c.successor IS NOT NULL
        UNION SELECT c."row" FROM line JOIN cells AS c ON c.successor = line.cell WHERE c.successor IS NOT NULL
        UNION SELECT e.target FROM line JOIN edges AS e ON e.source = line.cell WHERE e.relation = 'supersedes'
        UNION SELECT e.source FROM line JOIN edges AS e ON e.target = line.cell WHERE e.relation = 'supersedes')
        SELECT cell FROM line"""
    return _first(connection, query, (json.dumps(list(rows)),))


def cells_where(
    connection: sqlite3.Connection, condition: str, parameters: Sequence[object] = (), *, most: int = -1
) -> set[int]:
    return _first(connection, f'SELECT "row" FROM cells WHERE {condition} LIMIT ?', (*parameters, most))


def _first(connection: sqlite3.Connection, query: str, parameters: Sequence[object]) -> set[int]:
    return {row for (row,) in connection.execute(query, parameters)}


def _any(connection: sqlite3.Connection, query: str) -> bool:
    return connection.execute(f"{query} LIMIT 1").fetchone() is not None
