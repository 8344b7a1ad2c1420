"""Store: a memory in one file, to claim to, tick, correct, search and open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import polars as pl

from malsim.base.errors import StoreError, UsageError
from malsim.base.finite import FARTHEST, finite
from malsim.memory.gate.admit import judge, screened
from malsim.memory.gate.checks import validate
from malsim.memory.gate.claims import as_claims
from malsim.memory.gate.edit import check_author
from malsim.memory.graph.replicate import alone, without
from malsim.memory.law import tick
from malsim.memory.law_steps import effective_now
from malsim.memory.push.ask import ask
from malsim.memory.push.expand import expand, row_named
from malsim.memory.push.mini_index import Push, push
from malsim.memory.push.ten_cells import bootstrap
from malsim.memory.rules import Rules
from malsim.memory.schema import KINDS, NONE
from malsim.memory.store import scopes, seen
from malsim.memory.store.needed_rows import part_for_claims
from malsim.memory.store.page_part import answer_part, effective_in, page_part
from malsim.memory.store.put_right import PutRight
from malsim.memory.tables import read, standing_parts
from malsim.memory.tables.connect import refusing, sound, transaction
from malsim.memory.tables.scores import Clock
from malsim.memory.tables.search import as_stored
from malsim.memory.tables.store_part import named_so
from malsim.memory.tables.write import latest_day, log_verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from malsim.memory.gate.claims import Claims, Validated
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.push.expand import Expanded
    from malsim.memory.tables.standing_parts import Standing


class RunsStanding(Protocol):
    """Callable that runs the programs and wires of a store on a memory that has just ticked at `now` days."""

    def __call__(self, memory: Memory, standing: Standing, now: float, rules: Rules) -> tuple[Memory, Standing]:
        """Return the memory afterwards, and the state of the programs and wires."""


class Store(PutRight):
    """Open store, for use in a `with` block. Every change is one transaction; see `StoreFile`."""

    # What runs netlists and knows their inputs stands above the memory: `malsim.netlist` sets both.
    scan: ClassVar[RunsStanding | None] = None
    input_of: ClassVar[Callable[[Standing, str, object], float] | None] = None

    def admit(
        self, claims: Claims, rules: Rules | None = None, *, factors: Mapping[str, float] | None = None,
        if_seen: int | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        """Pass claims through the gate as `malsim.memory.admit` does; store and return the verdicts.

        A claim on its own may say which version it was made on, as `if_seen`: that of the cells it supersedes, or else of
        its object (`seen.version`). Raises `StaleError` where there is a newer one.
        """
        rules, frame = rules or Rules(), as_claims(claims)
        checked = screened(validate(frame, rules), rules)
        with self._changing_part(lambda file: part_for_claims(file, checked, rules)) as part:
            if frame.height == 1:
                checked = self._beside_newer(frame, checked, rules, if_seen)
            result = judge(part.memory, checked, rules, factors=factors)
            verdicts = named_so(result.verdicts, part.places(result.memory), "cell")
            log_verdicts(self.connection, verdicts)
            day = max(verdicts["t"].to_list(), default=0.0)
            self._write(part.memory, result.memory, t=day, deed="admit", part=part)
        return verdicts

    def _beside_newer(self, claim: pl.DataFrame, checked: Validated, rules: Rules, if_seen: int | None) -> Validated:
        """Check the version a claim is based on; if it is outdated and unnamed, mark the claim and the newer cell."""
        given = claim.row(0, named=True)
        names = [edge["target"] for edge in given["edges"] or [] if edge["relation"] == "supersedes"]
        seen.check_seen(self.connection, filter(None, names), given["object"], given["rep"], if_seen)
        if not names or checked.issues:
            return checked
        both, notes = seen.beside_newer(self.connection, claim)
        again = screened(validate(both, rules), rules) if notes else checked
        return replace(again, notes=[*again.notes, *((0, note) for note in notes)])

    def about_rows(self, rows: Sequence[int]) -> list[tuple[str, str, int]]:
        """Return handle, writer and version of the cells in some rows."""
        with self._reading() as file:
            cells = seen.cells_in(file, rows)
            return [(handle, writer, seen.version(file, [handle], None, rep)) for handle, writer, rep in cells]

    def version(self, handle: str, rep: int = 0) -> int:
        """Return the version of a cell, for `if_seen`: the number of writes about it and its object."""
        with self._reading() as file:
            return seen.version(file, [handle], None, rep)

    def tick(self, now: float, rules: Rules | None = None) -> Memory:
        """Tick the memory in the file as `malsim.memory.tick` does, run its programs and wires, and return the memory.

        `now` is a finite number of days. Raises `StoreError` where something stands in it and nothing here runs it.
        """
        now, rules = finite(now, where="now", low=-FARTHEST, high=FARTHEST), rules or Rules()
        with self._changing(numbers=True) as old:
            new, before = tick(old, now, rules), self.standing
            if Store.scan:
                new, after = Store.scan(new, before, now, rules)
                if after is not before:
                    standing_parts.keep(self.connection, after)
            elif before.text or (old.column("kind") == KINDS.index("prg")).any():
                raise StoreError("the store has programs that this interface cannot run", hint="import malsim.netlist")
            return self._write(old, new, t=now, deed="tick", clock=Clock.of(now, rules))

    def wire(self, load: Callable[[Memory, Standing], tuple[Memory, Standing]], *, t: float | None = None) -> Memory:
        """Store, in one write, what `load` makes of the memory and of the stored netlists; return the memory."""
        with self._changing() as old:
            new, after = load(old, self.standing)
            standing_parts.keep(self.connection, after)
            return self._write(old, new, t=latest_day(new) if t is None else t, deed="save")

    def set_input(self, name: str, value: object, *, writer: str, now: float) -> float:
        """Set an input of the stored wires, such as `reviewer.ack`, from the next tick on; return its value.

        Who set it, when and to what is an event of the store. Raises `UsageError` for what is no input of these wires, and
        for a value of another type.
        """
        check_author(writer)
        now = finite(now, where="now")
        if Store.input_of is None:
            raise StoreError("the store has wires that this interface cannot run", hint="import malsim.netlist")
        with self._changing(numbers=True) as old:
            before = self.standing
            number = Store.input_of(before, name, value)
            event = (now, 0, "set", name, f"{number:g}", writer)
            events = pl.DataFrame([event], schema=standing_parts.EVENTS, orient="row")
            standing_parts.keep(self.connection, replace(before, inputs={**before.inputs, name: number}, events=events))
            self._write(old, old, t=now, deed="set", writer=writer)
        return number

    def bootstrap(self, now: float, *, rep: int = 0, missing: bool = False) -> bool:
        """Add the ten initial cells to an empty replication, or with `missing` those it lacks; return whether it did."""
        with self._reading() as file:
            if not missing and file.execute("SELECT 1 FROM cells WHERE rep = ? LIMIT 1", (rep,)).fetchone():
                return False
        with self._changing() as old:
            new = bootstrap(old, t=now, rep=rep, missing=missing)
            if added := new.height > old.height:
                self._write(old, new, t=now, deed="admit")
            return added

    def rep_of(self, scope: str, *, make: bool = False) -> int:
        """Return the replication of a scope; NONE if it does not exist, or with `make` a new one."""
        with self._reading() as file:
            rep = scopes.number(file, scope)
        if rep != NONE or not make:
            return rep
        with refusing(self.path), transaction(self.connection):
            return scopes.add(self.connection, scope)

    def known_scope(self, scope: str) -> int:
        """Return the replication of a scope; raise `UsageError` if it does not exist."""
        if (rep := self.rep_of(scope)) == NONE:
            allowed = ", ".join(self.scopes) or "none: all in it is everybody's"
            raise UsageError("no such scope", where=str(self.path), given=scope, allowed=allowed)
        return rep

    @property
    def scopes(self) -> dict[str, int]:
        """Return the replication of each named scope."""
        with self._reading() as file:
            return {name: rep for name, rep in scopes.names(file).items() if name}

    def within(self, memory: Memory, scope: str | None = None) -> Memory:
        """Return the cells of a scope as replication 0; for None, all cells outside named scopes.

        Netlists, addresses and signals read this. Raises `UsageError` for a scope that is not there.
        """
        if scope is not None:
            return alone(memory, self.known_scope(scope))
        return without(memory, self.scopes.values())

    def share(self, object_: str, to: str, *, now: float, scope: str = "", by: str | None = None) -> None:
        """Let another scope read what a scope knows of an object."""
        self._shares(object_, to, scope, now, by, "share")

    def unshare(self, object_: str, to: str, *, now: float, scope: str = "", by: str | None = None) -> None:
        """Stop sharing an object with another scope."""
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
        """Answer a question about an object within a scope and what is shared with it; see `push.ask`.

        Raises `UsageError` for a day that is no finite number.
        """
        for name, day in (("now", now), ("at", at), ("as_of", as_of)):
            finite(0.0 if day is None else day, where=name)
        with self._reading() as file, sound(self.path):
            reps = scopes.readable(file, scopes.number(file, scope), object_)
            part = answer_part(file, object_, reps, rules or Rules())
            memory = part.memory if part else self.recorded
            return ask(memory, object_, now=now, at=at, as_of=as_of, reps=reps, rules=rules)

    def mini_index(self, query: str = "", **options: Any) -> Push:
        """Return the lines pushed to a reader about a query, found by the full-text index; options as in `push.push`.

        Where something came since the last tick, what these cells are worth now is worked out.
        """
        rules, rep = options.get("rules") or Rules(), options.get("rep", 0)
        with self._reading() as file:
            of_all: list[Mapping[int, float | None]] = []

            def worth_now(rows: Sequence[int] | None) -> Mapping[int, float | None]:
                worth = None if rows is None or of_all else effective_in(file, rows, rules)
                if worth is None:
                    worth = of_all[0] if of_all else effective_now(self.numbers, rules)
                    of_all.append(worth)
                return worth

            news = read.moved_replications(file, scopes.readable_all(file, rep))
            lines = [*standing_parts.standing(file).lines.get(rep, ()), *options.pop("surfaced", ())]
            return push(file, query, surfaced=lines, worth_now=worth_now if news else as_stored, **options)

    def expand(self, handle: str, *, now: float | None = None, rep: int = 0, rules: Rules | None = None) -> Expanded:
        """Open one cell as of `now` (days; default: the last write) and record that it was read.

        In a store open for reading only, nothing is kept.
        """
        now, rules = None if now is None else finite(now, where="now"), rules or Rules()
        if not self.write:
            return expand(self.about(handle, rep, rules), handle, now=self.day if now is None else now, rep=rep, rules=rules)
        with self._changing_part(lambda file: page_part(file, handle, rep, rules, row_named)) as part:
            now = read.last_day(self.connection) if now is None else now
            page = expand(part.memory, handle, now=now, rep=rep, rules=rules)
            self._write(part.memory, page.memory, t=page.explanation.t, deed="expand", part=part)
        return page

    def about(self, handle: str, rep: int = 0, rules: Rules | None = None) -> Memory:
        """Return a partial memory that shows one cell, its neighbours and its versions as the whole memory would."""
        with self._reading() as file, sound(self.path):
            part = page_part(file, handle, rep, rules or Rules(), row_named)
            return self.recorded if part is None else part.memory


def open_memory(path: str | Path, *, at: float | None = None) -> Memory:
    """Return the memory in a store's file, now or on day `at`; the file is only read.

    Raises `StoreError` where there is no such store.
    """
    with Store(path, write=False) as store:
        return store.memory if at is None else store.at(at)


def save_memory(memory: Memory, path: str | Path, *, t: float | None = None, writer: str | None = None) -> None:
    """Save this memory to a store's file, as of day `t`, in one transaction; see `Store.save`."""
    with Store(path) as store:
        store.save(memory, t=t, writer=writer)
