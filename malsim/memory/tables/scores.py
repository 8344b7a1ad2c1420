"""Scores computed by ticks, stored column by column in blocks, together with the values that each write replaced.

A tick changes every currency and salience. Both follow from the cell's row and the clock of the tick, so they are stored as
`BY_CLOCK` and computed on reading. Of the other scores only the blocks that differ are written.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory.graph.frames import to_array, to_series
from malsim.memory.law import currency, salience
from malsim.memory.tables.layout import SCORES, DamagedRowsError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

    Columns = Callable[[str], Any]
    Scores = dict[str, Array]

PART = 1_024  # number of cells per block
BY_CLOCK = -np.inf  # stored for a score that follows from the clock; no real score has this value
BY_CLOCK_SCORES = ("currency", "salience")
_NUMBER, _ROW = np.dtype("<f8"), np.dtype("<u4")


@dataclass(frozen=True)
class Clock:
    """Time of a tick in days, and the rules by which cells age."""

    now: float
    currency_floor: float
    tau_stable: float
    tau_volatile: float
    tau_ephemeral: float
    salience_floor: float
    salience_tau: float
    rules: str
    """Digest of all rules."""

    @classmethod
    def of(cls, now: float, rules: Rules) -> Clock:
        stable, volatile, ephemeral = rules.tau.tolist()
        aging = rules.currency_floor, stable, volatile, ephemeral, rules.salience_floor, rules.salience_tau
        return cls(now, *aging, rules=hashlib.sha256(repr(rules).encode()).hexdigest()[:16])

    def aged(self, column: Columns) -> Scores:
        tau = np.array([self.tau_stable, self.tau_volatile, self.tau_ephemeral]).take(column("stability"))
        touched: Array = column("touched")
        read: Array = column("read")
        last_use = np.where(np.isnan(read), touched, read)
        with np.errstate(all="ignore"):  # a damaged file may contain any number; `check_rows` refuses the result
            return {
                "currency": currency(column("c0"), self.now - touched, tau, floor=self.currency_floor),
                "salience": salience(
                    column("salience_seed"), self.now - last_use, floor=self.salience_floor, tau=self.salience_tau
                ),
            }


def clock_at(connection: sqlite3.Connection, deed: int | None = None) -> Clock | None:
    query = "SELECT * FROM clocks WHERE deed <= coalesce(?, deed) ORDER BY deed DESC LIMIT 1"
    row = connection.execute(query, (deed,)).fetchone()
    if row and not all(isinstance(value, float) for value in row[1:-1]):
        raise DamagedRowsError("the table `clocks` contains a value that is not a number")
    return Clock(*row[1:]) if row else None


def read_scores(
    connection: sqlite3.Connection, height: int, rows: Ints | None = None, names: tuple[str, ...] = SCORES
) -> Scores:
    if rows is None:
        return {name: _whole(connection, name, height) for name in names}
    parts = np.unique(rows // PART)
    indices = np.searchsorted(parts, rows // PART), rows % PART
    return {name: _parts(connection, name, parts)[indices] for name in names}


def _whole(connection: sqlite3.Connection, name: str, height: int) -> Array:
    query = "SELECT data FROM scores WHERE name = ? ORDER BY part"
    data = [part for (part,) in connection.execute(query, (name,))]
    if len(data) != -(-height // PART) or not all(map(_is_part, data)):
        raise DamagedRowsError(f"scores of {name} are missing or incomplete")
    return np.frombuffer(b"".join(data), _NUMBER)[:height]


def _parts(connection: sqlite3.Connection, name: str, parts: Ints, *, missing: bytes | None = None) -> Array:
    query = "SELECT part, data FROM scores WHERE name = ? AND part IN (SELECT value FROM json_each(?))"
    present = dict(connection.execute(query, (name, json.dumps(parts.tolist()))).fetchall())
    data = [present.get(part, missing) for part in parts.tolist()]
    if not all(map(_is_part, data)):
        raise DamagedRowsError(f"scores of {name} are missing or incomplete")
    return np.frombuffer(b"".join(data), _NUMBER).reshape(len(parts), PART)  # type: ignore[arg-type]  # they are bytes


def _is_part(data: object) -> bool:
    return isinstance(data, bytes) and len(data) == PART * _NUMBER.itemsize


def decode(raw: Mapping[str, Array], column: Columns, clock: Clock | None) -> Scores:
    by_clock = {name: raw[name] == BY_CLOCK for name in BY_CLOCK_SCORES if name in raw}
    if clock is None or not any(mask.any() for mask in by_clock.values()):
        return dict(raw)
    values = clock.aged(column)
    return {**raw, **{name: np.where(mask, values[name], raw[name]) for name, mask in by_clock.items()}}


def _encode(scores: Scores, column: Columns, clock: Clock | None) -> Scores:
    if clock is None:
        return scores
    return scores | {name: np.where(scores[name] == by, BY_CLOCK, scores[name]) for name, by in clock.aged(column).items()}


def with_scores(cells: pl.DataFrame, raw: Mapping[str, Array], clock: Clock | None) -> pl.DataFrame:
    values = decode(raw, lambda name: to_array(cells[name]), clock)
    return cells.with_columns(to_series(name, column) for name, column in values.items())


def differs(old: Array, new: Array) -> Bools:
    if old is new:
        return np.zeros(len(old), dtype=bool)
    mask: Bools = (old != new) & ~(np.isnan(old) & np.isnan(new))
    return mask


def rewrite(
    connection: sqlite3.Connection,
    old: Memory,
    new: Memory,
    rows: Ints,
    deed: int,
    clocks: tuple[Clock | None, Clock | None],
) -> Bools:
    """Write the scores that differ between `old` and `new`, keep the replaced values, and return a mask of changed cells.

    `rows` are the rows of the cells in the store; `clocks` are those of the last tick before and after this write.
    """

    def column(name: str) -> Array:
        whole = new.column(name)
        return whole if len(whole) == old.height else whole[: old.height]

    before = _encode({name: old.column(name) for name in SCORES}, old.column, clocks[0])
    after = _encode({name: column(name) for name in SCORES}, column, clocks[1])
    for name in SCORES:
        moved = differs(before[name], after[name])
        if moved.any():
            replaced = rows[moved].astype(_ROW).tobytes(), before[name][moved].astype(_NUMBER).tobytes()
            connection.execute("INSERT INTO past_scores VALUES (?, ?, ?, ?)", (deed, name, *replaced))
            _put(connection, name, rows[moved], after[name][moved])
    _update_unseen(connection, rows, column("worth"))
    changed: Bools = np.logical_or.reduce([differs(old.column(name), column(name)) for name in SCORES])
    return changed


def add(connection: sqlite3.Connection, cells: pl.DataFrame, first: int) -> None:

    def column(name: str) -> Array:
        return to_array(cells[name])

    rows = np.arange(first, first + cells.height)
    for name, values in _encode({name: column(name) for name in SCORES}, column, clock_at(connection)).items():
        _put(connection, name, rows, values)
    _update_unseen(connection, rows, column("worth"))


def _put(connection: sqlite3.Connection, name: str, rows: Ints, values: Array) -> None:
    """Store the values in these rows, block by block. SQLite writes only the pages that change."""
    parts = np.unique(rows // PART)
    data = _parts(connection, name, parts, missing=_BLANK).copy()
    data[np.searchsorted(parts, rows // PART), rows % PART] = values
    statement = "INSERT INTO scores VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET data = excluded.data"
    blocks = zip(parts.tolist(), data, strict=True)
    connection.executemany(statement, ((name, part, block.tobytes()) for part, block in blocks))


_BLANK = np.full(PART, np.nan, dtype=_NUMBER).tobytes()


def replaced_after(connection: sqlite3.Connection, deed: int) -> Iterator[tuple[int, str, Ints, Array]]:
    query = "SELECT until, name, cells, data FROM past_scores WHERE until > ? ORDER BY until DESC, rowid DESC"
    for until, name, cells, data in connection.execute(query, (deed,)):
        blobs = isinstance(cells, bytes) and isinstance(data, bytes) and len(data) == 2 * len(cells)
        if name not in SCORES or not blobs or len(data) % 8:
            raise DamagedRowsError("the table `past_scores` contains an invalid row")
        yield until, name, np.frombuffer(cells, _ROW).astype(np.int64), np.frombuffer(data, _NUMBER)


def _update_unseen(connection: sqlite3.Connection, rows: Ints, worth: Array) -> None:
    """Record as unseen the cells whose `worth` is NaN, because no tick has read them since they changed."""
    unseen = rows[np.isnan(worth)]
    few = "WHERE cell IN (SELECT value FROM json_each(?))", (json.dumps(rows.tolist()),)
    where, parameters = few if len(rows) <= PART else ("", ())
    before = np.array(connection.execute(f"SELECT cell FROM unseen {where}", parameters).fetchall(), dtype=np.int64).ravel()
    stale = np.setdiff1d(before[np.isin(before, rows)], unseen)
    connection.executemany("DELETE FROM unseen WHERE cell = ?", stale[:, None].tolist())
    connection.executemany("INSERT OR IGNORE INTO unseen VALUES (?)", unseen[:, None].tolist())
