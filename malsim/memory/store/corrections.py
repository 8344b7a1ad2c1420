"""Updates, corrections and erasures by people, each in one transaction.

A correction retracts claims; a change of the world is a later claim. The writers of a claim may correct it, as may the
people whom the rules name (`verifiers`) or allow to supersede it (`supersede_by`). For anyone else a `UsageError` is
raised, and the memory stays as it was.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.files.sqlite_file import holds_table
from malsim.base.finite import finite
from malsim.memory.gate.admit import Admission, admit
from malsim.memory.gate.edit import update
from malsim.memory.gate.verdicts import issues_as_text
from malsim.memory.graph.tombstones import (
    TEXTS,
    derived,
    digest,
    digests_of,
    erase,
    lift,
    may_retract,
    reject,
    rows_about,
    rows_barred,
    rows_like,
    text_of,
)  # fmt: skip
from malsim.memory.rules import Rules
from malsim.memory.schema import VERDICTS
from malsim.memory.store import scopes
from malsim.memory.store.store_file import StoreFile
from malsim.memory.store.version_check import check_version
from malsim.memory.tables.connect import refusing
from malsim.memory.tables.search import index_words
from malsim.memory.tables.write import log_verdicts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping

    from malsim.memory.graph.arrays import Ints
    from malsim.memory.graph.claim_graph import Memory

_NONE = np.zeros(0, dtype=np.int64)


class NotTheirsError(UsageError):
    """Error for a correction by a person whom the rules do not allow to correct the claim."""


class EditableStore(StoreFile):
    """Store file whose cells people can update, correct and erase. Base class of `Store`."""

    def update(
        self, handle: str, *, writer: str, now: float, rules: Rules | None = None, if_seen: int | None = None, **fields: Any
    ) -> Memory:
        """Rewrite fields of a cell as `gate.edit.update` does, record who did it, and return the memory.

        Raises `StaleError` if the version is not `if_seen`.
        """
        with self._changing() as old:
            check_version(self.connection, [handle], None, 0, if_seen)
            new = update(old, handle, writer=writer, now=now, rules=rules, **fields)
            return self._write(old, new, t=now, deed="update", writer=writer)

    def correct(
        self, object_: str, value: str | float, instead: Mapping[str, Any] | None = None, *, by: str, now: float,
        rules: Rules | None = None, rep: int = 0,
    ) -> Memory:  # fmt: skip
        """Reject a value of an object, and admit the right claim, given by its fields; see `corrections.correct`."""
        return self._correct(lambda memory: rows_about(memory, rep, object_, value), instead, by, now, rules).memory

    def correct_cell(
        self, handle: str, instead: Mapping[str, Any] | None = None, *, by: str, now: float, rules: Rules | None = None,
        rep: int = 0, if_seen: int | None = None,
    ) -> Admission:  # fmt: skip
        """Reject a cell's value in every cell that states it about the same object. Return the memory and the verdict.

        Raises `StaleError` if the version is not `if_seen`.
        """

        def wrong_rows(memory: Memory) -> Ints:
            check_version(self.connection, [handle], None, rep, if_seen)
            return rows_like(memory, memory.row(handle, rep=rep))

        return self._correct(wrong_rows, instead, by, now, rules)

    def _correct(
        self, wrong_rows: Callable[[Memory], Ints], instead: Mapping[str, Any] | None, by: str, now: float,
        rules: Rules | None,
    ) -> Admission:  # fmt: skip
        with self._changing() as old:
            new, verdicts = correct(old, wrong_rows(old), instead, now=now, by=by, rules=rules or Rules())
            log_verdicts(self.connection, verdicts)
            return Admission(self._write(old, new, t=now, deed="correct", writer=by), lambda: verdicts)

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
        """Erase a value of an object, or everything about the object, from every page of the file."""
        return self._erase(lambda memory: rows_about(memory, rep, object_, value), by, now, rules)

    def forget_cell(self, handle: str, *, by: str, now: float, rules: Rules | None = None, rep: int = 0) -> Memory:
        """Erase a cell's value in every cell that states it about the same object."""
        return self._erase(lambda memory: rows_like(memory, memory.row(handle, rep=rep)), by, now, rules)

    def _erase(self, wrong_rows: Callable[[Memory], Ints], by: str, now: float, rules: Rules | None) -> Memory:
        with self._changing() as old:
            rows = wrong_rows(old)
            after = forget(old, rows, now=now, by=by, rules=rules or Rules())
            new = self._write(old, after, t=now, deed="forget", writer=by)
            erased = derived(old, rows)
            _purge(self.connection, erased, old.cells[erased].filter(rep=0)["key"].to_list())
            scopes.unshare_all(self.connection, set(old.cells["object"][erased]) - set(new.cells["object"]))
        with refusing(self.path):
            # Until this checkpoint, the write-ahead log still contains the erased text.
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return new

    def allow(
        self, object_: str, value: str | float, *, by: str, now: float, rules: Rules | None = None, rep: int = 0
    ) -> Memory:
        """Let the gate admit a rejected or erased value again."""
        with self._changing() as old:
            new = allow(old, rep, object_, value, by=by, rules=rules or Rules())
            return self._write(old, new, t=now, deed="allow", writer=by)


_OF_ROWS = "IN (SELECT value FROM json_each(?))"


