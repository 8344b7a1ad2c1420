"""Least numbers of steps after which a memory doubts its answer, and after which it changes the answer."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.judging.axioms.engine.compare import number
from malsim.judging.axioms.engine.events import Event
from malsim.judging.axioms.engine.played_laws import LawMemory
from malsim.judging.axioms.engine.subject import looked
from malsim.judging.player import Player
from malsim.judging.prices.worlds import PEEK, with_ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.judging.axioms.engine.subject import PeekResult, Subject
    from malsim.judging.player import Playable
    from malsim.judging.prices.worlds import ClaimWorld


@dataclass(frozen=True)
class Count:
    """Least steps to doubt and to a changed answer, None if more than were tried, and the stream that changed it."""

    doubt: int | None
    price: int | None
    witness: tuple[Event, ...] = ()


class Stage:
    """Memory to which the past of a world was played; a stream that extends the previous one reuses its memory.

    Raises `UsageError` for a memory that never answers the truth before the lie begins.
    """

    def __init__(self, subject: Subject, world: ClaimWorld) -> None:
        self._subject, self._world, self._vocabulary = subject, world, world.vocabulary
        self._snapshots: list[tuple[list[Event], LawMemory]] = []  # after the past, and after the latest stream
        looks = self._play_past(with_ticks(world))
        if not any(self._lead(look) > subject.tolerance for look in looks):
            scores = next((look.scores for look in reversed(looks) if look.items), {})
            given = ", ".join(f"{value}: {number(score)}" for value, score in scores.items()) or "nothing"
            problem = f"never answers {world.truth} about {world.about} before the lie begins"
            hint = "test a memory that answers the truth first"
            raise UsageError(problem, where=subject.name, given=given, hint=hint)

    def _play_past(self, past: list[Event]) -> list[PeekResult]:
        """Play the past, keep the memory as the start of every stream, and return a peek after each tick."""
        looks: list[PeekResult] = []
        memory = self._subject.fresh(self._vocabulary, verified=False)
        player = Player(memory, now=float("-inf"))
        for event in past:
            player.happen([event])
            if event.do == "tick":
                looks.append(self._peek(memory, event.t))
        if isinstance(memory, LawMemory):
            self._snapshots = [(past, memory)]
        else:
            memory.close()
        return looks

    def count(self, steps: Callable[[ClaimWorld, int], list[Event]]) -> Count:
        """Add steps until the lie leads, and count them."""
        doubt: int | None = None
        for n in range(1, self._world.most + 1):
            events = steps(self._world, n)
            lead = self.lead(events)
            if doubt is None and lead <= self._subject.tolerance:
                doubt = n
            if lead < -self._subject.tolerance:
                return Count(doubt, n, tuple(events))
        return Count(doubt, None)

    def lead(self, events: Sequence[Event]) -> float:
        """Return the truth's lead after the first tick that follows the events; NaN if neither value is shown."""
        stream = with_ticks(self._world, events)
        with closing(self._memory_after(stream[:-1])) as memory:
            end = stream[-1].t
            memory.tick(end)
            return self._lead(self._peek(memory, end))

    def _lead(self, look: PeekResult) -> float:
        return look.score(self._world.truth) - look.score(self._world.lie)

    def _peek(self, memory: Playable, now: float) -> PeekResult:
        return looked(Player(memory, now=now).happen([Event(now + PEEK, "peek", self._world.about)]) or ())

    def _memory_after(self, events: list[Event]) -> Playable:
        snapshots = [snapshot for snapshot in self._snapshots if events[: len(snapshot[0])] == snapshot[0]]
        memory = snapshots[-1][1].fork() if snapshots else self._subject.fresh(self._vocabulary, verified=False)
        player = Player(memory, now=float("-inf"))
        for event in events[len(snapshots[-1][0]) if snapshots else 0 :]:
            player.happen([event])
        if isinstance(memory, LawMemory):
            self._snapshots[1:] = [(events, memory)]
            return memory.fork()
        return memory
