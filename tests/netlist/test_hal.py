"""`.hal` text: components through the word table, threads, times with their units, and a note on what has no counterpart."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.memory import Memory
from malsim.netlist import parse, render
from malsim.netlist.engine import Engine, State
from malsim.netlist.hal import read_hal
from malsim.netlist.wiring import link, linked

HAL = Path(__file__).parents[1] / "vectors" / "hal"
TEXT = """\
# from a machine
loadrt threads name1=base period1=1000000 name2=servo period2=10000000
loadrt lowpass   # the filter
loadrt limit2 names=slew
loadrt watchdog num_inputs=2
loadrt oneshot count=2
loadrt edge
loadrt maj3
loadrt biquad
loadusr halui
alias pin slew.out smooth-out
newsig sm float
net raw lowpass.0.in
net sm <= lowpass.0.out => slew.in
net beat watchdog.input-0
linkps watchdog.ok-out ok
linksp ok oneshot.0.in
net far smooth-out
setp lowpass.0.gain .2
slew.maxv = 150
setp watchdog.timeout-0 .02
setp oneshot.0.width 0.03
setp edge.0.both 1
setp edge.0.out-width-ns 2000000
setp lowpass.0.nope 1
sets raw 3
addf lowpass.0 base
addf slew base
addf watchdog.set-timeouts servo
addf watchdog.process servo
addf oneshot.0 servo 1
start
"""
OURS = """\
# from a machine
thread base every 1
thread servo every 10
loadrt smooth names=lowpass.0 # the filter
setp lowpass.0.gain 0
loadrt slew names=slew
loadrt watchdog names=watchdog inputs=2
loadrt oneshot names=oneshot.0
loadrt oneshot names=oneshot.1
loadrt edge names=edge.0
setp edge.0.rising true
setp edge.0.falling true
loadrt quorum names=maj3.0 inputs=3
setp maj3.0.need 2
net raw lowpass.0.in
net sm lowpass.0.out slew.in
net beat watchdog.in-0
net ok watchdog.ok
net ok oneshot.0.in
net far slew.out
setp lowpass.0.gain 0.2
setp slew.maxv 150
setp watchdog.timeout-0 0.02d
setp oneshot.0.width 0.03d
setp edge.0.width 0.002d
raw = 3
addf lowpass.0 base
addf slew base
addf watchdog servo
addf oneshot.0 servo 1
"""


def test_hal_text_reads_as_our_sentences_and_links() -> None:
    told = read_hal(TEXT)
    assert render(told.document) == OURS
    assert (told.period, told.tick) == (0.001, 86_400.0)
    assert [(fault.line, fault.problem) for fault in told.without] == [
        (9, "no op stands for this component"),
        (10, "this command has no counterpart"),
        (25, "smooth has no counterpart of this pin of lowpass"),
    ]
    net = link(told.document)
    assert net.signals["sm"].writer is not None
    assert str(net.signals["sm"].writer.address) == "lowpass.0.out"
    assert link(parse(OURS)).signals.keys() == net.signals.keys()


@given(
    st.lists(
        st.sampled_from([*TEXT.splitlines(), "net", "setp a", "loadrt", "addf x y z", "linkps a", "\x00", '"', "a = "]),
        max_size=12,
    )
)
def test_any_lines_read(lines: list[str]) -> None:
    told = read_hal("\n".join(lines))
    assert all(fault.line for fault in told.without)
    _, faults = linked(told.document)
    assert all(fault.line for fault in faults)


def hal_text(told: dict[str, Any]) -> str:
    """The text that a recorded netlist was run from."""
    rates = sorted({1, *told["every"].values()})
    threads = " ".join(f"name{n}=t{rate} period{n}={round(told['period_ns'] * rate)}" for n, rate in enumerate(rates, 1))
    lines = [f"loadrt threads {threads}"]
    lines += [
        f"loadrt {one['module']} " + " ".join(f"{key}={value}" for key, value in one["args"].items())
        for one in told["loadrt"]
    ]
    lines += [f"net {net['signal']} {' '.join(net['pins'])}" for net in told["net"]]
    lines += [f"setp {pin} {value}" for pin, value in told["setp"].items()]
    lines += [f"addf {function} t{told['every'].get(function, 1)}" for function in told["addf"]]
    return "\n".join(lines)


class Bench:
    """A recorded netlist on our engine: HAL's pins written and read by HAL's names."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.read = read_hal(hal_text(told))
        self.net = link(self.read.document)
        self.engine = Engine(self.net, tick=self.read.tick)
        self.memory = Memory.empty()
        self.state: State = self.engine.start(self.memory)
        self.names = {pin: self.ours(pin, told) for pin in (column["name"] for column in told["columns"][1:])}

    def ours(self, pin: str, told: dict[str, Any]) -> str:
        (word,) = [one.address for one in read_hal(hal_text(told) + f"\nnet probe {pin}").document.statements[-1].ends]  # type: ignore[attr-defined]
        return str(word)

    def signal(self, pin: str) -> str | None:
        found = [name for name, signal in self.net.signals.items() if pin in {str(end.address) for end in signal.links}]
        return found[0] if found else None

    def slot(self, pin: str) -> tuple[str, str, int | None]:
        name, _, word = self.names[pin].rpartition(".")
        key, row, _ = self.net.instances[name].sheet.slots[word]
        return name, key, row

    def write(self, pin: str, value: float) -> None:
        if signal := self.signal(self.names[pin]):
            array = np.array([value]).astype(self.state.signals[signal].dtype)
            self.state = replace(self.state, signals={**self.state.signals, signal: array})
            return
        name, key, row = self.slot(pin)
        array = self.state.ops[name][key].copy()
        array[... if row is None else row] = value
        self.state = replace(self.state, ops={**self.state.ops, name: {**self.state.ops[name], key: array}})

    def value(self, pin: str) -> float:
        name, key, row = self.slot(pin)
        array = self.state.ops[name][key]
        return float((array if row is None else array[row])[0])


CASES = sorted(path.stem for path in HAL.glob("netlist-*.json"))


@pytest.mark.parametrize("case", CASES)
def test_hals_recorded_netlists_run_on_our_engine_from_their_own_text(case: str) -> None:
    told = json.loads((HAL / f"{case}.json").read_text(encoding="utf-8"))
    bench = Bench(told)
    assert not bench.read.without
    roles = {column["name"]: (column["role"], column["type"]) for column in told["columns"]}
    out_seen: set[str] = set()
    with (HAL / f"{case}.csv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            for pin, (role, _) in roles.items():
                if role == "input":
                    bench.write(pin, float(row[pin]))
            bench.state = bench.engine.scan(bench.state, bench.memory).state
            for pin, (role, kind) in roles.items():
                if role != "output":
                    continue
                out_seen |= {pin} if float(row[pin]) else set()
                if pin == "flipflop.0.out-not" and "flipflop.0.out" not in out_seen:
                    continue  # the newer flipflop writes it late
                scale = 8.64e7 if pin.endswith("elapsed") else 1.0  # ours are in milliseconds
                ours = bench.value(pin) / scale
                assert math.isclose(ours, float(row[pin]), rel_tol=0 if kind == "bit" else 1e-9, abs_tol=1e-9), (
                    row["step"],
                    pin,
                )
