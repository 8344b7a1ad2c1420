"""Who does the work of many points: processes started afresh, any executor, or a Dask cluster."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import pickle
import sys
import threading
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, ProcessPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from malsim.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

__all__ = ["executor_of", "must_travel", "results"]

IN_FLIGHT = 64
Result = TypeVar("Result")


@contextlib.contextmanager
def executor_of(given: Any = None, *, workers: int | None = None) -> Iterator[Executor]:
    """The executor to use: the one given, that of a Dask client given, or new processes (as many as cores, if None).

    Processes are spawned, not forked, for a forked polars may wait on a lock that no thread holds; notebooks can start them,
    and they end when this process ends, however it ends. Raises `UsageError` for what is no executor.
    """
    if given is None:
        if workers is not None and workers < 1:
            raise UsageError("no worker", where="workers", given=workers, allowed="1 or more")
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)
    elif isinstance(given, Executor):
        yield given
    elif hasattr(given, "get_executor"):
        yield given.get_executor()
    else:
        allowed = "an executor of concurrent.futures, or a Dask client"
        raise UsageError("not an executor", where="executor", given=type(given).__name__, allowed=allowed)


def must_travel(*things: object) -> None:
    """Raise `UsageError` for what new processes cannot be sent: functions of a notebook or a prompt, lambdas, local ones."""
    main = sys.modules.get("__main__")
    written = getattr(main, "__file__", None) is not None
    for thing in things:
        try:
            held = pickle.dumps(thing)
        except (pickle.PicklingError, AttributeError, TypeError):
            held = None
        if held is None or (b"__main__" in held and not written):
            given = getattr(thing, "__name__", type(thing).__name__)
            hint = "put the function into a module, or give executor=concurrent.futures.ThreadPoolExecutor()"
            raise UsageError("other processes cannot import this", where="executor", given=given, hint=hint)


def results(pool: Executor, jobs: Iterable[Callable[[], Result]]) -> Iterator[Result]:
    """What the jobs give, each as soon as it is done; at most 64 are under way, so that memory does not grow.

    If one raises, the rest are called off and it is raised here. Raises `UsageError` when a process of the pool dies.
    """
    waiting = iter(jobs)
    flying: set[Future[Result]] = set()
    try:
        while True:
            flying |= {pool.submit(job) for job in itertools.islice(waiting, IN_FLIGHT - len(flying))}
            if not flying:
                return
            finished, flying = wait(flying, return_when=FIRST_COMPLETED)
            for one in finished:
                yield one.result()
    except BrokenExecutor as error:
        hint = (
            "what is finished is kept: run the same again, with fewer workers if memory ran out; "
            'in a script, start under `if __name__ == "__main__":`'
        )
        raise UsageError("a worker died", where="executor", hint=hint) from error
    finally:
        for one in flying:
            one.cancel()


def _begin() -> None:
    """In a new worker: one thread for its frames, as there are other workers, and an end when its parent ends."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when polars is first imported, which is later
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: Any) -> None:
    parent.join()
    os._exit(1)  # a worker whose parent was killed would wait for work for ever
