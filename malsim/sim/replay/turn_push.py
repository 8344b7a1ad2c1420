"""The push that a run's reader was given on a day, as text: the run is made again up to that turn, in one replication."""

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
    from collections.abc import Iterator, Sequence

    from malsim.memory import Memory
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import Turn
    from malsim.sim.settings.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class TurnPush(Push):
    """Push of one turn: the `day` and number of the `turn`, the object of its `task`, and the `memory` that was shown."""

    day: float
    turn: int
    task: str
    memory: Memory

    def __str__(self) -> str:
        """Return the task and the push as text."""
        return f"day {self.day:g}, turn {self.turn}, about {self.task}\n{super().__str__() or 'nothing to show'}"


def push_on(scenario: Scenario, day: float, rep: int | None = None) -> TurnPush:
    """Return the push of the last turn that is not after a day, in replication number `rep` (the first by default).

    `day` is from the first turn to the run's end. Raises `UsageError` if the scenario has no reader, before the first
    turn, and under a law that keeps no graph of claims.
    """
    first = scenario.first if rep is None else rep
    finite(day, where="day", low=days(scenario.turn_every), high=scenario.days)
    if scenario.reader is None:
        raise UsageError("this scenario has no reader", where=scenario.name, hint="add a [reader]")
    if scenario.law not in GRAPHS or scenario.adapter:
        raise UsageError("a push needs a graph of claims", given=scenario.law, allowed=", ".join(GRAPHS))
    alone = scenario.replace(first=first, replications=1, record="bands")
    bench = Bench(alone, watch=lambda ticks: _until(ticks, day))
    last = deque[tuple["Snapshot", "Turn"]](maxlen=1)
    if bench.session:
        bench.session.on_push = lambda *push: last.append(push)
    bench.calendar.run()
    if not last:
        raise UsageError("no turn had run by this day", where="day", given=day, hint="ask for a later day")
    return _in_words(scenario, *last[-1])


def _until(ticks: Sequence[int], day: float) -> Iterator[int]:
    return (at for at in ticks if days(at) <= day)


def _in_words(scenario: Scenario, snapshot: Snapshot, turn: Turn) -> TurnPush:
    """Return a turn's push as text. Lines use the words that the run counted, and sections the rest of the budget."""
    memory = cast("Memory", snapshot.view.graph)
    rows = turn.pushed.row[0]
    reader = scenario.reader
    push = push_of(
        memory, rows[rows != NONE].tolist(), now=turn.now, rep=int(memory.cells["rep"][0]), rules=scenario.rules,
        left=int(reader.budget_words if reader else 0) - int(turn.pushed.words[0]),
        surfaced=turn.surfaced.of(0) if turn.surfaced else (),
    )  # fmt: skip
    own = {part.name: getattr(push, part.name) for part in fields(push)}
    task = scenario.facts[int(turn.fact[0])].name
    return TurnPush(**own, day=turn.now, turn=turn.number, task=task, memory=memory)
