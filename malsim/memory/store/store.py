"""Store: a memory in one file, with methods to admit claims, tick, make corrections, search and open cells."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from malsim.base.errors import StoreError, UsageError
from malsim.base.finite import FARTHEST, finite
from malsim.memory.gate.admit import judge, screened
from malsim.memory.gate.checks import validate
from malsim.memory.gate.claims import as_claims
from malsim.memory.gate.edit import check_author
from malsim.memory.graph.replicate import only_replication, without
from malsim.memory.law import tick
from malsim.memory.law_steps import effective_now
from malsim.memory.push.ask import ask
from malsim.memory.push.expand import expand, row_of
from malsim.memory.push.mini_index import Push, push
from malsim.memory.push.ten_cells import bootstrap
from malsim.memory.rules import Rules
from malsim.memory.schema import KINDS, NONE
from malsim.memory.store import scopes
from malsim.memory.store.corrections import EditableStore
from malsim.memory.store.partial_load import effective_of, part_for_answer, part_for_claims, part_for_page
from malsim.memory.store.version_check import check_version, contradict_newer, version_of
from malsim.memory.tables import read, stored_wires
from malsim.memory.tables.connect import refusing, sound, transaction
from malsim.memory.tables.read import renumbered
from malsim.memory.tables.scores import Clock
from malsim.memory.tables.search import as_stored
from malsim.memory.tables.write import latest_day, log_verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from malsim.memory.gate.claims import Claims, Validated
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.push.expand import Expanded
    from malsim.memory.tables.stored_wires import Standing


class Store(EditableStore):
    """Open store, to be used in a `with` block. Every change is one transaction; see `StoreFile`."""

    # `malsim.netlist` sets these functions, because it may not be imported here. `scan` runs the programs and wires on a
    # memory that has just ticked, given the day and the rules. `input_of` checks a value for an input of the wires.
    scan: ClassVar[Callable[[Memory, Standing, float, Rules], tuple[Memory, Standing]] | None] = None
    input_of: ClassVar[Callable[[Standing, str, object], float] | None] = None

    def admit(
        self, claims: Claims, rules: Rules | None = None, *, factors: Mapping[str, float] | None = None,
        if_seen: int | None = None, mark_rivals: bool = False,
    ) -> pl.DataFrame:  # fmt: skip
        """Pass claims through the gate as `malsim.memory.admit` does, store the result, and return the verdicts.

        A single claim may name the version that it is based on, `if_seen`: that of the cells it supersedes, or else of its
        object (see `version`). Raises `StaleError` if there is a newer version. With `mark_rivals`, a single claim without
        edges gets a mutual contradiction with the newest other value of its object by another writer.
        """
        rules, frame = rules or Rules(), as_claims(claims)
        checked = screened(validate(frame, rules), rules)
        with self._transaction():
            if frame.height == 1:
                checked = self._check_basis(frame, checked, rules, if_seen, mark_rivals=mark_rivals)
            part = self._load(lambda file: part_for_claims(file, checked, rules))
            result = judge(part.memory, checked, rules, factors=factors)
            verdicts = renumbered(result.verdicts, part.store_rows(result.memory), "cell")
            log_verdicts(self.connection, verdicts)
            day = max(verdicts["t"].to_list(), default=0.0)
            self._write(part.memory, result.memory, t=day, deed="admit", part=part)
        return verdicts

    def _check_basis(
        self, claim: pl.DataFrame, checked: Validated, rules: Rules, if_seen: int | None, *, mark_rivals: bool
    ) -> Validated:
        """Check the version on which a claim is based. Without `if_seen`, an outdated claim contradicts the newer cells."""
        row = claim.row(0, named=True)
        names = [edge["target"] for edge in row["edges"] or [] if edge["relation"] == "supersedes"]
        check_version(self.connection, filter(None, names), row["object"], row["rep"], if_seen)
        if checked.issues:
            return checked
        contradicting, notes = contradict_newer(self.connection, claim, mark_rivals=mark_rivals)
        checked = screened(validate(contradicting, rules), rules) if notes else checked
        return replace(checked, notes=[*checked.notes, *((0, note) for note in notes)])

    def about_rows(self, rows: Sequence[int]) -> list[tuple[str, str, int]]:
        """Return the handle, writer and version of the cell in each of these rows, in the given order."""
        query = 'SELECT handle, writer, rep FROM json_each(?) AS row JOIN cells ON "row" = row.value ORDER BY row.key'
        with self._reading() as file:
            cells = file.execute(query, (json.dumps([*rows]),)).fetchall()
            return [(handle, writer, version_of(file, [handle], None, rep)) for handle, writer, rep in cells]

    def version(self, handle: str, rep: int = 0) -> int:
        """Return a cell's version for use as `if_seen`: the number of writes to it and to all cells about its object."""
        with self._reading() as file:
            return version_of(file, [handle], None, rep)

    def tick(self, now: float, rules: Rules | None = None) -> Memory:
        """Tick the memory in the file as `malsim.memory.tick` does, run its programs and wires, and return the memory.

        `now` is a finite number of days. Raises `StoreError` for a store with programs or wires if nothing can run them.
        """
        now, rules = finite(now, where="now", low=-FARTHEST, high=FARTHEST), rules or Rules()
        with self._changing(numbers=True) as old:
            new, before = tick(old, now, rules), self.standing
            if Store.scan:
                new, after = Store.scan(new, before, now, rules)
                if after is not before:
                    stored_wires.save(self.connection, after)
            elif before.text or (old.column("kind") == KINDS.index("prg")).any():
                raise StoreError("the store has programs, which need malsim.netlist", hint="import malsim.netlist")
            return self._write(old, new, t=now, deed="tick", clock=Clock.of(now, rules))

    def wire(self, load: Callable[[Memory, Standing], tuple[Memory, Standing]], *, t: float | None = None) -> Memory:
        """Apply `load` to the memory and the stored netlist, save both in one transaction, and return the memory."""
        with self._changing() as old:
            new, after = load(old, self.standing)
            stored_wires.save(self.connection, after)
            return self._write(old, new, t=latest_day(new) if t is None else t, deed="save")

    def set_input(self, name: str, value: object, *, writer: str, now: float) -> float:
        """Set an input of the stored netlist, such as `reviewer.ack`, from the next tick on. Return its value as a number.

        The change is recorded as an event. Raises `UsageError` for an unknown input and for a value of the wrong type.
        """
        check_author(writer)
        now = finite(now, where="now")
        if Store.input_of is None:
            raise StoreError("the store has wires, which need malsim.netlist", hint="import malsim.netlist")
        with self._changing(numbers=True) as old:
            before = self.standing
            number = Store.input_of(before, name, value)
            event = (now, 0, "set", name, f"{number:g}", writer)
            events = pl.DataFrame([event], schema=stored_wires.EVENTS, orient="row")
            stored_wires.save(self.connection, replace(before, inputs={**before.inputs, name: number}, events=events))
            self._write(old, old, t=now, deed="set", writer=writer)
        return number

    def bootstrap(self, now: float, *, rep: int = 0, missing: bool = False) -> bool:
        """Add the ten initial cells to an empty replication or, with `missing`, those that the replication lacks.

        Return whether any were added.
        """
        with self._reading() as file:
            if not missing and file.execute("SELECT 1 FROM cells WHERE rep = ? LIMIT 1", (rep,)).fetchone():
                return False
        with self._changing() as old:
            new = bootstrap(old, t=now, rep=rep, missing=missing)
            if added := new.height > old.height:
                self._write(old, new, t=now, deed="admit")
            return added

    def rep_of(self, scope: str, *, make: bool = False) -> int:
        """Return the replication of a scope. If there is no such scope, return NONE or, with `make`, create the scope."""
        with self._reading() as file:
            rep = scopes.number(file, scope)
        if rep != NONE or not make:
            return rep
        with refusing(self.path), transaction(self.connection):
            return scopes.add(self.connection, scope)

    def known_scope(self, scope: str) -> int:
        """Return the replication of a scope, and raise `UsageError` if there is no such scope."""
        if (rep := self.rep_of(scope)) == NONE:
            allowed = ", ".join(self.scopes) or "none: the store has no named scopes"
            raise UsageError("no such scope", where=str(self.path), given=scope, allowed=allowed)
        return rep

    @property
    def scopes(self) -> dict[str, int]:
        """Map from each named scope to its replication."""
        with self._reading() as file:
            return {name: rep for name, rep in scopes.names(file).items() if name}

    def within(self, memory: Memory, scope: str | None = None) -> Memory:
        """Return the cells of a scope as replication 0 or, if `scope` is None, all cells outside named scopes.

        Netlists, addresses and signals read this memory. Raises `UsageError` for an unknown scope.
        """
        if scope is not None:
            return only_replication(memory, self.known_scope(scope))
        return without(memory, self.scopes.values())

    def share(self, object_: str, to: str, *, now: float, scope: str = "", by: str | None = None) -> None:
        """Let the scope `to` read another scope's cells about an object."""
        self._shares(object_, to, scope, now, by, "share")

    def unshare(self, object_: str, to: str, *, now: float, scope: str = "", by: str | None = None) -> None:
        """Stop sharing an object with the scope `to`."""
        self._shares(object_, to, scope, now, by, "unshare")

    def _shares(self, object_: str, to: str, scope: str, now: float, by: str | None, deed: str) -> None:
        now, source, reader = finite(now, where="now"), self.rep_of(scope, make=True), self.rep_of(to, make=True)
        with self._changing() as old:
            scopes.share(self.connection, source, object_, reader, shared=deed == "share")
            self._write(old, old, t=now, deed=deed, writer=by)

    def ask(
        self, object_: str, *, now: float, at: float | None = None, as_of: float | None = None, scope: str = "",
        rules: Rules | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        """Answer a query about an object from a scope's cells and those that other scopes share with it; see `push.ask`.

        Raises `UsageError` for a day that is not a finite number.
        """
        for name, day in (("now", now), ("at", at), ("as_of", as_of)):
            finite(0.0 if day is None else day, where=name)
        with self._reading() as file, sound(self.path):
            reps = scopes.readable(file, scopes.number(file, scope), object_)
            part = part_for_answer(file, object_, reps, rules or Rules())
            memory = part.memory if part else self.recorded
            return ask(memory, object_, now=now, at=at, as_of=as_of, reps=reps, rules=rules)

    def mini_index(self, query: str = "", **options: Any) -> Push:
        """Return the lines pushed for a query, found by the full-text index. The options are those of `push.push`.

        After an admission, effective confidence is computed as of now, for these cells only where possible.
        """
        rules, rep = options.get("rules") or Rules(), options.get("rep", 0)
        with self._reading() as file:
            whole = cache(lambda: effective_now(self.numbers, rules))

            def worth_now(rows: Sequence[int] | None) -> Mapping[int, float | None]:
                worth = None if rows is None else effective_of(file, rows, rules)
                return whole() if worth is None else worth

            moved = read.moved_replications(file, scopes.readable_all(file, rep))
            lines = [*stored_wires.standing(file).lines.get(rep, ()), *options.pop("surfaced", ())]
            return push(file, query, surfaced=lines, worth_now=worth_now if moved else as_stored, **options)

    def expand(self, handle: str, *, now: float | None = None, rep: int = 0, rules: Rules | None = None) -> Expanded:
        """Open one cell on day `now` (default: day of the last write), and record the read unless the store is read-only."""
        now, rules = None if now is None else finite(now, where="now"), rules or Rules()
        if not self.write:
            return expand(self.about(handle, rep, rules), handle, now=self.day if now is None else now, rep=rep, rules=rules)
        with self._transaction():
            part = self._load(lambda file: part_for_page(file, handle, rep, rules, row_of))
            now = read.last_day(self.connection) if now is None else now
            page = expand(part.memory, handle, now=now, rep=rep, rules=rules)
            self._write(part.memory, page.memory, t=page.explanation.t, deed="expand", part=part)
        return page

    def about(self, handle: str, rep: int = 0, rules: Rules | None = None) -> Memory:
        """Return a partial memory that shows one cell, its neighbours and its versions as the complete memory would."""
        with self._reading() as file, sound(self.path):
            part = part_for_page(file, handle, rep, rules or Rules(), row_of)
        return self.recorded if part is None else part.memory


def open_memory(path: str | Path, *, at: float | None = None) -> Memory:
    """Return the memory in a store's file, as it is now or as it was on day `at`. The file is opened read-only.

    Raises `StoreError` if there is no such store.
    """
    with Store(path, write=False) as store:
        return store.memory if at is None else store.at(at)


def save_memory(memory: Memory, path: str | Path, *, t: float | None = None, writer: str | None = None) -> None:
    """Save this memory to a store's file in one transaction, dated day `t`; see `Store.save`."""
    with Store(path) as store:
        store.save(memory, t=t, writer=writer)
