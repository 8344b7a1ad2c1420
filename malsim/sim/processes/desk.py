"""Interface of a user's process: reading and writing the memory of its replication, and events of the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import simpy

from malsim.base.errors import ProcessError, nearest
from malsim.memory.schema import NONE
from malsim.sim.context.snapshot import LIMIT
from malsim.sim.world import SENSES
from malsim.sim.world.clock import DAY
from malsim.sim.world.draws import name_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.graph.arrays import Ints
    from malsim.sim.processes.environment import Environment
    from malsim.sim.processes.room import CellLine, PostVerdict, Room


class Desk:
    """Desk of one process in one replication. Everything that it reads is as of the last tick.

    `inbox` is a `simpy.Store` of cells (`CellLine`) that an active cell contradicts, each put in once, at the tick that
    shows it. `random` is a numpy generator keyed by the run's seed, the replication and the process's name.
    """

    def __init__(self, name: str, env: Environment, room: Room, rep: int) -> None:
        self.name, self._env, self._room, self._rep = name, env, room, rep
        self.replication = int(room.context.reps[rep])
        self.inbox = simpy.Store(env)
        key = [room.context.seed, self.replication, int(name_number(name))]
        self.random = np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))
        self._looks, self._posts = 0, 0
        self._waiting: dict[int, simpy.Event] = {}  # by the claim's own count, until the gate has spoken
        self.admitted, self.ticked = env.event(), env.event()
        self._trips: dict[str, simpy.Event] = {}

    def post(self, claim: Mapping[str, Any] | None = None, **fields: Any) -> simpy.Event:
        """Post a claim with the fields of a scenario's `[[claim]]`; the event is triggered by the gate's verdict.

        Its value is then a `PostVerdict`. A value may be the word that a fact of the scenario has for it; the kind is obs,
        and the body the claim's number and its writer, where nothing else is given.
        Raises `ProcessError` after the end of the run.
        """
        count = self._posts
        fields = {"kind": "obs", "body": f"claim {count + 1} of {self.name}", **(claim or {}), **fields}
        if not self._room.open:
            raise ProcessError("it posts after the end", where=self.name, given=fields.get("title") or fields.get("object"))
        if fields.setdefault("writer", self.name) != self.name:
            raise ProcessError("it writes under another's name", where=self.name, given=fields["writer"], allowed=self.name)
        if "value" in fields and "object" in fields:
            value = self._room.number(fields["object"], fields["value"])
            fields = {"title": f"{fields['object']} is {fields['value']}"} | fields | {"value": value}
        self._posts += 1
        self._waiting[count] = verdict = self._env.event()
        self._room.posted.append({**fields, "t": self._env.now, "rep": self.replication, "sequence": count})
        return verdict

    def correct(self, cell: str, **fields: Any) -> simpy.Event:
        """Post a claim that supersedes a cell."""
        edges = [*fields.pop("edges", []), {"relation": "supersedes", "target": cell}]
        return self.post(fields, edges=edges)

    def push(self, object: str, *, limit: int = LIMIT) -> list[CellLine]:  # noqa: A002  # as the column of claims is called
        """Return the lines that a reader would be shown about an object of the scenario, best first."""
        room, fact = self._room, self._room.fact(object)
        pushed = room.look().push(np.array([self._rep]), np.array([fact]), self._env.now, limit=limit)
        there = pushed.row[0] != NONE
        return room.lines(pushed.row[0][there], pushed.marked[0][there])

    def ask(self, object: str) -> CellLine | None:  # noqa: A002
        """Return the active cell about an object with the highest belief, the earlier of equals; None if there is none."""
        room, fact = self._room, self._room.fact(object)
        snapshot = room.look()
        index = snapshot.cell_index
        rows = snapshot.speaking[(index.rep == self._rep)[snapshot.speaking] & (index.fact == fact)[snapshot.speaking]]
        return room.lines(rows[[snapshot.worth[rows].argmax()]])[0] if rows.size else None

    def expand(self, cell: str) -> dict[str, Any]:
        """Open a cell: all its columns; the opening counts as a use of it at the next tick."""
        row = self._room.row(cell, self._rep)
        self._room.opened.append((self._rep, row))
        return self._room.look().view.frame().row(row, named=True)

    def sense(self, object: str, accuracy: float = 1.0) -> float | str:  # noqa: A002
        """Return the value of an object that an observer of this accuracy sees now. Each call is a new draw."""
        room, fact = self._room, np.array([self._room.fact(object)])
        self._looks += 1
        uniforms = room.draws(self.name).uniform(SENSES, rep=np.array([self.replication]), turn=self._looks)
        t = np.array([round(self._env.now * DAY)])
        sight = room.context.world.sight(uniforms, rep=np.array([self._rep]), fact=fact, t=t)
        return room.facts[int(fact[0])].values[int(sight.read(accuracy)[0])]

    def tripped(self, signal: str) -> simpy.Event:
        """Return the event that a signal of the netlist becomes true in this replication, triggered at that tick."""
        if signal not in self._room.signals:
            hint = nearest(signal, self._room.signals, "name a signal of the netlist that has one value a run")
            allowed = ", ".join(self._room.signals) or "none: no netlist"
            raise ProcessError("no such signal", where=f"{self.name}: tripped", given=signal, allowed=allowed, hint=hint)
        return self._trips.setdefault(signal, self._env.event())

    def on_verdicts(self, verdicts: Mapping[int, PostVerdict]) -> None:
        """Deliver the gate's verdicts on the process's claims, by their counts, and trigger `admitted`."""
        for count, verdict in verdicts.items():
            if count in self._waiting:  # a claim that arrives twice is told of once
                self._waiting.pop(count).succeed(verdict)
        self.admitted = _happen(self.admitted, [one for one in verdicts.values() if one.verdict == "admitted"])

    def on_tick(self, rose: set[str], disputed: Ints) -> None:
        """Deliver the end of a tick: signals that became true, and newly disputed cells of the replication."""
        for line in self._room.lines(disputed):
            self.inbox.put(line)
        for name in rose & set(self._trips):
            self._trips.pop(name).succeed(name)
        self.ticked = _happen(self.ticked, self._env.now)


def _happen(event: simpy.Event, value: object) -> simpy.Event:
    """Trigger an event and return a new one of its kind."""
    event.succeed(value)
    return event.env.event()
