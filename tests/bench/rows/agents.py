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
        service.close()
