"""Interface between a user's process and the memory of its replication, and the SimPy environment of the process."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import simpy
from simpy.events import NORMAL

from malsim.adapters.calls import text_of
from malsim.base.errors import MalsimError, ProcessError, nearest
from malsim.memory.schema import NONE
from malsim.sim.context.snapshot import LIMIT
from malsim.sim.world import SENSES
from malsim.sim.world.clock import DAY, days
from malsim.sim.world.draws import Draws, name_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.world import Fact


class Desk:
    """Interface of one process to one replication. It shows the memory as it was after the last tick.

    `inbox` is a `simpy.Store` that receives each cell (`CellLine`) once, at the first tick at which an active cell
    contradicts it. `random` is a numpy generator keyed by the run's seed, the replication and the process's name.
    """

    def __init__(self, name: str, env: Environment, room: Room, rep: int) -> None:
        self.name, self._env, self._room, self._rep = name, env, room, rep
        self.replication = int(room.context.reps[rep])
        self.inbox = simpy.Store(env)
        key = [room.context.seed, self.replication, int(name_number(name))]
        self.random = np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))
        self._looks, self._posts = 0, 0
        self._waiting: dict[int, simpy.Event] = {}  # event of each posted claim without a verdict, keyed by claim number
        self.admitted, self.ticked = env.event(), env.event()
        self._trips: dict[str, simpy.Event] = {}

    def post(self, claim: Mapping[str, Any] | None = None, **fields: Any) -> simpy.Event:
        """Post a claim with the fields of a `[[claim]]` table, and return an event whose value will be a `PostVerdict`.

        The event is triggered by the gate's verdict. `value` may be a text value of a fact. The default kind is obs, and
        the default body gives the claim's number and writer. Raises `ProcessError` after the end of the run.
        """
        count = self._posts
        fields = {"kind": "obs", "body": f"claim {count + 1} of {self.name}", **(claim or {}), **fields}
        if not self._room.open:
            given = fields.get("title") or fields.get("object")
            raise ProcessError("a claim was posted after the end of the run", where=self.name, given=given)
        if fields.setdefault("writer", self.name) != self.name:
            problem = "a process can only write under its own name"
            raise ProcessError(problem, where=self.name, given=fields["writer"], allowed=self.name)
        if "value" in fields and "object" in fields:
            value = self._room.number(fields["object"], fields["value"])
            fields = {"title": f"{fields['object']} is {fields['value']}"} | fields | {"value": value}
        self._posts += 1
        self._waiting[count] = verdict = self._env.event()
        self._room.posted.append({**fields, "t": self._env.now, "rep": self.replication, "sequence": count})
        return verdict

    def correct(self, cell: str, **fields: Any) -> simpy.Event:
        """Post a claim that supersedes an existing cell."""
        edges = [*fields.pop("edges", []), {"relation": "supersedes", "target": cell}]
        return self.post(fields, edges=edges)

    def push(self, object: str, *, limit: int = LIMIT) -> list[CellLine]:  # noqa: A002  # as the column of claims is called
        """Return the lines that a reader would be shown about an object, best first."""
        room, fact = self._room, self._room.fact(object)
        pushed = room.look().push(np.array([self._rep]), np.array([fact]), self._env.now, limit=limit)
        present = pushed.row[0] != NONE
        return room.lines(pushed.row[0][present], pushed.marked[0][present])

    def ask(self, object: str) -> CellLine | None:  # noqa: A002
        """Return the active cell about an object that has the highest belief (the first in a tie), or None."""
        room, fact = self._room, self._room.fact(object)
        snapshot = room.look()
        index = snapshot.cell_index
        rows = snapshot.speaking[(index.rep == self._rep)[snapshot.speaking] & (index.fact == fact)[snapshot.speaking]]
        return room.lines(rows[[snapshot.worth[rows].argmax()]])[0] if rows.size else None

    def expand(self, cell: str) -> dict[str, Any]:
        """Open a cell and return all its columns. At the next tick, the cell counts as read."""
        row = self._room.row(cell, self._rep)
        self._room.opened.append((self._rep, row))
        return self._room.look().view.frame().row(row, named=True)

    def sense(self, object: str, accuracy: float = 1.0) -> float | str:  # noqa: A002
        """Return an observation of an object's current value, which is right with probability `accuracy`."""
        room, fact = self._room, self._room.fact(object)
        self._looks += 1
        draws = Draws(room.context.seed, f"process {self.name}")
        uniforms = draws.uniform(SENSES, rep=np.array([self.replication]), turn=self._looks)
        rep, t = np.array([self._rep]), np.array([round(self._env.now * DAY)])
        value = room.context.world.observe(uniforms, accuracy, rep=rep, fact=np.array([fact]), t=t)
        return room.facts[fact].values[int(value[0])]

    def tripped(self, signal: str) -> simpy.Event:
        """Return an event that succeeds at the next tick at which the given netlist signal becomes true."""
        if signal not in self._room.signals:
            hint = nearest(signal, self._room.signals, "choose a netlist signal that has one value per run")
            allowed = ", ".join(self._room.signals) or "none, because there is no netlist"
            raise ProcessError("no such signal", where=f"{self.name}: tripped", given=signal, allowed=allowed, hint=hint)
        return self._trips.setdefault(signal, self._env.event())

    def on_verdicts(self, verdicts: Mapping[int, PostVerdict]) -> None:
        """Trigger `admitted` and the events returned by `post`. `verdicts` maps claim numbers to the gate's verdicts."""
        for count, verdict in verdicts.items():
            if count in self._waiting:  # a delivery fault can make a claim arrive twice
                self._waiting.pop(count).succeed(verdict)
        self.admitted = _happen(self.admitted, [post for post in verdicts.values() if post.verdict == "admitted"])

    def on_tick(self, rose: set[str], disputed: Ints) -> None:
        for line in self._room.lines(disputed):
            self.inbox.put(line)
        for name in rose & set(self._trips):
            self._trips.pop(name).succeed(name)
        self.ticked = _happen(self.ticked, self._env.now)


