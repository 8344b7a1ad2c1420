"""Who holds the memories of a run: this process, or several of its own, each with a share of the replications."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
import time
from types import ModuleType
from typing import TYPE_CHECKING, Any

from malsim.adapters.engine.host import IMPORTING, MAKE, Ask, Breakdown, Host
from malsim.adapters.load import load_factory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.adapters.contract import UserMemory
    from malsim.adapters.engine.adapter import Adapter
    from malsim.adapters.engine.host import Answers

__all__ = ["Crew"]

GRACE = 5.0  # seconds beyond a call's limit, after which a process that gives no sign is ended


class Crew:
    """The memories of replications (places), made when they are first asked."""

    def __init__(self, adapter: Adapter, factory: Callable[[], UserMemory], replications: int) -> None:
        self._adapter, self._factory = adapter, factory
        count = self._count(replications)
        share = -(-replications // max(count, 1))
        self._share = share
        self._hosts: list[Host | _Worker] = (
            [_Worker(adapter, factory) for _ in range(-(-replications // share))]
            if count
            else [Host(factory, adapter.name, limit=adapter.limit)]
        )

    def _count(self, replications: int) -> int:
        """How many processes: none where there is one replication, one core, or what cannot be made anew elsewhere."""
        count = self._adapter.workers
        if count == 0 or multiprocessing.parent_process() is not None or not _travels(self._adapter):
            return 0
        if count is None:
            count = os.cpu_count() or 1
            if count == 1 or replications == 1:
                return 0
        return min(count, replications)

    @property
    def workers(self) -> int:
        """How many processes there are beside this one."""
        return sum(isinstance(host, _Worker) for host in self._hosts)

    def make(self, replications: int) -> tuple[Answers, list[Breakdown]]:
        """Make each replication's memory; what each declares."""
        return self.run([Ask(rep, MAKE) for rep in range(replications)])

    def run(self, asks: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        """What each call answered, and what went wrong; calls of one replication are made in their order."""
        if len(self._hosts) == 1:
            return self._hosts[0].run(asks)
        places: list[list[int]] = [[] for _ in self._hosts]
        for place, ask in enumerate(asks):
            places[ask.rep // self._share].append(place)
        for host, mine in zip(self._hosts, places, strict=True):
            host.send([asks[place] for place in mine])  # type: ignore[union-attr]  # several are workers
        answers: Answers = [None] * len(asks)
        broken: list[Breakdown] = []
        for host, mine in zip(self._hosts, places, strict=True):
            part, wrong = host.receive()  # type: ignore[union-attr]
            for place, answer in zip(mine, part, strict=True):
                answers[place] = answer
            broken += [each._replace(place=mine[each.place]) for each in wrong]
        return answers, sorted(broken)

    def close(self, replications: Sequence[int]) -> None:
        """Let memories go, and end the processes; what goes wrong now changes no result."""
        try:
            self.run([Ask(rep, "close") for rep in replications])
        finally:
            for host in self._hosts:
                if isinstance(host, _Worker):
                    host.stop()


class _Worker:
    """A process that holds memories: spawned, as a forked polars may wait for a lock that no thread holds."""

    def __init__(self, adapter: Adapter, factory: Callable[[], UserMemory]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._beat = context.RawValue("d", 0.0)
        self._limit, self._count, self._sent = adapter.limit, 0, 0.0
        source = adapter.name if adapter.factory is None else factory
        what = (other, source, adapter.name, adapter.limit, self._beat)
        self._process = context.Process(target=_serve, args=what, daemon=True)
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")  # a script without a guard is not to be run again
        try:
            self._process.start()
        finally:
            sys.modules["__main__"] = main
        other.close()

    def run(self, asks: Sequence[Ask]) -> tuple[Answers, list[Breakdown]]:
        self.send(asks)
        return self.receive()

    def send(self, asks: Sequence[Ask]) -> None:
        self._count, self._sent = len(asks), time.time()
        try:
            self._pipe.send(asks)
        except OSError:
            self._process.kill()

    def receive(self) -> tuple[Answers, list[Breakdown]]:
        try:
            while not self._pipe.poll(1.0):
                silent = time.time() - max(self._beat.value, self._sent) if self._beat.value else 0.0
                if silent > max(self._limit, IMPORTING) + GRACE:
                    self._process.kill()
                    return self._failed_calls(f"did not return within {self._limit:g} s, and let nothing else run")
            answers: tuple[Answers, list[Breakdown]] = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(1.0)
            return self._failed_calls(f"its process ended (exit code {self._process.exitcode})")
        return answers

    def _failed_calls(self, problem: str) -> tuple[Answers, list[Breakdown]]:
        return [None] * self._count, [Breakdown(place, problem) for place in range(self._count)]

    def stop(self) -> None:
        self._pipe.close()
        self._process.join(1.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _serve(pipe: Any, source: Any, name: str, limit: float, beat: Any) -> None:
    """The loop of a worker process: calls in, answers out, until its parent closes the pipe."""
    problem = None
    try:
        factory = load_factory(source) if isinstance(source, str) else source
    except Exception as error:  # noqa: BLE001  # each of its replications reports it
        problem = str(error)

    def alive() -> None:
        beat.value = time.time()

    host = None if problem else Host(factory, name, limit=limit)
    while True:
        try:
            asks = pipe.recv()
        except (EOFError, OSError):
            break
        if host is None:
            pipe.send(([None] * len(asks), [Breakdown(place, problem or "") for place in range(len(asks))]))
            continue
        alive()
        host.beat = alive
        pipe.send(host.run(asks))
    os._exit(0)  # a thread that hangs would keep it alive


def _travels(adapter: Adapter) -> bool:
    """Whether another process can make such memories: those of a script or a notebook cannot be found there."""
    if adapter.factory is None:
        return True
    try:
        return b"__main__" not in pickle.dumps(adapter.factory)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
