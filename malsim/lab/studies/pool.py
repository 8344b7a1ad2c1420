"""Worker pools for studies: new processes, any executor, or a Dask cluster."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import itertools
import multiprocessing
import os
import pickle
import sys
import threading
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, ProcessPoolExecutor, wait
from functools import partial
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from malsim.base.errors import UsageError
from malsim.base.limits import Limits
from malsim.base.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

IN_FLIGHT = 64
Result = TypeVar("Result")


@contextlib.contextmanager
def executor_of(executor: Any = None, *, workers: int | None = None) -> Iterator[Executor]:
    """Yield the given executor, the executor of a Dask client, or a pool of new processes (by default one per core).

    Processes are spawned, not forked, because polars may deadlock after a fork. Notebooks and scripts can start them
    without a main guard, and they end with this process even if it is killed.

    Raises
    ------
    UsageError
        If `executor` is not an executor, or `workers` is below 1.
    """
    if executor is None:
        if workers is not None and workers < 1:
            raise UsageError("out of bounds", where="workers", given=workers, allowed="1 or more")
        context = multiprocessing.get_context("spawn")
        pool = _Processes(workers, mp_context=context, initializer=_begin, initargs=(Limits.in_force(),))
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)
    elif isinstance(executor, Executor):
        yield executor
    elif hasattr(executor, "get_executor"):
        yield executor.get_executor()
    else:
        allowed = "an executor of concurrent.futures, or a Dask client"
        raise UsageError("not an executor", where="executor", given=type(executor).__name__, allowed=allowed)


def cluster_of(address: str) -> Any:
    """Return a client connected to the Dask scheduler at `address`. Raises `UsageError` if no scheduler answers."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        hint = 'pip install "malsim[cluster]"'
        raise UsageError("needs dask.distributed, which is not installed", where="--cluster", hint=hint) from error
    try:
        return distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise UsageError("no Dask scheduler answers", where="--cluster", given=address, hint=str(error)) from error


def must_travel(*functions: object) -> None:
    """Raise `UsageError` for functions that new processes cannot import, such as lambdas and notebook functions."""
    for function in functions:
        try:
            local = b"__main__" in pickle.dumps(function)
        except (pickle.PicklingError, AttributeError, TypeError):
            local = True
        if local:
            name = getattr(function, "__name__", type(function).__name__)
            hint = "move the function to a module, or pass executor=concurrent.futures.ThreadPoolExecutor()"
            raise UsageError("other processes cannot import this function", where="executor", given=name, hint=hint)


def results(pool: Executor, jobs: Iterable[Callable[[], Result]]) -> Iterator[Result]:
    """Yield the result of each job when it finishes. At most 64 jobs are pending, which limits memory use.

    If a job raises an exception, the exception is raised here and the pending jobs are cancelled. Raises `UsageError` if a
    process dies.
    """
    waiting = iter(jobs)
    pending: set[Future[Result]] = set()
    try:
        while True:
            pending |= {pool.submit(job) for job in itertools.islice(waiting, IN_FLIGHT - len(pending))}
            if not pending:
                return
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenExecutor as error:
        hint = "finished points are kept; run the same command again, with fewer workers if memory ran out"
        raise UsageError("a worker process died", where="executor", hint=hint) from error
    finally:
        for future in pending:
            future.cancel()


def in_order(
    jobs: Iterable[Callable[[], Result]], pool: Executor | None, *, title: str, unit: str, progress: bool
) -> list[Result]:
    """Run jobs and return their results in order, with a progress bar. Without a pool, the jobs run one after another."""
    numbered = [partial(_with_number, number, job) for number, job in enumerate(jobs)]
    pairs = (job() for job in numbered) if pool is None else results(pool, numbered)
    by_number = dict(progress_bar(pairs, what=title, unit=unit, total=len(numbered), visible=progress))
    return [by_number[number] for number in range(len(numbered))]


def _with_number(number: int, job: Callable[[], Result]) -> tuple[int, Result]:
    return number, job()


class _Processes(ProcessPoolExecutor):
    """Process pool that hides the main module from new processes, which would otherwise rerun an unguarded script."""

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            sys.modules["__main__"] = main


def _begin(limits: Limits | None) -> None:
    """Set up a worker process: limit polars to one thread, apply the parent's limits, and exit when the parent exits."""
    Limits.put_in_force(limits)
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # polars reads this variable when it is imported, which happens later
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: Any) -> None:
    parent.join()
    os._exit(1)  # otherwise the worker would wait forever for work from its killed parent


def code_of(measure: Callable[..., object]) -> str:
    """Return a hash of a function's code, including nested functions, defaults, closure and attributes.

    Other functions that the code calls by a global name are not included.
    """
    return hashlib.sha256(repr(_description(measure, ())).encode()).hexdigest()


def _description(value: object, outer: tuple[int, ...]) -> object:
    """Describe a value identically in all processes (a function by its code). `outer` holds the enclosing objects' ids."""
    if id(value) in outer:
        return "itself"
    inner = (*outer, id(value))
    if isinstance(value, partial):
        return [_description(part, inner) for part in (value.func, *value.args, *sorted(value.keywords.items()))]
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, (tuple, list)):
        return [_description(part, inner) for part in value]
    if not callable(value) or isinstance(value, (type, BuiltinFunctionType)):
        return repr(value)
    function = value if hasattr(value, "__code__") else getattr(value, "__func__", type(value).__call__)
    cells = [_description(cell.cell_contents, inner) for cell in getattr(function, "__closure__", None) or ()]
    defaults = getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)
    owner = getattr(value, "__self__", value)
    state = {} if owner is function else getattr(owner, "__dict__", {})
    attributes = [(name, _description(part, inner)) for name, part in sorted(state.items())]
    name = getattr(value, "__name__", type(value).__qualname__)
    return name, _instructions(getattr(function, "__code__", None)), _description(defaults, inner), cells, attributes


def _instructions(code: CodeType | None) -> object:
    if code is None:
        return None
    constants = [
        _instructions(constant) if isinstance(constant, CodeType) else repr(constant) for constant in code.co_consts
    ]
    return code.co_code.hex(), code.co_names, constants