def _happen(event: simpy.Event, value: object) -> simpy.Event:
    event.succeed(value)
    return event.env.event()


@dataclass(frozen=True)
class CellLine:
    """Line of a push: a cell, its object, its value, its belief, and whether it is marked (^)."""

    cell: str
    object: str
    value: float | str
    belief: float
    marked: bool = False


@dataclass(frozen=True)
class PostVerdict:
    """Gate verdict on a claim (admitted, deduplicated or rejected), with the handle of the claim's cell ("" if none)."""

    verdict: str
    cell: str


@dataclass
class Room:
    """State shared by all desks of a run. `look` returns a snapshot of the memory after the last tick.

    `posted` has the claims on their way to the inbox, and `opened` the cells opened since the last tick, as (replication
    index, row). `open` is True until the end of the run. `signals` names the netlist signals that have one value per run.
    """

    context: RunContext
    facts: Sequence[Fact]
    look: Callable[[], Snapshot]
    signals: tuple[str, ...]
    open: bool = True
    posted: list[dict[str, Any]] = field(default_factory=list)
    opened: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._indices = {fact.name: index for index, fact in enumerate(self.facts)}

    def fact(self, name: str) -> int:
        if name not in self._indices:
            hint = nearest(name, self._indices, "add it under [[facts]]")
            raise ProcessError("no such object", given=name, allowed=", ".join(self._indices) or "none", hint=hint)
        return self._indices[name]

    def number(self, name: object, value: object) -> object:
        """Return the number that represents a value in claims. Text values are numbered by their index in the fact."""
        index = self._indices.get(str(name))
        if index is None or not isinstance(value, str):
            return value
        words = list(self.facts[index].values)
        if value not in words:
            texts = [str(word) for word in words]
            hint = nearest(value, texts, "see [[facts]]")
            raise ProcessError("no such value", where=str(name), given=value, allowed=", ".join(texts), hint=hint)
        return self.facts[index].number(words.index(value))

    def row(self, cell: str, rep: int) -> int:
        snapshot = self.look()
        rows = np.flatnonzero((snapshot.view.name == cell).to_numpy() & (snapshot.view.rep == rep))
        if not rows.size:
            hint = "use a handle from desk.push (a claim becomes a cell at the next tick)"
            raise ProcessError("no such cell", given=cell, hint=hint)
        return int(rows[0])

    def lines(self, rows: Ints, marked: Bools | None = None) -> list[CellLine]:
        if not len(rows):
            return []
        snapshot = self.look()
        names, index = snapshot.view.name.gather(rows).to_list(), snapshot.cell_index
        marks = [False] * len(rows) if marked is None else marked.tolist()
        lines = []
        for row, name, mark in zip(rows.tolist(), names, marks, strict=True):
            fact, value = int(index.fact[row]), int(index.value[row])
            about = self.facts[fact] if fact != NONE else None
            stated = about.values[value] if about and value != NONE else ""
            lines.append(CellLine(name, about.name if about else "", stated, float(snapshot.worth[row]), mark))
        return lines


