"""Benchmark of an agent's memory: time of push, claim and hook relative to opening the store, and time to record a call."""

from __future__ import annotations

import itertools
import json
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
PROMPT = "what do we know of claim 77, and who is against it?"


def rows() -> Iterator[Ratio]:
    size = f"a store of {CELLS:,} cells"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.sqlite"
        tick(graph(CELLS, EDGES), 1.0).save(path, t=1.0)
        service, numbers = MemoryService(path), itertools.count()
        service.tick()
        opening = partial(Memory.open, path)
        yield compare(f"an agent's push on {size}, against opening it", service.push, opening, limit=0.15, repeats=5)
        hook = [sys.executable, "-m", "malsim", "agent", "hook", "prompt", "--store", str(path)]
        for words, prompt in (("", ""), (" about one thing", PROMPT)):
            message = json.dumps({"session_id": "a", "hook_event_name": "UserPromptSubmit", "prompt": prompt}).encode()
            process = partial(subprocess.run, hook, check=True, input=message, capture_output=True)
            yield compare(f"a prompt's hook{words} on {size}, against opening it", process, opening, limit=0.6, repeats=5)

        def claim() -> object:
            return service.claim(f"claim {next(numbers)}", 0.5)

        claim()
        yield compare(f"an agent's claim on {size}, against opening it", claim, opening, limit=0.1, repeats=5)
        yield from parts(service, size)
        service.close()
    yield from recorder()


NEAR = """WITH near (cell) AS (SELECT source FROM edges WHERE target = ?1 UNION SELECT target FROM edges WHERE source = ?1)
    SELECT * FROM cells WHERE "row" IN (SELECT cell FROM near) OR "row" IN
    (SELECT source FROM edges WHERE target IN (SELECT cell FROM near))"""


def parts(service: MemoryService, size: str) -> Iterator[Ratio]:
    store = service.store
    handle = store.connection.execute('SELECT handle FROM cells WHERE "row" = 77').fetchone()[0]
    why = partial(service.why, handle)

    def bare() -> object:
        return store.connection.execute(NEAR, (77,)).fetchall()

    yield compare(f"why of one cell on {size}, against the rows it takes from SQLite", why, bare, limit=100.0, repeats=9)
    plain, past = partial(store.ask, "pump", now=9.0), partial(store.ask, "pump", now=9.0, at=1.0, as_of=1.0)
    yield compare(f"a read at a day and as of one on {size}, against a plain read", past, plain, limit=2.0, repeats=15)


SERVER = """import sys, time
for line in sys.stdin.buffer:
    time.sleep(0.005)
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""
CALL = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "push", "arguments": {"objective": "x"}}}\n'


def recorder() -> Iterator[Ratio]:
    server = [sys.executable, "-c", SERVER]
    with tempfile.TemporaryDirectory() as folder:
        record = [sys.executable, "-m", "malsim", "agent", "record", "-o", str(Path(folder) / "log.jsonl"), "--", *server]
        with _started(record) as ours, _started(server) as theirs:
            name = "a call through malsim agent record, against a server that takes 5 ms"
            yield compare(name, partial(_ask, ours), partial(_ask, theirs), limit=2.0, repeats=201)
            for process in (ours, theirs):
                process.communicate()


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _ask(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdin
    assert process.stdout
    process.stdin.write(CALL)
    process.stdin.flush()
    return process.stdout.readline()
