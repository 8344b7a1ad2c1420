"""Index of cell contents: a number per title and body, to find cells with the text of a claim."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.files.sqlite_file import holds_table
from malsim.memory.graph.texts import folded
from malsim.memory.tables.rows import insert, select

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_TABLE = "CREATE TABLE contents (number INTEGER, cell INTEGER, PRIMARY KEY (number, cell)) WITHOUT ROWID"
_TEXTS = {"cell": pl.Int64, "title": pl.String, "body": pl.String}


def content_numbers(titles: pl.Series, bodies: pl.Series) -> list[int]:
    """Return a number for each folded title and body; it is the same in every release, and collisions are rare.

    >>> titles, bodies = pl.Series([" Same  Title", "same title"]), pl.Series(["b", "b"])
    >>> len(set(content_numbers(titles, bodies)))
    1
    """
    texts = pl.DataFrame({"title": titles, "body": bodies}).select(folded(pl.col("title")).fill_null(""), "body")
    return [zlib.crc32((body or "").encode(), zlib.crc32(title.encode())) for title, body in texts.rows()]


def make_contents(connection: sqlite3.Connection) -> None:
    if not holds_table(connection, "contents"):
        connection.execute(_TABLE)
        index_contents(connection, "true")


def index_contents(connection: sqlite3.Connection, where: str, *, forget: bool = False) -> None:
    texts = select(connection, f'SELECT "row", title, body FROM cells WHERE {where}', _TEXTS)
    numbers = pl.Series("number", content_numbers(texts["title"], texts["body"]), dtype=pl.Int64)
    contents = pl.DataFrame([numbers, texts["cell"]])
    if forget:
        connection.executemany("DELETE FROM contents WHERE number = ? AND cell = ?", contents.rows())
    else:
        insert(connection, "contents", contents.sort("number"))


def rows_saying(connection: sqlite3.Connection, numbers: Iterable[int]) -> set[int]:
    query = "SELECT cell FROM contents WHERE number IN (SELECT value FROM json_each(?))"
    return {row for (row,) in connection.execute(query, (json.dumps(list(numbers)),))}
