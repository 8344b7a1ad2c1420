"""LinuxCNC's own netlist tests that use only ops we have, re-stated: rows of ours in, the rows that must come out.

Theirs stream rows into a component and sample what comes out; so do these, each named for the test it re-states. The
oscillator, the two rates, the gates and the recorded netlists stand in the tests of the engine and of `.hal` text.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from malsim.netlist import load, parse, read
from malsim.netlist.engine.stream import run
from malsim.netlist.wiring import link

if TYPE_CHECKING:
    from pathlib import Path


def streamed(text: str, columns: dict[str, Any], *, tick: float = 1.0) -> pl.DataFrame:
    return run(link(parse(text)), pl.DataFrame(columns), tick=tick)


@pytest.mark.parametrize("high", [False, True], ids=["starting low", "starting high"])
@pytest.mark.parametrize(("rising", "falling"), [(True, False), (False, True), (True, True)])
def test_edge(*, high: bool, rising: bool, falling: bool) -> None:
    """edge.0 to edge.5: a pulse on the edges that are asked for, and no false one on the first call."""
    text = f"setp edge.rising {int(rising)}\nsetp edge.falling {int(falling)}\nnet x edge.in\nnet y edge.out\n"
    square = [high ^ bool(place // 5 % 2) for place in range(40)]
    pulses = streamed(text + "addf edge tick\n", {"x": square})["y"].to_list()
    changes = [(now and not was and rising) or (was and not now and falling) for was, now in pairwise(square)]
    assert pulses == [False, *changes]


ROWS = [(False, False, False, False), (True, False, False, False), (True, True, False, False), (False, True, False, False),
        (False, False, False, False), (False, True, False, False), (False, False, False, True), (True, True, True, True),
        (True, True, False, False), (True, False, True, False), (True, True, False, True)]  # fmt: skip
HELD = [False, False, True, True, True, False, True, False, False, False, True]


def test_flipflop_and_source(tmp_path: Path) -> None:
    """flipflop.0: reset before set before clock; source.0: the same with its nets in a file of their own."""
    nets = "net data latch.data\nnet clk latch.clk\nnet reset latch.reset\nnet set latch.set\nnet out latch.out\n"
    (tmp_path / "nets.malnet").write_text("loadrt latch\n" + nets)
    (tmp_path / "it.malnet").write_text("source nets.malnet\naddf latch tick\n")
    frame = pl.DataFrame(ROWS, schema=["data", "clk", "reset", "set"], orient="row")
    one = run(link(parse("loadrt latch\n" + nets + "addf latch tick\n")), frame)
    assert one["out"].to_list() == HELD
    assert run(link(read(tmp_path / "it.malnet")), frame).equals(one)


def test_near() -> None:
    """near.0: pairs into two near, one by ratio and one by difference, bounds included."""
    text = "loadrt near names=ratio,apart\nnet a ratio.in-0 apart.in-0\nnet b ratio.in-1 apart.in-1\n"
    text += "net by-ratio ratio.out\nnet by-difference apart.out\nsetp ratio.scale 1.25\nsetp apart.difference 0.5\n"
    pairs = [(a, b / 8) for a in (-2.0, 0.0, 1.0, 4.0) for b in range(-48, 48)]
    result = streamed(text + "addf ratio tick\naddf apart tick\n", {"a": [a for a, _ in pairs], "b": [b for _, b in pairs]})
    within = [min(a * 1.25, a / 1.25) <= b <= max(a * 1.25, a / 1.25) for a, b in pairs]
    assert result["by-ratio"].to_list() == within
    assert result["by-difference"].to_list() == [abs(a - b) <= 0.5 for a, b in pairs]
    assert sum(within) > 20


@pytest.mark.parametrize(("kind", "inputs"), list(product(["float", "int", "bit"], [2, 3, 4, 5])))
def test_mux(kind: str, inputs: int) -> None:
    """mux: inputs of every type, powers of two and others, the index past the end taken as the last."""
    values = [float(9 - place) if kind != "bit" else bool(place % 2) for place in range(inputs)]
    text = f"loadrt route inputs={inputs} type={kind} bits=3\nnet y route.out\n"
    text += "".join(f"net x-{place} route.in-{place}\n" for place in range(inputs))
    text += "net b-0 route.bit-0\nnet b-1 route.bit-1\nnet b-2 route.bit-2\naddf route tick\n"
    index = [*range(8), 3, 0, 6, 1]
    columns = {f"x-{place}": [value] * len(index) for place, value in enumerate(values)}
    columns |= {f"b-{bit}": [bool(at >> bit & 1) for at in index] for bit in range(3)}
    assert streamed(text, columns)["y"].to_list() == [values[min(at, inputs - 1)] for at in index]


def test_mux_debounced() -> None:
    """mux: another input must be wanted for long enough, and no input where none is to be suppressed keeps what was."""
    text = "loadrt route inputs=3 bits=2\nnet y route.out\nnet a route.in-0\nnet b route.in-1\nnet c route.in-2\n"
    text += "net b-0 route.bit-0\nsetp route.debounce 3ms\nsetp route.suppress-no-input 1\naddf route tick\n"
    wanted = [False, True, True, False, True, True, True, True, True, False, False, False, False]
    rows = len(wanted)
    result = streamed(text, {"a": [1.0] * rows, "b": [2.0] * rows, "c": [3.0] * rows, "b-0": wanted})["y"].to_list()
    assert result[:4] == [0.0] * 4
    assert result[8:] == [2.0] * 5


@pytest.mark.parametrize("shape", ["square", "sawtooth", "triangle", "sine"])
@pytest.mark.parametrize(("maxv", "maxa"), [(0.5, 0.1), (0.2, 1.0), (3.0, 0.05)])
def test_limit3(shape: str, maxv: float, maxa: float) -> None:
    """limit3: position, velocity and acceleration never pass their bounds, nothing runs away, and it locks on."""
    text = f"""\
