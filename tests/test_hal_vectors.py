"""Runs of the real LinuxCNC components, replayed through the palette by the word table.

`MALSIM_VECTORS` names a folder of them, or one that holds `hal/`; without it the cases beside these tests run.
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

NO_OP = [  # replayed in part, below
    "demux-huge-sel*",  # a selection of 2³¹ and more is negative in C, and picks none; ours picks the last
    "mux-mux16-saturate*",  # a C cast of what no int holds, another on every machine; ours stops at the bound
    "pid-autotune*",  # inside pid and from the first push on; `autotune` is an op of its own, and lets the swing settle
]


def folder() -> Path:
    named = Path(os.environ.get("MALSIM_VECTORS") or Path(__file__).parent / "vectors")
    return named / "hal" if (named / "hal").is_dir() else named


CASES = sorted(path.stem for path in folder().glob("*.json"))


def read(case: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    about = json.loads((folder() / f"{case}.json").read_text(encoding="utf-8"))
    with (folder() / f"{case}.csv").open(encoding="utf-8", newline="") as rows:
        return about, list(csv.DictReader(rows))


def same(ours: float, theirs: float, about: dict[str, Any]) -> bool:
    if "small tolerance" in about.get("note", "") or re.search(r"\.(co)?sine\b", str(about.get("net"))):
        return bool(np.isclose(ours, theirs, rtol=1e-9, atol=1e-9, equal_nan=True))
    return ours == theirs or (np.isnan(ours) and np.isnan(theirs))


def columns(about: dict[str, Any], role: str) -> list[str]:
    return [column["name"] for column in about["columns"] if column["role"] == role]


def numbers(values: dict[str, Any]) -> dict[str, float]:
    return {word: float(value) for word, value in values.items()}


def of(about: dict[str, Any], first: dict[str, str]) -> Instance:
    component = words()[about["component"]]
    given = numbers({**about.get("params", {}), **about.get("const_inputs", {})})
    values = {word: float(first[word]) for word in columns(about, "input") if word in component.defaults}
    return instance(component, about["module_args"].get(about["component"], about["module_args"]), given | values)


def component_case(about: dict[str, Any], rows: list[dict[str, str]]) -> None:
    part = of(about, rows[0])
    functions = [function.rsplit(".", 1)[-1] for function in about["functions"]]
    for row in rows:
        for word in columns(about, "input"):
            part = part.with_word(word, float(row[word]))
        part = part.call(functions, about["period_ns"], about["period_s"])
        for word in columns(about, "output"):
            assert same(part.read(word), float(row[word]), about), f"step {row['step']}: {word}"


def sampler_case(about: dict[str, Any], rows: list[dict[str, str]]) -> None:
    part, reads = of(about, rows[0]), 0
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
    part, accepted = of(about, rows[0]), 0
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


def netlist_case(about: dict[str, Any], rows: list[dict[str, str]]) -> None:
    net = Net(about)
    for step, row in enumerate(rows):
        for pin in columns(about, "input"):
            net.write(pin, float(row[pin]))
        net.run(step)
        for pin in columns(about, "output"):
            if net.sets(pin, rows[: step + 1]):
                assert same(net.read(pin), float(row[pin]), about), f"step {step}: {pin}"


class Net:
    """Instances, signals and one list of functions, as HAL's thread runs them: a write is seen by the next function."""

    def __init__(self, about: dict[str, Any]) -> None:
        self.about = about
        self.modules = {words()[one["module"]].instance: (words()[one["module"]], one["args"]) for one in about["loadrt"]}
        self.signal = {pin: net["signal"] for net in about["net"] for pin in net["pins"]}
        wired = [(signal, self.split(pin)) for pin, signal in self.signal.items()]
        names = {self.split(pin)[0] for pin in (*self.signal, *about["setp"], *about["addf"], *self.probes())}
        self.parts: dict[str, Instance] = {}
        for name in names:
            component, arguments = self.modules[re.sub(r"\.\d+$", "", name)]
            given = {self.split(pin)[1]: float(value) for pin, value in about["setp"].items() if self.split(pin)[0] == name}
            self.parts[name] = instance(component, arguments, given)
        self.inputs = {name: [(w, s) for s, (n, w) in wired if n == name and self.reads(n, w)] for name in names}
        self.outputs = {name: [(w, s) for s, (n, w) in wired if n == name and not self.reads(n, w)] for name in names}
        self.values: dict[str, float] = {}
        for signal, (name, word) in sorted(wired, key=lambda one: not self.reads(*one[1]), reverse=True):
            self.values.setdefault(signal, self.parts[name].read(word))
        for name in names:
            for word, signal in self.outputs[name]:
                self.values[signal] = self.parts[name].read(word)

    def probes(self) -> list[str]:
        return [*columns(self.about, "input"), *columns(self.about, "output")]

    def split(self, pin: str) -> tuple[str, str]:
        for base in self.modules:
            if match := re.fullmatch(rf"({re.escape(base)}(?:\.\d+)?)(?:\.(.+))?", pin):
                return match[1], match[2] or ""
        raise AssertionError(pin)

    def reads(self, name: str, word: str) -> bool:
        part = self.parts[name]
        pin = part.component.pin(word)
        return pin is None or part.sheet.slots[pin].key in part.sheet.ins

    def write(self, pin: str, value: float) -> None:
        name, word = self.split(pin)
        if pin in self.signal:
            self.values[self.signal[pin]] = value
        else:
            self.parts[name] = self.parts[name].with_word(word, value)

    def sets(self, pin: str, rows: list[dict[str, str]]) -> bool:
        name, word = self.split(pin)
        out = f"{name}.out"
        unwritten = self.parts[name].component.name == "flipflop" and word == "out-not" and out in rows[0]
        return not unwritten or any(float(row[out]) for row in rows)

    def read(self, pin: str) -> float:
        name, word = self.split(pin)
        return self.values[self.signal[pin]] if pin in self.signal else self.parts[name].read(word)

    def run(self, step: int) -> None:
        pending = list(self.about["addf"])
        while pending:
            name, function = self.split(pending[0])
            several = len(self.parts[name].component.functions) or 1
            together = [item for item in pending[:several] if self.split(item)[0] == name]
            pending = pending[len(together) :]
            every = self.about["every"].get(together[0], 1)
            if (step + 1) % every == 0:
                self.call(name, [self.split(item)[1] for item in together] if function else [], every)

    def call(self, name: str, functions: list[str], every: int) -> None:
        part = self.parts[name]
        for word, signal in self.inputs[name]:
            part = part.with_word(word, self.values[signal])
        self.parts[name] = part = part.call(functions, self.about["period_ns"] * every, self.about["period_s"] * every)
        for word, signal in self.outputs[name]:
            self.values[signal] = part.read(word)


