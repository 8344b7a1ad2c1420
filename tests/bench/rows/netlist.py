"""Benchmark of the netlist: a tick of twenty ops in one run and in 10,000, standing signals, and time to read long texts."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import Memory, tick
from malsim.netlist import lint, load, parse
from malsim.netlist.engine import Engine
from malsim.netlist.shipped import catalogue, signals_text
from malsim.netlist.wiring import link
from tests.bench.rows.memory import full_tick, graph
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.bench.rows.ratios import Ratio

__all__ = ["rows"]

# A pid drives a slew limiter towards a smoothed signal. Watches set a latch, and `calm` resets the latch.
TWENTY = """\
loadrt smooth names=soft,softer,softest
loadrt watch names=high,higher,highest
loadrt or2 names=either,any
loadrt latch names=alarm
loadrt sum2 names=sum,gap,mix
loadrt clamp names=bound,cap
loadrt pid
loadrt slew2
loadrt lag names=slow
loadrt not names=calm
loadrt ladder names=bar outputs=3
loadrt oneshot names=once
net x clock.days > soft.in
net soft soft.out > high.in sum.in-0
net sum sum.out > softer.in bound.in pid.command
net softer softer.out > higher.in gap.in-0
net bound bound.out > gap.in-1 pid.feedback
net drive pid.output > slew2.in mix.in-0
net moved slew2.out > mix.in-1 slow.in
net slow slow.out > highest.in softest.in
net softest softest.out > cap.in
net is-high high.above > either.in-0
net is-higher higher.above > either.in-1
net is-either either.out > any.in-0
net is-highest highest.above > any.in-1
net any any.out > alarm.set calm.in once.in
net calm calm.out > alarm.reset
net alarm alarm.out > bar.bit-0
setp pid.enable 1
setp pid.Pgain 2
"""
ORDER = (
    "soft", "high", "sum", "softer", "bound", "pid", "slew2", "higher", "gap", "mix", "slow", "highest", "softest", "cap",
    "either", "any", "calm", "once", "alarm", "bar",
)  # fmt: skip
ROWS, FRAMES = 10_000, 8
LINES = 10_000
CELLS, DAYS = 10_000, 24  # more days than the longest window of any signal


def rows() -> Iterator[Ratio]:
    text = TWENTY + "".join(f"addf {name} tick\n" for name in ORDER)
    item, many = _ticker(text, 1), _ticker(text, ROWS)
    frame = pl.DataFrame({"x": [1.0]})

    def bare() -> None:
        for _ in range(FRAMES):
            frame.with_columns((pl.col("x") * 0.3).alias("y"))

    yield compare("a tick of 20 ops, 1 run / 8 bare with_columns of one row", item, bare, limit=1.5, repeats=201)
    yield compare("a tick of 20 ops, 10,000 runs / 1 run", many, item, limit=30.0, repeats=21)
    yield _standing()
    few, lots = _text(LINES), _text(10 * LINES)
    yield compare(
        "parse, load, lint 100,000 lines / 10,000 lines", partial(_read, lots), partial(_read, few), limit=16.0, repeats=3
    )


def _ticker(text: str, replications: int) -> Callable[[], None]:
    engine = Engine(link(parse(text)), replications=replications)
    memory = Memory.empty()
    signals = np.random.default_rng(3).normal(size=(64, replications))
    state, turns = engine.start(memory), itertools.cycle(signals)

    def tick() -> None:
        nonlocal state
        state = engine.scan(state, memory, {"clock.days": next(turns)}).state

    return tick


def _standing() -> Ratio:
    memory, engine = graph(CELLS, 5 * CELLS), Engine(link(parse(signals_text(catalogue()))))
    state = engine.start(memory)
    for day in range(1, DAYS + 1):
        memory = tick(memory, float(day))
        state = engine.scan(state, memory, now=float(day)).state
    after = tick(memory, DAYS + 1.0)
    name = f"all {len(catalogue())} standing signals over {CELLS:,} cells / a bare tick of them"
    return compare(
        name, lambda: engine.scan(state, after, now=DAYS + 1.0), partial(full_tick, memory), limit=20.0, repeats=51
    )


def _text(lines: int) -> str:
    text = []
    for index in range(lines // 8):
        handle = f"obs_{index:05x}"
        text += [
            f'{handle} "claim {index}" conf(.7!) eff(.61) curr(.9) sal(.5)',
            f"  supports> obs_{index - 1:05x}(.5)" if index else "# the first",
            f"  prop writer w{index % 97}",
            f"loadrt watch names=watch-{index}",
            f"net eff-{index} watch-{index}.in < {handle}-scores-eff",
            f"net low-{index} watch-{index}.below > {handle}-flags-review",
            f"setp watch-{index}.level 0.5",
            f"addf watch-{index} tick",
        ]
    return "\n".join(text)


def _read(text: str) -> None:
    document = parse(text)
    lint(document, net=load(document).net)
