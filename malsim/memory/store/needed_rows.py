"""Which cells of a store a call can turn on, rows by its indexes: the call then works on these alone, as on the whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.graph.index import handle_by_key, names_by_place
from malsim.memory.graph.tombstones import digests_of
from malsim.memory.tables.contents import content_numbers, make_contents, rows_saying
from malsim.memory.tables.store_part import within

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    import polars as pl

    from malsim.memory.gate.claims import Validated
    from malsim.memory.rules import Rules

__all__ = ["rows_for_claims"]

MOST_CLAIMS = 256  # of more at once, the whole memory is read
_PAST_ANY = "\U0010ffff"


def rows_for_claims(connection: sqlite3.Connection, checked: Validated, rules: Rules) -> set[int] | None:
    """The cells that claims name, restate, or could be named like; None where the rules ask for every cell."""
    claims = checked.claims.frame()
    asks_for_all = rules.recompute == "admit" or rules.reused_keys != "refused" or rules.restated_among == "first"
    if asks_for_all or claims.height > MOST_CLAIMS:
        return None
    make_contents(connection)
    names = {*claims["handle"].drop_nulls(), *claims["key"].drop_nulls(), *checked.edges.frame()["target"].drop_nulls()}
    rows = rows_named(connection, names) | rows_saying(connection, content_numbers(claims["title"], claims["body"]))
    rows |= _rows_named_like(connection, _names_to_make(connection, claims))
    if _any(connection, "SELECT 1 FROM cells WHERE tombstone IS NOT NULL"):
        digests = claims.select(digests_of()).to_series()
        rows |= _rows(connection, f"tombstone IS NOT NULL AND {within('tombstone', digests)}")
    return rows


def rows_named(connection: sqlite3.Connection, names: Iterable[str]) -> set[int]:
    """The cells that bear one of these names as their handle or key."""
    names = list(names)
    return {row for column in ("handle", "key") for row in _rows(connection, within(column, names))} if names else set()


def _names_to_make(connection: sqlite3.Connection, claims: pl.DataFrame) -> set[str]:
    """What the gate may call claims that bring no handle, before it lengthens names that are taken."""
    unnamed = claims.filter(claims["handle"].is_null())
    names = set(handle_by_key(unnamed["kind"], unnamed["key"]).drop_nulls())
    query = "SELECT count(*) FROM cells WHERE rep = ?"
    for (rep,), own in unnamed.group_by("rep"):
        count = connection.execute(query, (rep,)).fetchone()[0]
        ordinals = np.arange(count, count + claims.height)
        for kind in own["kind"].drop_nulls().unique():
            kinds = own["kind"].clear().extend_constant(kind, len(ordinals))
            names.update(names_by_place(kinds, ordinals)["handle"])
    return names


def _rows_named_like(connection: sqlite3.Connection, names: set[str]) -> set[int]:
    """The cells whose handle or key begins with one of these names."""
    beginnings = json.dumps([[name, name + _PAST_ANY] for name in names])
    rows = set[int]()
    for column in ("handle", "key"):
        query = f"""SELECT "row" FROM json_each(?) AS name CROSS JOIN cells
            WHERE cells.{column} >= name.value ->> 0 AND cells.{column} < name.value ->> 1"""
        rows.update(row for (row,) in connection.execute(query, (beginnings,)))
    return rows


def _rows(connection: sqlite3.Connection, condition: str) -> set[int]:
    return {row for (row,) in connection.execute(f'SELECT "row" FROM cells WHERE {condition}')}


def _any(connection: sqlite3.Connection, query: str) -> bool:
    return connection.execute(f"{query} LIMIT 1").fetchone() is not None
