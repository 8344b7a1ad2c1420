"""Updates, corrections and erasures by people, each in one transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from malsim.base.files.sqlite_file import holds_table
from malsim.memory.gate.admit import Admission
from malsim.memory.gate.edit import update
from malsim.memory.graph.tombstones import TEXTS, derived, rows_about, rows_like
from malsim.memory.rules import Rules
from malsim.memory.store import scopes, seen
from malsim.memory.store.corrections import allow, correct, forget
from malsim.memory.store.store_file import StoreFile
from malsim.memory.tables.connect import refusing
from malsim.memory.tables.write import index_words, log_verdicts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping

    from malsim.memory.graph.arrays import Ints
    from malsim.memory.graph.claim_graph import Memory


class PutRight(StoreFile):
    """Mixin of `Store` that updates, corrects and erases cells of the file."""

    def update(
        self, handle: str, *, writer: str, now: float, rules: Rules | None = None, if_seen: int | None = None, **fields: Any
    ) -> Memory:
        """Rewrite fields of a cell as `gate.edit.update` does, record who did, and return the memory.

        Raises `StaleError` where the version is not `if_seen`.
        """
        with self._changing() as old:
            seen.check_seen(self.connection, [handle], None, 0, if_seen)
            new = update(old, handle, writer=writer, now=now, rules=rules, **fields)
            return self._write(old, new, t=now, deed="update", writer=writer)

    def correct(
        self, object_: str, value: str | float, instead: Mapping[str, Any] | None = None, *, by: str, now: float,
        rules: Rules | None = None, rep: int = 0,
    ) -> Memory:  # fmt: skip
        """Reject a value of an object, and admit the right claim (fields of a claim); see `corrections.correct`."""
        return self._correct(lambda memory: rows_about(memory, rep, object_, value), instead, by, now, rules).memory

    def correct_cell(
        self, handle: str, instead: Mapping[str, Any] | None = None, *, by: str, now: float, rules: Rules | None = None,
        rep: int = 0, if_seen: int | None = None,
    ) -> Admission:  # fmt: skip
        """Reject what a cell says in every cell that says the same of its object; return the memory and the verdict.

        Raises `StaleError` where the version is not `if_seen`.
        """

        def which(memory: Memory) -> Ints:
            seen.check_seen(self.connection, [handle], None, rep, if_seen)
            return rows_like(memory, memory.row(handle, rep=rep))

        return self._correct(which, instead, by, now, rules)

    def _correct(
        self, which: Callable[[Memory], Ints], instead: Mapping[str, Any] | None, by: str, now: float, rules: Rules | None
    ) -> Admission:
        with self._changing() as old:
            new, verdicts = correct(old, which(old), instead, now=now, by=by, rules=rules or Rules())
            log_verdicts(self.connection, verdicts)
            return Admission(self._write(old, new, t=now, deed="correct", writer=by), verdicts)

    def forget(
        self,
        object_: str,
        value: str | float | None = None,
        *,
        by: str,
        now: float,
        rules: Rules | None = None,
        rep: int = 0,
    ) -> Memory:
        """Erase a value of an object, or everything about it; no page of the file contains it afterwards."""
        return self._erase(lambda memory: rows_about(memory, rep, object_, value), by, now, rules)

    def forget_cell(self, handle: str, *, by: str, now: float, rules: Rules | None = None, rep: int = 0) -> Memory:
        """Erase what a cell says in every cell that says the same of its object."""
        return self._erase(lambda memory: rows_like(memory, memory.row(handle, rep=rep)), by, now, rules)

    def _erase(self, which: Callable[[Memory], Ints], by: str, now: float, rules: Rules | None) -> Memory:
        with self._changing() as old:
            rows = which(old)
            new = self._write(
                old, forget(old, rows, now=now, by=by, rules=rules or Rules()), t=now, deed="forget", writer=by
            )
            erased = derived(old, rows)
            purge(self.connection, erased, TEXTS, old.cells[erased].filter(rep=0)["key"].to_list())
            scopes.unshare_all(self.connection, set(old.cells["object"][erased]) - set(new.cells["object"]))
        with refusing(self.path):
            shred(self.connection)
        return new

    def allow(
        self, object_: str, value: str | float, *, by: str, now: float, rules: Rules | None = None, rep: int = 0
    ) -> Memory:
        """Allow a rejected or erased value again."""
        with self._changing() as old:
            new = allow(old, rep, object_, value, by=by, rules=rules or Rules())
            return self._write(old, new, t=now, deed="allow", writer=by)


_OF_ROWS = "IN (SELECT value FROM json_each(?))"


def purge(connection: sqlite3.Connection, rows: Ints, texts: tuple[str, ...], keys: list[str]) -> None:
    """Remove, within a transaction, what these rows said from all tables but `cells`, and rebuild the index.

    `texts` are the fields that were erased, `keys` the names that the rows had, by which importers keep what else they read.
    """
    within, fields = json.dumps(rows.tolist()), json.dumps(texts)
    connection.execute(f"DELETE FROM rewritten WHERE cell {_OF_ROWS} AND field {_OF_ROWS}", (within, fields))
    connection.execute(f"UPDATE verdicts SET issues = '[]', notes = '[]' WHERE cell {_OF_ROWS}", (within,))
    if holds_table(connection, "happenings"):
        names = f'SELECT rep, handle FROM cells WHERE "row" {_OF_ROWS}'
        connection.execute(f"UPDATE happenings SET detail = '' WHERE (rep, subject) IN ({names})", (within,))
    if holds_table(connection, "extras"):
        connection.execute(f"DELETE FROM extras WHERE cell {_OF_ROWS}", (json.dumps(keys),))
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    index_words(connection, "true")


def shred(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
