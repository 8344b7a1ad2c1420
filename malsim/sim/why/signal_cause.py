"""Causes of a signal's value, traced back through the netlist, and a run's signals as channels of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import AddressError, ScenarioError
from malsim.base.plain_text import listed
from malsim.netlist.language.address import Path, Pin, Reduced, address, column_of
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.programs import members, programs
from malsim.netlist.why import why
from malsim.sim.settings.netlist_config import READER_OPS, NetlistConfig, op_cell, op_name
from malsim.sim.why import cell_cause
from malsim.sim.why.cell_readers import as_of
from malsim.sim.world.clock import days

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.netlist.why import Because
    from malsim.netlist.wiring import Signal
    from malsim.sim.record.run_data import RunData

ENTERED = ("admitted", "superseded", "deduplicated")


def is_signal(run: RunData, where: str) -> bool:
    wires = run.scenario.netlist
    name = where.partition("(")[0]
    return wires is not None and (name in wires.net.signals or name in wires.pins)


def because(run: RunData, where: str, *, t: float | None = None, rep: int | None = None) -> list[Because]:
    """Trace a signal or pin back to its origin, always following the input that changed last.

    The trace ends at a signal that no op writes. The last step's `cause` names the claim or input that changed this signal.
    `where` names a signal or pin, with a row if the signal has rows: `low(dec_a3ee)`. `t` is in days (default: the last
    recorded tick).
    """
    wires, rep = run.scenario.netlist, run.scenario.first if rep is None else rep
    if wires is None:
        raise ScenarioError("this scenario has no netlist, so it has no signals", hint="add a [netlist] table")
    return why(where, wires.net, run.signals, at=t, rep=rep, moved=lambda word, since: _moved(run, word, since, rep))


def is_program(run: RunData, where: str) -> bool:
    wires = run.scenario.netlist
    return wires is not None and any(program.op == where for program in wires.net.programs)


def of_program(run: RunData, operation: str, *, t: float | None = None, rep: int = 0) -> str:
    """List the cells that a standing program reads at `t` days, and explain the one that changed most at the last tick."""
    wires = run.scenario.netlist or NetlistConfig.of("")
    program = next(program for program in programs(wires.net) if program.operation == operation)
    ticks = run.cells.filter(pl.col("rep") == rep)["t"].unique().sort()
    past = ticks if t is None else ticks.filter(ticks <= t)
    if past.is_empty():
        raise AddressError("not recorded yet", given=f"{operation} at {t}")
    memory = as_of(run, t=float(past[-1]), rep=rep)
    handles = memory.cells["handle"].gather(members(program, memory, 1, first=rep).rows)
    times = past[-1], past[max(-2, -len(past))]
    now, then = (run.cells.filter((pl.col("t") == time) & (pl.col("rep") == rep)) for time in times)
    moved = now.join(then, on="cell", suffix="_was", maintain_order="left").filter(pl.col("cell").is_in(handles.implode()))
    if moved.is_empty():
        return f"{operation} has no members yet"
    most = str(moved["cell"][int((moved["effective"] - moved["effective_was"]).abs().fill_null(0.0).arg_max() or 0)])
    return f"{operation} reads {listed(handles.to_list())}\n  because {cell_cause.explain(run, most, t=t, rep=rep).why}"


def _moved(run: RunData, word: str, since: float, rep: int) -> str:
    where = address(word)
    inner = where.inner if isinstance(where, Reduced) else where
    if isinstance(inner, Pin) and str(inner) in LOOP_WRITES:
        wires, pin = run.scenario.netlist, str(inner)
        times = [days(given.at) for given in wires.inputs if given.signal == pin] if wires else []
        times = [time for time in times if time <= since]
        return f"external input on day {max(times):g}" if times else LOOP_WRITES[pin][1]
    scores = ["effective", "stated", "currency", "salience"]
    if isinstance(inner, Path) and not inner.hops and column_of(inner.fields, scores, inner) == "effective":
        handle = _wired_to(run, inner.handle, since, rep)
        try:
            explanation = cell_cause.explain(run, handle, t=since, rep=rep)
        except AddressError:  # the cell was not recorded or did not exist yet
            return _entered(run, since, rep)
        sources = explanation.contributions["source"].to_list()
        return "; ".join(filter(None, (explanation.moved, _entered(run, since, rep, [handle, *sources]))))
    aged = "no claim was made in between" + (", only time passed" if "curr" in str(inner) else "")
    return _entered(run, since, rep) or aged


def _wired_to(run: RunData, handle: str, since: float, rep: int) -> str:
    events = run.events.filter((pl.col("kind") == "wired") & (pl.col("rep") == rep) & (pl.col("t") <= since))
    slots = range(int(run.scenario.reader.ops) if run.scenario.reader else 0)
    ops = {op_cell(slot, kind): f"{op_name(slot)}: {kind} " for slot in slots for kind in READER_OPS}
    of_op = events.filter(pl.col("detail").str.starts_with(ops.get(handle, handle)))
    return str(of_op["subject"][-1]) if of_op.height else handle


def _entered(run: RunData, since: float, rep: int, subjects: list[str] | None = None) -> str:
    ticks = run.signals["t"].unique().sort()
    before = ticks.filter(ticks < since)
    after = float(before[-1]) if before.len() else 0.0
    claims = run.events.filter(
        (pl.col("rep") == rep) & pl.col("kind").is_in(ENTERED) & (pl.col("t") >= after) & (pl.col("t") < since)
    )
    if subjects is not None:
        claims = claims.filter(pl.col("subject").is_in(subjects))
    return listed([f"{row['subject']} was {row['kind']} on day {row['t']:g} ({row['cause']})" for row in claims.to_dicts()])


MOST = 24


def all_signals(run: RunData, rep: int) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return samples (t, channel, value) of every netlist signal in one replication, and each channel's type.

    Raises `ScenarioError` if the scenario has no netlist, or if none of the netlist's signals was recorded.
    """
    samples, signals = _recorded(run, rep), _signals(run)
    if samples.is_empty():
        raise ScenarioError("no signal of this netlist was recorded", hint="connect a signal to an existing pin or field")
    pairs = samples.unique("channel", keep="first", maintain_order=True).select("channel", "signal").rows()
    kinds = {channel: signals[name].type for channel, name in pairs}
    return samples.select("t", "channel", "value"), kinds


