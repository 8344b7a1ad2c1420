"""Tests that replay recorded runs of LinuxCNC components with malsim's ops, using LinuxCNC's pin names.

The recordings are read from the folder `MALSIM_VECTORS` (by default `tests/vectors`) or from its subfolder `hal`, if there
is one. Recorded netlists are replayed in tests/netlist/test_hal.py.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ops
from ops.pin.hal import Instance, instance
from ops.pin.words import words

NO_OP = [  # recordings that only separate tests below replay, and only in part
    "demux-huge-sel*",  # in C a selection of 2³¹ or more is negative and selects nothing; here it selects the last output
    "mux-mux16-saturate*",  # casting a large float to int depends on the machine in C; malsim clamps it
    "pid-autotune*",  # LinuxCNC tunes within pid; malsim's `autotune` is an op of its own and skips the first half-cycles
]


def folder() -> Path:
    named = Path(os.environ.get("MALSIM_VECTORS") or Path(__file__).parent / "vectors")
    return named / "hal" if (named / "hal").is_dir() else named


CASES = sorted(path.stem for path in folder().glob("*.json") if not path.stem.startswith("netlist-"))


def read(case: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    about = json.loads((folder() / f"{case}.json").read_text(encoding="utf-8"))
    with (folder() / f"{case}.csv").open(encoding="utf-8", newline="") as rows:
        return about, list(csv.DictReader(rows))


def same(ours: float, theirs: float, about: dict[str, Any]) -> bool:
    if "small tolerance" in about.get("note", "") or re.search(r"\.(co)?sine\b", str(about.get("net"))):
        return bool(np.isclose(ours, theirs, rtol=1e-9, atol=1e-9, equal_nan=True))
    return bool(np.array_equal(ours, theirs, equal_nan=True))


def columns(about: dict[str, Any], role: str) -> list[str]:
    return [column["name"] for column in about["columns"] if column["role"] == role]


def instance_of(about: dict[str, Any], first: dict[str, str]) -> Instance:
    component = words()[about["component"]]
    given = {word: float(value) for word, value in {**about.get("params", {}), **about.get("const_inputs", {})}.items()}
    values = {word: float(first[word]) for word in columns(about, "input") if word in component.defaults}
    return instance(component, about["module_args"].get(about["component"], about["module_args"]), given | values)


def component_case(about: dict[str, Any], rows: list[dict[str, str]]) -> None:
    part = instance_of(about, rows[0])
    functions = [function.rsplit(".", 1)[-1] for function in about["functions"]]
    for row in rows:
        for word in columns(about, "input"):
            part = part.with_word(word, float(row[word]))
        part = part.call(functions, about["period_ns"], about["period_s"])
        for word in columns(about, "output"):
            assert same(part.read(word), float(row[word]), about), f"step {row['step']}: {word}"


def sampler_case(about: dict[str, Any], rows: list[dict[str, str]]) -> None:
    part, reads = instance_of(about, rows[0]), 0
    for row in rows:
        for word in ("pin.0", "enable"):
            part = part.with_word(word, float(row[word]))
        part = part.with_word("reads_after", reads)
        part = part.call([], 0, about["period_s"])
        for word in ("curr-depth", "full", "overruns"):
            assert same(part.read(word), float(row[word]), about), f"step {row['step']}: {word}"
        reads = int(row["reads_after"])
        before, first = int(part.state["held"][0]), int(part.state["first"][0])
        read_now = min(reads, before)
        assert (read_now, before - read_now) == (int(row["n_read"]), int(row["depth_after_reads"]))
        if read_now:
            oldest = int(part.state["accepted"][0]) - before + 1
            assert (oldest, oldest + read_now - 1) == (int(row["first_id"]), int(row["last_id"]))
            assert part.state["kept"][first, 0] == float(row["first_pin.0"])


def streamer_case(about: dict[str, Any], rows: list[dict[str, str]]) -> None:
    part, accepted = instance_of(about, rows[0]), 0
    for row in rows:
        count = 0
        for _ in range(int(row["writes_before"])):
            before = int(part.state["held"][0])
            part = part.with_pin("in", 0.5 * (accepted + 1))
            part = part.with_pin("write", 1)
            part = part.with_pin("enable", 0)
            part = part.call([], 0, about["period_s"])
            count += int(part.state["held"][0]) - before
            accepted += int(part.state["held"][0]) - before
        part = part.with_pin("write", 0)
        for word in ("enable", "clock"):
            part = part.with_word(word, float(row[word]))
        part = part.call([], 0, about["period_s"])
        assert count == int(row["accepted"])
        for word in ("pin.0", "curr-depth", "empty", "underruns"):
            assert same(part.read(word), float(row[word]), about), f"step {row['step']}: {word}"


RUNNERS = {"sampler": sampler_case, "streamer": streamer_case}


def lacking(case: str) -> bool:
    return any(fnmatch(case, pattern) for pattern in NO_OP)


def test_hal_recordings_exist() -> None:
    assert CASES, f"no vectors in {folder()}: set MALSIM_VECTORS to a folder with recordings or with a subfolder hal/"


@pytest.mark.parametrize("case", [case for case in CASES if not lacking(case)])
def test_op_matches_the_recorded_component(case: str) -> None:
    about, rows = read(case)
    RUNNERS.get(about["component"], component_case)(about, rows)


def test_component_without_an_op_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    absent = [case for case in CASES if lacking(case)]
    with capsys.disabled():
        sys.stderr.write(f"\nno op for: {', '.join(absent) or 'nothing'}\n")
    assert set(absent) <= set(CASES)


def rows_of(pattern: str) -> list[tuple[dict[str, Any], list[dict[str, str]]]]:
    return [read(case) for case in CASES if fnmatch(case, pattern)]


def test_demux_matches_recordings_below_two_to_the_31() -> None:
    for about, rows in rows_of("demux-huge-sel*"):
        component_case(about, [row for row in rows if int(row["sel-u32"]) < 2**31])


def test_mux16_matches_recordings_within_the_int_range() -> None:
    for about, rows in rows_of("mux-mux16-saturate*"):
        real = {**about, "columns": [column for column in about["columns"] if column["name"] != "out-s"]}
        component_case(real, rows)
        component_case(about, [row for row in rows if -(2.0**31) - 1 < float(row["out-f"]) < 2.0**31])


def test_autotune_relay_matches_the_relay_inside_pid() -> None:
    """Skip the first call, because pid's autotune starts one call later."""
    sheet = ops.load("autotune")
    for about, rows in rows_of("pid-autotune*"):
        state = ops.start(sheet, 1, {"effort": float(about["const_inputs"]["tune-effort"]), "cycles": 1000})
        pushed = [row for row in rows if row["tune-start"] == "1" and row["post:tune-start"] == "1"]
        for row in pushed:
            values = {word: np.array([float(row[word])]) for word in ("command", "feedback")}
            state = ops.step(sheet, {**state, **values, "start": np.array([True])}, about["period_s"])
            assert row is pushed[0] or state["output"].tolist() == [float(row["output"])]


def test_every_entry_of_the_name_table_names_a_pin() -> None:
    for component in words().values():
        sheet = ops.load(component.op, **component.sizes)
        families = {re.sub(r"-\d+$", "-#", name) for name in sheet.slots}
        for word, pin in component.pins.items():
            cases = [sheet, *(ops.load(case["op"]) for case in component.case if "op" in case)]
            assert any(pin in families | set(item.slots) for item in cases), f"{component.name}.{word}"