RUNNERS = {"sampler": sampler_case, "streamer": streamer_case, "netlist": netlist_case}


def lacking(case: str) -> bool:
    return any(fnmatch(case, pattern) for pattern in NO_OP)


def test_there_are_cases() -> None:
    assert CASES, f"no vectors in {folder()}: set MALSIM_VECTORS to a folder of them, or to one that holds hal/"


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


def test_demux_selects_as_the_component_where_c_does_not_wrap() -> None:
    for about, rows in rows_of("demux-huge-sel*"):
        component_case(about, [row for row in rows if int(row["sel-u32"]) < 2**31])


def test_mux16_selects_as_the_component_where_an_int_holds_it() -> None:
    for about, rows in rows_of("mux-mux16-saturate*"):
        real = {**about, "columns": [column for column in about["columns"] if column["name"] != "out-s"]}
        component_case(real, rows)
        component_case(about, [row for row in rows if -(2.0**31) - 1 < float(row["out-f"]) < 2.0**31])


def test_the_relay_pushes_as_the_one_within_pid() -> None:
    """Start is seen there one call later, so the first of its calls is left out."""
    sheet = ops.load("autotune")
    for about, rows in rows_of("pid-autotune*"):
        state = ops.start(sheet, 1, {"effort": float(about["const_inputs"]["tune-effort"]), "cycles": 1000})
        pushed = [row for row in rows if row["tune-start"] == "1" and row["post:tune-start"] == "1"]
        for row in pushed:
            values = {word: np.array([float(row[word])]) for word in ("command", "feedback")}
            state = ops.step(sheet, {**state, **values, "start": np.array([True])}, about["period_s"])
            assert row is pushed[0] or state["output"].tolist() == [float(row["output"])]


def test_every_word_of_the_table_names_a_pin() -> None:
    for component in words().values():
        sheet = ops.load(component.op, **component.sizes)
        families = {re.sub(r"-\d+$", "-#", name) for name in sheet.slots}
        for word, pin in component.pins.items():
            cases = [sheet, *(ops.load(case["op"]) for case in component.case if "op" in case)]
            assert any(pin in families | set(item.slots) for item in cases), f"{component.name}.{word}"
