"""Push of a past turn as text, found by repeating the run up to that turn in one replication."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, cast

from malsim.base.errors import UsageError
from malsim.base.finite import finite
from malsim.memory.push import Push, push_of
from malsim.memory.schema import NONE
from malsim.sim.bench import Bench
from malsim.sim.settings.scenario import GRAPHS
from malsim.sim.world.clock import days

if TYPE_CHECKING:
    from malsim.memory import Memory
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import Turn
    from malsim.sim.settings.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class TurnPush(Push):
    """Push of one turn: its `day` and number (`turn`), the object of its task, and the memory that was shown."""

    day: float
    turn: int
    task: str
    memory: Memory

    def __str__(self) -> str:
        """Return the task and the push as text."""
        return f"day {self.day:g}, turn {self.turn}, about {self.task}\n{super().__str__() or 'nothing to show'}"


def push_on(scenario: Scenario, day: float, rep: int | None = None) -> TurnPush:
    """Return the push of the last turn up to a day, in replication number `rep` (the first by default).

    `day` is from the first turn to the end of the run. Raises `UsageError` if the scenario has no reader, if its law
    keeps no graph of claims, and before the first turn.
    """
    first = scenario.first if rep is None else rep
    finite(day, where="day", low=days(scenario.turn_every), high=scenario.days)
    if scenario.reader is None:
        raise UsageError("this scenario has no reader", where=scenario.name, hint="add a [reader]")
    if scenario.law not in GRAPHS or scenario.adapter:
        raise UsageError("a push needs a graph of claims", given=scenario.law, allowed=", ".join(GRAPHS))
    alone = scenario.replace(first=first, replications=1, record="bands")
    bench = Bench(alone, watch=lambda ticks: (at for at in ticks if days(at) <= day))
    last = deque[tuple["Snapshot", "Turn"]](maxlen=1)
    if bench.session:
        bench.session.on_push = lambda *push: last.append(push)
    bench.calendar.run()
    if not last:
        raise UsageError("no turn had run by this day", where="day", given=day, hint="ask for a later day")
    snapshot, turn = last[-1]
    memory, rows = cast("Memory", snapshot.view.graph), turn.pushed.row[0]
    push = push_of(  # sections get the words that the lines leave
        memory, rows[rows != NONE].tolist(), now=turn.now, rep=int(memory.cells["rep"][0]), rules=scenario.rules,
        left=int(scenario.reader.budget_words) - int(turn.pushed.words[0]),
        surfaced=turn.surfaced.of(0) if turn.surfaced else (),
    )  # fmt: skip
    parts = {part.name: getattr(push, part.name) for part in fields(push)}
    task = scenario.facts[int(turn.fact[0])].name
    return TurnPush(**parts, day=turn.now, turn=turn.number, task=task, memory=memory)
