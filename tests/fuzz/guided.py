"""Coverage-guided fuzzing of all text readers: `python -m tests.fuzz.guided --inputs 1000000`, which needs atheris.

The first byte of an input chooses the reader, and the rest is its input. Inputs that reach new branches are stored in a
corpus, with which the next run starts. Each crash is reported once per location with its input, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.hostile import hostile_text

READERS = [
    "malsim.base",
    "malsim.importers",
    "malsim.netlist.language",
    "malsim.netlist.hal",
    "malsim.scenario",
    "malsim.base.screen",
]

LOG = b"""{"t": 0.0, "event": "write", "item": "m1", "object": "pump", "value": "runs", "writer": "ann", "rank": 1.0, "belief": 0.8}
{"t": 1.0, "event": "delete", "item": "m1", "writer": "bob"}
"""
GRAPH = b"""{"type": "entity", "name": "pump", "entityType": "thing", "observations": ["it runs"]}
{"type": "relation", "from": "pump", "to": "valve", "relationType": "feeds"}
"""
LEFT_OUT = (  # these formats are binary or slow to read
    "frame", "store", "recall database", "design", "stream", "run folder", "shell", "manifest",
)  # fmt: skip
SLOW = 5.0  # CPU seconds after which an input is reported as slow


class Fuzzer:
    """Fuzzer that passes inputs to all readers, counts the inputs, and stores one input per crash location."""

    most, end = 100_000, float("inf")  # maximum number of inputs; monotonic time at which to stop

    def __init__(self, folder: Path, mutate: Callable[[bytes, int], bytes]) -> None:
        from malsim.base.errors import MalsimError
        from malsim.importers.building.bring import bring
        from malsim.netlist import NetlistError
        from tests.fuzz.test_hostile_inputs import Format, file_of, formats_in

        logs = {"memories": Format([LOG, GRAPH], file_of("m.jsonl", bring))}
        self.formats = {name: form for name, form in formats_in(folder).items() if name not in LEFT_OUT} | logs
        self._mutate, self._refusals = mutate, (MalsimError, NetlistError)
        self.names, self.folder = list(self.formats), folder
        self.inputs: Counter[str] = Counter()
        self.found: dict[str, bytes] = {}

    def seeds(self, corpus: Path) -> None:
        """Write all valid inputs into the corpus."""
        corpus.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(self.names):
            for index, good in enumerate(self.formats[name].good):
                (corpus / f"good-{number}-{index}").write_bytes(bytes([number]) + good)

    def one(self, given: bytes) -> None:
        """Pass the input to the reader that its first byte selects, and record a crash or a slow read."""
        if not given:
            return
        if self.inputs.total() >= self.most or time.monotonic() > self.end:
            self.tell()
        name = self.names[given[0] % len(self.names)]
        self.inputs[name] += 1
        text = given[1:].decode("utf-8", "replace").encode("utf-8")
        began = time.process_time()
        try:
            self.formats[name].read(text, self.folder)
        except self._refusals:
            pass
        except Exception as crash:  # noqa: BLE001  # a crash
            self._keep(f"{name}: {type(crash).__name__} at {_place(crash)}: {str(crash)[:100]!r}", text)
        if time.process_time() - began > SLOW:
            self._keep(f"{name}: over {SLOW:g} s", text)

    def tell(self) -> None:
        """Print the number of inputs per reader, and exit the process."""
        for name, count in self.inputs.most_common():
            sys.stderr.write(f"{count:>9,} {name}\n")
        sys.stderr.write(f"{self.inputs.total():>9,} inputs, {len(self.found)} crashes\n")
        shutil.rmtree(self.folder, ignore_errors=True)
        os._exit(int(bool(self.found)))

    def _keep(self, which: str, text: bytes) -> None:
        key = which.rpartition(": ")[0]
        if key not in self.found:
            self.found[key] = text
            sys.stderr.write(f"found {which}: {text[:200]!r}\n")

    def mutated(self, given: bytes, most: int, seed: int) -> bytes:
        draw = random.Random(seed)
        if draw.random() < 0.5 or not given:
            return self._mutate(given, most)
        return given[:1] + hostile_text(given[1:].decode("utf-8", "replace"), draw).encode("utf-8", "replace")[: most - 1]


def _place(crash: Exception) -> str:
    frame = traceback.extract_tb(crash.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def main() -> None:
    """Fuzz for the given number of inputs or seconds, then report the inputs per reader and the crashes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, metavar="N")
    parser.add_argument("--seconds", type=int, default=600, metavar="S")
    parser.add_argument("--corpus", type=Path, default=Path(".fuzz"), metavar="FOLDER")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # one thread is enough for such small frames
    import atheris

    with atheris.instrument_imports(include=READERS, enable_loader_override=False):
        fuzzer = Fuzzer(Path(tempfile.mkdtemp(prefix="fuzz-")), lambda given, most: bytes(atheris.Mutate(given, most)))
    fuzzer.seeds(args.corpus)
    flags = ["-max_len=2048", "-rss_limit_mb=4096", "-timeout=120"]

    def mutate(given: Any, most: int, seed: int) -> bytes:
        return fuzzer.mutated(bytes(given), most, seed)

    fuzzer.most, fuzzer.end = args.inputs, time.monotonic() + args.seconds
    atheris.Setup([sys.argv[0], *flags, str(args.corpus)], fuzzer.one, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
