"""Hostile inputs are read or refused with a `MalsimError`. None causes a crash, a hang or excessive memory use.

By default, 40 inputs per format are tried. `pytest tests/fuzz --fuzz-seconds 600` tries more, always in the same order.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import resource
import sqlite3
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import malsim as ms
from malsim.base.errors import MalsimError
from malsim.base.screen import credentials, personal_data
from malsim.cli import main
from malsim.importers.building.bring import bring
from malsim.memory import Memory, Rules, admit
from malsim.memory.store import Store
from malsim.netlist import NetlistError
from malsim.netlist import parse as parse_netlist
from malsim.netlist.hal import read_hal
from malsim.scenario.baseline import recording
from malsim.scenario.checks.alarms import series
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.properties import Trace, check
from malsim.scenario.rerun import rerun
from malsim.sim.settings.scenario import check_size
from malsim.sim.writers.engine.claim_files import read_claims
from tests.fuzz.hostile import hostile_bytes, hostile_text
from tests.fuzz.readers import memory_files, others
from tests.importers.samples import SAMPLES

ROOT = Path(__file__).parents[2]
FEW, LONGEST_CPU, MOST_GROWTH = 40, 5.0, 2**30
SEED = 25
SCENARIOS = [
    (ROOT / "scenarios" / f"{name}.toml").read_text("utf-8") for name in ("mutual_dispute", "pid_word_budget", "sybil")
]
NETLIST = (ROOT / "scenarios" / "tripwire.malnet").read_text("utf-8")
HAL = "loadrt threads name1=t period1=1000000\nloadrt limit1 count=2\naddf limit1.0 t\nsetp limit1.0.max 3.5\nnet a limit1.0.out\nstart\n"
PROPERTY = 'always[0:2d] ((x >= 2/3) implies eventually[0:1] (abs(y - prev(y)) < 0.5 scale 2)) and not (x == "a")'
RULES = '[rules]\npreset = "recall_v5"\ndamping = 0.5\nchallenge_ceiling = 0.45\n'
CLAIMS = "writer,object,value,time,stated_confidence\nann,a,1,2024-01-01,0.5\nbob,a,2,2024-01-02T10:00:00Z,0.9\n"
TRACE = Trace.of_arrays(range(4), {"x": np.array([[0.5, 1.0]] * 4), "y": np.arange(8.0).reshape(4, 2)})


@dataclass(frozen=True)
class Format:
    """Input format: valid inputs, their reader, and whether the inputs are text."""

    good: list[bytes]
    read: Callable[[bytes, Path], object]
    text: bool = True


def _scenario(data: bytes, folder: Path) -> None:
    check_size(parse(data.decode(), where=str(folder / "a.toml")))


def file_of(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def reads(data: bytes, folder: Path) -> object:
        (folder / name).write_bytes(data)
        return read(folder / name)

    return reads


def _store(path: Path) -> None:
    with Store(path, write=False) as store:
        _ = store.memory, store.ticks, store.verdicts
        store.mini_index("pump")


def _command(*words: str, limits: str = "") -> Callable[[Path], object]:
    """Return a reader that runs a command on a file, and fails if the command reports a bug in malsim."""

    def runs(path: Path) -> None:
        stderr = io.StringIO()
        redirected = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(stderr)
        with redirected[0], redirected[1], pytest.MonkeyPatch.context() as patch:
            patch.setenv("MALSIM_LIMITS", limits)
            code = main([word.replace("FILE", str(path)) for word in words])
        assert code in (0, 1, 2), code
        assert "this is a bug" not in stderr.getvalue(), stderr.getvalue()[:2_000]

    return runs


def _recall(folder: Path) -> list[bytes]:
    path = folder / "recall.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as data, data:
        data.execute("CREATE TABLE cells (key TEXT, handle TEXT, json TEXT)")
        data.execute("CREATE TABLE edges (from_key TEXT, relation TEXT, to_key TEXT, weight REAL)")
        for number in range(3):
            cell = {"key": f"k{number}", "handle": f"obs_a1a{number}", "kind": "obs", "title": f"the pump {number}",
                    "owner": "ann", "scores": {"confidence": 0.5}, "createdAt": "2024-01-01T00:00:00Z"}  # fmt: skip
            data.execute("INSERT INTO cells VALUES (?, ?, ?)", (f"k{number}", f"obs_a1a{number}", json.dumps(cell)))
    return [path.read_bytes()]


def formats_in(folder: Path) -> dict[str, Format]:
    run = ms.run(ms.read(str(ROOT / "scenarios" / "mutual_dispute.toml")))
    run.write(folder / "run")
    recording.write(folder, "a", {"cells": run.cells.select("t", "rep", "cell", "effective")})
    with Store(folder / "a.db") as store:
        store.admit(
            [{"handle": f"obs_a1a{n}", "writer": "ann", "title": f"the pump {n}", "confidence": 0.5} for n in range(3)]
        )
        store.tick(1.0)
    manifest = json.loads((folder / "run" / "manifest.json").read_text("utf-8"))
    manifest["days"] = 3.0
    archive = {"cells": [{"key": "k1", "handle": "obs_a1a1", "kind": "obs", "title": "t", "owner": "ann",
                          "scores": {"confidence": 0.5}, "edgesOut": [], "createdAt": "2024-01-01T00:00:00Z"}]}  # fmt: skip
    sent = memory_files(folder) | others(folder)
    return {name: Format(*parts) for name, parts in sent.items()} | {
        "scenario": Format([text.encode() for text in SCENARIOS], _scenario),
        "property": Format([PROPERTY.encode()], lambda data, _: check(data.decode(), TRACE)),
        "netlist": Format([NETLIST.encode()], lambda data, _: parse_netlist(data.decode(), file="a.malnet")),
        "hal": Format([HAL.encode()], lambda data, _: read_hal(data, file="a.hal")),
        "rules": Format([RULES.encode()], file_of("rules.toml", Rules.read)),
        "manifest": Format([json.dumps(manifest, indent=1).encode()], file_of("run/manifest.json", rerun)),
        "claims": Format([CLAIMS.encode()], file_of("claims.csv", read_claims)),
        "series": Format([b"0.9x5 0.4+0.02x20 _x3"], lambda data, _: series(data.decode())),
        "text": Format([b'password = "hunter2" ann@example.org +49 30 123456'], lambda data, _: (credentials(data.decode()), [*personal_data(data.decode())])),
        "claim": Format([CLAIMS.encode()], lambda data, _: admit(Memory.empty(), [{"writer": "a", "title": data.decode(), "confidence": 0.5}])),
        "baseline": Format([(folder / "a.cells.csv").read_bytes()], file_of("a.cells.csv", lambda path: recording.read(path.parent, "a"))),
        "frame": Format([(folder / "run" / "cells.parquet").read_bytes()], file_of("f.parquet", read_claims), text=False),
        "recall database": Format(_recall(folder), file_of("r.sqlite", bring), text=False),
        "recall archive": Format([json.dumps(archive, indent=1).encode()], file_of("r.json", bring)),
        "design": Format([b"rules.damping,rules.support_ceiling\n0.5,0.4\n0.2,0.9\n"], file_of("d.csv", _command("sweep", str(ROOT / "scenarios" / "mutual_dispute.toml"), "--design", "FILE", "--quiet", "--no-plots", limits="points=0"))),
        "stream": Format([b"x,y\n1,2\n0.5,true\n"], file_of("s.csv", _command("op", "smooth", "--on", "FILE", "--column", "x"))),
        "run folder": Format([json.dumps(manifest, indent=1).encode()], file_of("run/manifest.json", _command("netlist", "value", "obs_a1a1-scores-eff", "FILE", limits="ticks=100"))),
        "shell": Format([HAL.encode()], file_of("h.hal", _command("netlist", "check", "FILE"))),
        "store": Format([(folder / "a.db").read_bytes()], file_of("b.db", _store), text=False),
    }  # fmt: skip


FORMATS = (
    "scenario", "property", "netlist", "hal", "rules", "manifest", "claims", "series", "text", "claim", "baseline", "frame", "store",
    "recall database", "recall archive", "design", "stream", "run folder", "shell", *(f"{name} memory" for name in SAMPLES),
    "tool arguments", "recorded call", "log that is continued", "hook", "mapping", "ini",
)  # fmt: skip


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Format]]:
    folder = tmp_path_factory.mktemp("fuzz")
    return folder, formats_in(folder)


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_input_is_read_or_refused(
    name: str, readers: tuple[Path, dict[str, Format]], request: pytest.FixtureRequest
) -> None:
    folder, formats = readers
    seconds = request.config.getoption("--fuzz-seconds", 0.0)
    end, number = time.monotonic() + seconds, 0
    while number < FEW or time.monotonic() < end:
        draw = random.Random(f"{SEED} {name} {number}")
        good = draw.choice(formats[name].good)
        data = (
            hostile_text(good.decode(), draw).encode("utf-8", "replace") if formats[name].text else hostile_bytes(good, draw)
        )
        _try(formats[name], data, folder, f"{name} {number}")
        number += 1
    request.node.user_properties.append(("inputs", number))  # written by `pytest --junit-xml`


def _try(form: Format, data: bytes, folder: Path, which: str) -> None:
    message = ""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            form.read(data, folder)
    except (MalsimError, NetlistError) as refused:
        message = str(refused)
    except Exception as crash:
        raise AssertionError(f"input {which} raised {type(crash).__name__}: {str(crash)[:200]}\n{data[:300]!r}") from crash
    assert len(message) < 20_000, f"the error of input {which} is too long"
    assert time.process_time() - began < LONGEST_CPU, f"input {which} took too long"
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MOST_GROWTH, (
        f"input {which} took too much memory"
    )


@pytest.mark.parametrize(
    "property_",
    [
        "always (x >= 2/3)", "always (2/3 <= x)", "eventually (max(1, 2) < x)", "always (x - 1/3 >= prev(2))", "x > 0 scale 1e-320",
        "always[0:1] (x >= 2/3) until (y > 1/3)", "rise(x > 1/3)",
    ],
)  # fmt: skip
def test_constants_in_a_property_never_cause_a_crash(property_: str) -> None:
    try:
        verdict = check(property_, TRACE)
    except MalsimError:
        return
    assert str(verdict.margin.witness)


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("days", 10**30), ("days", 10**400), ("turn_every_ms", 10**400), ("record", [1]), ("netlist", "9" * 50), ("rules", {"tau_stable": 10**400}), ("seed", 10**30),
        ("first", 10**30), ("replications", 10**30), ("stores", {"a": 1}), ("law_settings", {"half_life": 10**400}),
    ],
)  # fmt: skip
def test_manifest_with_an_invalid_entry_is_refused(
    entry: str, value: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ms.run(parse('why = "x"\n[run]\ndays = 2\n[[claim]]\nat = "0d"\nwriter = "a"\ntitle = "t"\nconfidence = 0.5\n'))
    run.write(tmp_path)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {entry: value}), encoding="utf-8")
    assert main(["run", "--manifest", str(path)]) == 2
    assert "bug" not in capsys.readouterr().err


def test_foreign_manifest_cannot_read_other_files(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "c.csv").write_text("writer,object,value\nann,a,private words\n", encoding="utf-8")
    text = 'why = "x"\n[run]\ndays = 2\n[[writers]]\nname = "w"\nbehaviour = "from_file"\npath = "c.csv"\ncount = 1\n'
    scenario = parse('why = "x"\n[run]\ndays = 2\n[[claim]]\nat = "0d"\nwriter = "a"\ntitle = "t"\nconfidence = 0.5\n')
    manifest = dict(ms.run(scenario).manifest) | {"scenario": text, "path": str(tmp_path / "mine" / "s.toml"), "name": "s"}
    (tmp_path / "theirs" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises((MalsimError, FileNotFoundError)) as refused:
        rerun(tmp_path / "theirs" / "manifest.json")
    assert "private" not in str(refused.value)
    assert "mine" not in str(refused.value)


@pytest.mark.parametrize("day", ["9e16", "1e9", "1e400"])
def test_log_with_a_day_beyond_the_calendar_is_refused(day: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"t": {day}, "event": "write", "item": "m1", "object": "pump", "value": "runs", "writer": "ann"}}\n')
    with pytest.raises(MalsimError, match="the date is out of bounds"):
        bring(path)
