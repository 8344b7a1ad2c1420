"""Who holds the memories of a run: sandboxes, each with a share of the replications, or this process where that is asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from malsim.adapters.engine.host import CLOSE, MAKE, Ask, Host
from malsim.adapters.engine.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters.engine.adapter import Adapter
    from malsim.adapters.engine.host import Answers, Breakdown


class Crew:
    """The memories of replications (places), made when they are first asked."""

    def __init__(self, adapter: Adapter, replications: int) -> None:
        workers = os.cpu_count() or 1 if adapter.workers is None else adapter.workers
        self._share = share = -(-replications // max(min(workers, replications), 1))
        self._host = None if workers else Host(adapter.source, adapter.name)
        count = -(-replications // share) if workers else 0
        self._sandboxes = [Sandbox(adapter.source, adapter.name, limit=adapter.limit) for _ in range(count)]

    def make(self, replications: int) -> tuple[Answers, list[Breakdown]]:
        """Make each replication's memory; what each declares."""
        return self.run([Ask(rep, MAKE) for rep in range(replications)])

    def run(self, asks: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        """What each call answered, and what went wrong; calls of one replication are made in their order."""
        if self._host:
            return self._host.run(asks)
        places: list[list[int]] = [[] for _ in self._sandboxes]
        for place, ask in enumerate(asks):
            places[ask.rep // self._share].append(place)
        for sandbox, mine in zip(self._sandboxes, places, strict=True):
            sandbox.send([asks[place] for place in mine])
        answers: Answers = [None] * len(asks)
        broken: list[Breakdown] = []
        for sandbox, mine in zip(self._sandboxes, places, strict=True):
            part, wrong = sandbox.receive(len(mine))
            for place, answer in zip(mine, part, strict=True):
                answers[place] = answer
            broken += [each._replace(place=mine[each.place]) for each in wrong]
        return answers, sorted(broken, key=lambda each: each.place)

    def close(self, replications: Sequence[int]) -> None:
        """Let memories go, and end the processes; what goes wrong now changes no result."""
        try:
            self.run([Ask(rep, CLOSE) for rep in replications])
        finally:
            for sandbox in self._sandboxes:
                sandbox.stop()
