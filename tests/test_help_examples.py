"""Tests that all examples in help texts run in a folder with the files they name."""

from __future__ import annotations

import gzip
import io
import re
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from malsim.cli import main
from malsim.examples import copy, examples
from malsim.parsers import command_parsers, main_parser
from tests.importers.samples import mem0

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOT_RUN = {
    "malsim agent serve": "waits for a client", "malsim agent record": "runs another server",
    'malsim judge "mcp:': "fetches a server",
    "malsim store tick memory.sqlite --webhook": "posts to a host that does not exist",
}  # fmt: skip
ALARM = """loadrt watch names=weak
loadrt latch names=alarm
net low weak.in
net bad weak.below > alarm.set
net ack alarm.reset
net tripped alarm.out
setp weak.level 0.5
addf weak tick
addf alarm tick
"""
STREAM = [(0.9, 0)] * 20 + [(0.2, 0)] * 10 + [(0.9, 1)] + [(0.9, 0)] * 29
TRIPPED = [0] * 20 + [1] * 10 + [0] * 30
GRAPH = 'dec_77aa "ship on Friday" conf(.7)\nobs_77bb "it is not tested" conf(.6)\nobs_77bb contradicts> dec_77aa (-.8)\n'
PACKAGE = "from my_memory import Latest as MyMemory\n"
LOG = """{"t": 0.0, "event": "write", "item": "a", "object": "pump", "value": "runs", "writer": "ann"}
{"t": 1.0, "event": "write", "item": "b", "object": "pump", "value": "stands", "writer": "bob"}
{"t": 2.0, "event": "read", "object": "pump", "answer": ["runs"]}
"""
EVENT = '{"hook_event_name": "none", "session_id": "one", "prompt": "the release"}'
SETUP = [
    "import scenarios/stores/atlas.json -o memory.sqlite", "new my.toml --template tripwire",
    "new my_memory.py --template memory", "new checks.toml --template checks",
    "run scenarios/tripwire.toml --no-plots -o out/tripwire",
    "run scenarios/mutual_dispute.toml --no-plots -o out/mutual_dispute",
    "netlist load graph.malnet -o small.sqlite",
]  # fmt: skip


def lines() -> list[str]:
    every = [line for parser in command_parsers().values() for line in (parser.description or "").splitlines()]
    return list(dict.fromkeys(re.split(r"\s{2,}|\s#|\s>\s", line)[0] for line in every if line.startswith("malsim ")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the shipped examples and all files named in help texts."""
    here = tmp_path_factory.mktemp("examples")
    copy([example.name for example in examples()], here)
    for folder in ("claims", "claims_folder"):
        (here / folder).mkdir()
    for name, source in (("claims", "machines"), ("truth", "machines_truth")):
        claims = (here / "scenarios" / "claims" / f"{source}.csv").read_bytes()
        (here / f"{name}.csv.gz").write_bytes(gzip.compress(claims))
        for folder in ("claims", "claims_folder"):
            (here / folder / f"{name}.csv").write_bytes(claims)
    texts = {
        "alarm.malnet": ALARM, "old.malnet": ALARM, "new.malnet": ALARM.replace("0.5", "0.4"), "graph.malnet": GRAPH,
        "drill.hal": "step 3\ngetp alarm.out\n", "stream.csv": _csv("low,ack", STREAM),
        "trips.csv": _csv("tripped", [(value,) for value in TRIPPED]), "my_package/__init__.py": "",
        "my_package/my_module.py": PACKAGE, "log.jsonl": LOG,
    }  # fmt: skip
    for name, text in texts.items():
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(text, encoding="utf-8")
    mem0(here)
    for name in ("a", "b"):
        (here / f"{name}.toml").write_bytes((here / "scenarios" / "mutual_dispute.toml").read_bytes())
        (here / f"{name}.malnet").write_bytes((here / "scenarios" / "tripwire.malnet").read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        for line in SETUP:
            assert main(shlex.split(line)) == 0, line
    shutil.copy(here / "memory.sqlite", here / "as_imported.sqlite")
    return here


def _csv(head: str, rows: Sequence[tuple[float, ...]]) -> str:
    return "\n".join([head, *(",".join(map(str, row)) for row in rows), ""])


def test_every_listed_exception_is_still_needed() -> None:
    assert not [start for start in NOT_RUN if not any(f"{line} ".startswith(start) for line in lines())]


@pytest.mark.parametrize("line", lines())
def test_help_example_can_be_parsed(line: str) -> None:
    main_parser().parse_args(shlex.split(line)[1:])


@pytest.mark.parametrize("line", [line for line in lines() if not f"{line} ".startswith(tuple(NOT_RUN))])
def test_help_example_runs(line: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, *words = shlex.split(line)
    monkeypatch.chdir(tmp_path if words[0] == "new" else folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "stdin", io.StringIO(EVENT))
    shutil.copy(folder / "as_imported.sqlite", folder / "memory.sqlite")  # undo earlier examples' changes
    assert main(words) in (0, 1)
