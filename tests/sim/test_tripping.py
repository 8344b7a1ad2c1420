"""What trips and clears, and is told as an event of the run: the pins that hold what went wrong, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.scenario.file.scenario_file import parse, read
from malsim.sim.bench import run

if TYPE_CHECKING:
    from malsim.sim.run import Run

WIRES = """\
loadrt estop-latch names=estop
loadrt latch names=held
net well estop.ok-out
net beat estop.watchdog
net fault estop.fault-out
net not-held held.out-not
net held held.out
net go estop.reset
net sane estop.ok-in
sane = true
addf estop tick
addf held tick
"""
STARTED = '[[netlist.input]]\nsignal = "go"\nat = "4d"\nvalue = true\n'


def told(made: Run) -> list[tuple[object, ...]]:
    """When its alarms tripped and cleared, and which pin said so."""
    return made.events.filter(pl.col("kind").is_in(["tripped", "cleared"])).select("t", "kind", "subject", "cause").rows()


def test_watchdog_trips_and_clears_like_a_latch() -> None:
    made = run(read("scenarios/watchdog_silent_writer.toml").replace(replications=1))
    silent = made.signals.filter(signal="silent").sort("t")
    falls = silent.filter(pl.col("value").diff() < 0)["t"].to_list()
    rises = silent.filter(pl.col("value").diff() > 0)["t"].to_list()
    assert (len(rises), len(falls)) == (2, 1)
    days = sorted([(t, "tripped") for t in rises] + [(t, "cleared") for t in falls])
    assert told(made) == [(t, kind, "silent", "alive.tripped") for t, kind in days]


def test_only_alarm_outputs_record_events() -> None:
    made = run(parse(f"why = 'x'\n[run]\ndays = 6\n[netlist]\ntext = '''\n{WIRES}'''\n{STARTED}"))
    assert made.signals.filter(signal="beat")["value"].sum() > 0
    assert told(made) == [(1.0, "tripped", "fault", "estop.fault-out"), (4.0, "cleared", "fault", "estop.fault-out")]