loadrt siggen
loadrt slew2
net wave siggen.{shape} > slew2.in
net still siggen.reset
net out slew2.out
setp siggen.frequency 0.02
setp siggen.amplitude 3
setp slew2.maxv {maxv}
setp slew2.maxa {maxa}
setp slew2.min -2.5
setp slew2.max 2.5
addf siggen tick
addf slew2 tick
"""
    result = streamed(text, {"still": [False] * 230 + [True] * 170}, tick=8.64e7)
    out = np.concatenate([[0.0, 0.0], result["out"].to_numpy()])
    assert np.abs(out).max() <= 2.5
    assert np.abs(np.diff(out)).max() <= maxv * (1 + 1e-9)
    assert np.abs(np.diff(out, 2)).max() <= maxa * (1 + 1e-9)
    assert out[-40:] == pytest.approx(np.clip(result["wave"].to_numpy()[-40:], -2.5, 2.5))


def test_loadrt() -> None:
    """loadrt.1, loadrt.2, modparam.0: so many by count, or by names, and a table as a personality."""
    net = link(
        parse("loadrt and2 count=3\nloadrt or2 names=either,any\nloadrt reflex names=odd inputs=3\nsetp odd.table 0x96\n")
    )
    assert list(net.instances) == ["and2.0", "and2.1", "and2.2", "either", "any", "odd"]
    text = "loadrt reflex names=odd inputs=3\nsetp odd.table 0x96\nnet y odd.out\n"
    text += "net a odd.in-0\nnet b odd.in-1\nnet c odd.in-2\n"
    rows = list(product([False, True], repeat=3))
    result = streamed(text + "addf odd tick\n", {name: [row[at] for row in rows] for at, name in enumerate("abc")})
    assert result["y"].to_list() == [sum(row) % 2 == 1 for row in rows]


def test_hal_backslash_and_basic() -> None:
    """hal-backslash: a line goes on after a backslash; basic: an empty file says nothing."""
    assert (
        parse("net low \\\n  weak.in \\\n < dec_a3ee-scores-eff").statements
        == parse("net low weak.in < dec_a3ee-scores-eff").statements
    )
    assert load("").net.instances == {}