def wired(run: RunData, rep: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return samples (t, channel, value) and channels (channel, address, digital, panel) of one replication.

    The channels, at most 24, are the signals with one value per run, in netlist order, or, if there are none, signals with
    rows, as `signal(row)`. Signals in the same `panel` have similar magnitudes.
    """
    recorded, signals = _recorded(run, rep), _signals(run)
    of_run = recorded.filter(pl.col("row").is_null())
    recorded = recorded if of_run.is_empty() else of_run
    order = {name: index for index, name in enumerate(signals)}
    pairs = recorded.unique("channel", keep="first", maintain_order=True).select("channel", "signal").rows()
    pairs = sorted(pairs, key=lambda pair: order[pair[1]])[:MOST]
    samples = recorded.select("t", "channel", "value").filter(pl.col("channel").is_in([pair[0] for pair in pairs]))
    panels = _panels(dict(samples.group_by("channel").agg(pl.col("value").abs().max()).iter_rows()))
    rows = []
    for channel, name in pairs:
        signal = signals[name]
        address = signal.writer.word if signal.writer else signal.name
        rows.append((channel, str(address), signal.type == "bit", panels[channel]))
    kinds = {"channel": pl.String, "address": pl.String, "digital": pl.Boolean, "panel": pl.Int64}
    channels = pl.DataFrame(rows, schema=kinds, orient="row").sort("panel", maintain_order=True)
    return samples.sort("t", maintain_order=True), channels


def _signals(run: RunData) -> Mapping[str, Signal]:
    if run.scenario.netlist is None:
        raise ScenarioError("this scenario has no netlist, so it has no signals", hint="add a [netlist] table")
    return run.scenario.netlist.net.signals


def _recorded(run: RunData, rep: int) -> pl.DataFrame:
    channel = pl.when(pl.col("row").is_null()).then(pl.col("signal")).otherwise(pl.format("{}({})", "signal", "row"))
    of_netlist = (pl.col("rep") == rep) & pl.col("signal").is_in(list(_signals(run)))
    return run.signals.filter(of_netlist).with_columns(channel.alias("channel"))


def _panels(sizes: Mapping[str, float]) -> dict[str, int]:
    panels, panel, least = {}, 0, 0.1
    for name, size in sorted(sizes.items(), key=lambda pair: pair[1]):
        if size > 10.0 * least:
            panel, least = panel + 1, size
        panels[name] = panel
    return panels
