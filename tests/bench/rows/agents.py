"""A memory under an agent: a push, a claim and a hook's whole process, beside opening the same store."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.agents.service import MemoryService
from malsim.memory import Memory
from malsim.memory.law import tick
from tests.bench.rows.memory import graph
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

CELLS, EDGES = 100_000, 500_000


def rows() -> Iterator[Ratio]:
    """A push, a claim, a hook."""
    size = f"a store of {CELLS:,} cells"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.sqlite"
        tick(graph(CELLS, EDGES), 1.0).save(path, t=1.0)
        service, numbers = MemoryService(path), itertools.count()
        service.tick()
        opening = partial(Memory.open, path)
        yield compare(f"an agent's push on {size}, beside opening it", service.push, opening, limit=0.15, repeats=5)
        hook = [sys.executable, "-m", "malsim", "hook", "prompt", "--store", str(path)]
        process = partial(subprocess.run, hook, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        yield compare(f"a hook's process on {size}, beside opening it", process, opening, limit=0.6, repeats=5)

        def claim() -> object:
            return service.claim(f"claim {next(numbers)}", 0.5)

        claim()
        yield compare(f"an agent's claim on {size}, beside opening it", claim, opening, limit=0.1, repeats=5)
        yield from parts(service, size)
        service.close()


NEAR = """WITH near (cell) AS (SELECT source FROM edges WHERE target = ?1 UNION SELECT target FROM edges WHERE source = ?1)
    SELECT * FROM cells WHERE "row" IN (SELECT cell FROM near) OR "row" IN
    (SELECT source FROM edges WHERE target IN (SELECT cell FROM near))"""


def parts(service: MemoryService, size: str) -> Iterator[Ratio]:
    """Calls that read a part of a store, beside what SQLite alone takes for the same rows; a read of the past."""
    store = service.store
    handle = store.connection.execute('SELECT handle FROM cells WHERE "row" = 77').fetchone()[0]
    why = partial(service.why, handle)

    def bare() -> object:
        return store.connection.execute(NEAR, (77,)).fetchall()

    yield compare(f"why of one cell on {size}, beside the rows it takes from SQLite", why, bare, limit=100.0, repeats=9)
    plain, past = partial(store.ask, "pump", now=9.0), partial(store.ask, "pump", now=9.0, at=1.0, as_of=1.0)
    yield compare(f"a read at a day and as of one on {size}, beside a plain read", past, plain, limit=2.0, repeats=15)