def _purge(connection: sqlite3.Connection, rows: Ints, keys: list[str]) -> None:
    """Remove the texts of erased rows from every table except `cells`, and rebuild the full-text index.

    `keys` are the previous keys of the rows, under which importers store additional fields.
    """
    within = json.dumps(rows.tolist())
    connection.execute(f"DELETE FROM rewritten WHERE cell {_OF_ROWS} AND field {_OF_ROWS}", (within, json.dumps(TEXTS)))
    connection.execute(f"UPDATE verdicts SET issues = '[]', notes = '[]' WHERE cell {_OF_ROWS}", (within,))
    if holds_table(connection, "happenings"):
        names = f'SELECT rep, handle FROM cells WHERE "row" {_OF_ROWS}'
        connection.execute(f"UPDATE happenings SET detail = '' WHERE (rep, subject) IN ({names})", (within,))
    if holds_table(connection, "extras"):
        connection.execute(f"DELETE FROM extras WHERE cell {_OF_ROWS}", (json.dumps(keys),))
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    index_words(connection, "true")


def correct(
    memory: Memory, rows: Ints, instead: Mapping[str, Any] | None, *, now: float, by: str, rules: Rules
) -> Admission:
    """Reject the value that the given cells state about an object, and admit the right claim.

    Under `corrections = "supersede"` the right claim supersedes the wrong ones. Under `"reject"` the wrong ones lose all
    effect, and their value is refused from now on. Under `derived = "fall"` everything derived from them is rejected too.

    Parameters
    ----------
    rows
        Cells that state one value of one object.
    instead
        Fields of the right claim (title, value, confidence …), by default of the same kind and object, valid from the same
        day; None if nobody knows the right value.
    """
    rows = rows[np.isnan(memory.values("rejected", rows))]
    _check_right(memory, rows, by, rules, now)
    verdicts = pl.DataFrame(schema=VERDICTS)
    rejects = rules.corrections == "reject" or instead is None
    facts = rows if rules.corrections == "reject" else _NONE
    fallen = derived(memory, rows) if rules.derived == "fall" else rows
    if instead is not None:
        memory, verdicts = _admit_instead(memory, rows, instead, now, by, rules)
    retracted = fallen if rejects else np.setdiff1d(fallen, rows)
    return Admission(reject(memory, retracted, now=now, facts=facts) if retracted.size else memory, lambda: verdicts)


def _admit_instead(
    memory: Memory, rows: Ints, instead: Mapping[str, Any], now: float, by: str, rules: Rules
) -> tuple[Memory, pl.DataFrame]:
    wrong = memory.cells[rows]
    start = wrong.select(pl.coalesce("valid_from", "created").min()).item()
    first = wrong.row(0, named=True)
    defaults = {
        "kind": first["kind"],
        "object": first["object"],
        "confidence": wrong["stated"].max() or rules.confidence_cap,
    }
    edges = [{"relation": "supersedes", "target": name} for name in wrong.filter(pl.col("status") == "active")["handle"]]
    fixed = {"rep": first["rep"], "t": now, "writer": by, "valid_from": start, "edges": edges}
    claim = defaults | {name: value for name, value in instead.items() if value is not None} | fixed
    value = claim.get("value_text") if claim.get("value") is None else claim["value"]
    fact = digest(first["rep"], first["object"], text_of(claim["title"] if value is None else value))
    if fact in wrong.select(digests_of()).to_series():
        hint = "give a different value, or no value"
        raise UsageError(
            "the new value is the same as the rejected value", where="correct", given=first["handle"], hint=hint
        )
    rules = rules.replace(supersede_by="any")  # `_check_right` has already checked that `by` may do this
    after, verdicts = admit(lift(memory, rows_barred(memory, fact)), [claim], rules)
    if verdicts["verdict"][0] == "refused":
        given = verdicts.select(issues_as_text()).item()
        raise UsageError("the gate refused the new claim", where="correct", given=given)
    return after, verdicts


def forget(memory: Memory, rows: Ints, *, now: float, by: str, rules: Rules) -> Memory:
    """Erase the content of the given cells and of everything derived from them, and refuse their facts from now on.

    Erasing is final, so only the writers of these rows and verifiers may do so, regardless of `supersede_by`.
    """
    _check_right(memory, rows, by, rules.replace(supersede_by="own"), now)
    return erase(memory, derived(memory, rows), now=now, facts=rows)


def allow(memory: Memory, rep: int, object_: str, value: str | float, *, by: str, rules: Rules) -> Memory:
    """Return the memory after allowing a rejected or erased value of an object again."""
    rows = rows_barred(memory, digest(rep, object_, text_of(value)))
    _check_right(memory, rows, by, rules)
    return lift(memory, rows)


def _check_right(memory: Memory, rows: Ints, by: str, rules: Rules, now: float = 0.0) -> None:
    """Raise `UsageError` if there are no rows, if a cell is locked, or if the rules do not let `by` correct the cells."""
    finite(now, where="now")
    if not rows.size:
        hint = "check whether the value was retracted before, and spell it as it was claimed"
        raise UsageError("no cell states this value", hint=hint)
    cells = memory.cells[rows]
    if rules.locks == "enforced" and (cells["locked"] | cells["immutable"]).any():
        raise UsageError("the cell is locked or immutable", where=cells["handle"][0], hint="unlock the cell")
    if not may_retract(memory, rows, np.zeros(len(rows), dtype=np.int64), by, rules).all():
        authors = memory.writers[np.unique(memory.column("author")[rows])]["writer"]
        allowed = ", ".join(dict.fromkeys([*authors, *rules.verifiers.split()]))
        raise NotTheirsError(
            "this writer is not allowed to retract the claim", where=cells["handle"][0], given=by, allowed=allowed
        )