# SimPy's error message for a process that yields something other than an event
_WRONG_YIELD = re.compile(r'File "(.*)", line (\d+), in (\w+)\n.*\nInvalid yield value "(.*)"', re.DOTALL)
_NOT_THE_USERS = str(Path(__file__).parents[2]), str(Path(simpy.__file__).parent)


class Environment(simpy.Environment):
    """SimPy environment of one replication. Times are in days, and the internal clock counts whole milliseconds.

    Events due at the time of a tick therefore coincide with the tick exactly, and are processed after it.

    >>> env = Environment()
    >>> _ = env.timeout(0.1), env.timeout(0.3)
    >>> env.advance(25_920_000)
    >>> env.now, env.peek() / DAY
    (0.3, 0.3)
    """

    @property
    def now(self) -> float:
        return float(self._now) / DAY

    def schedule(self, event: simpy.Event, priority: Any = NORMAL, delay: float = 0) -> None:
        super().schedule(event, priority, round(delay * DAY))

    def advance(self, at: int, *, where: str = "a process") -> None:
        """Run all events that are due before `at` (ms). If a process fails, raise `ProcessError` with the failing line."""
        if at <= self._now:
            return
        try:
            self.run(until=days(at))
        except Exception as problem:
            raise self._failure(problem, where) from problem

    def _failure(self, problem: Exception, where: str) -> ProcessError:
        """Return a `ProcessError` that names the failing line. SimPy raises a copy of the error, caused by the original."""
        cause = problem.__cause__
        first = cause if isinstance(cause, Exception) and type(cause) is type(problem) else problem
        stack = traceback.extract_tb(first.__traceback__)
        frames = [frame for frame in stack if not frame.filename.startswith(_NOT_THE_USERS)]
        # skip stack frames in libraries that the process calls
        frames = [frame for frame in frames if frame.filename == frames[0].filename]
        location = f"{frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}, " if frames else ""
        location += f"{where}, day {self.now:g}"
        if isinstance(first, ProcessError):
            at = ", ".join(part for part in (first.where, location) if part)
            return ProcessError(first.problem, where=at, given=first.given, allowed=first.allowed, hint=first.hint)
        if wrong := _WRONG_YIELD.search(str(first)):
            location = f"{wrong[1]}:{wrong[2]} in {wrong[3]}, {location}"
            allowed = "an event: env.timeout(…), env.event(), desk.ticked, a request, a get or a put"
            return ProcessError("the process did not yield an event", where=location, given=wrong[4], allowed=allowed)
        text = f"raised {first}" if isinstance(first, MalsimError) else text_of(first)
        return ProcessError(f"the process {text}", where=location)
