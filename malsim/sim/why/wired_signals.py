"""The signals of a run's netlist as channels of a figure: bits apart from values, values of like size together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.netlist.wiring import Signal
    from malsim.sim.record.run_data import RunData

MOST = 24


def all_signals(run: RunData, rep: int) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return samples (t, channel, value) of every signal of the run's netlist in a replication, and the channels' types.

    Raises `ScenarioError` if the scenario has no netlist, or none of its signals was recorded.
    """
    own, signals = _recorded(run, rep), _signals(run)
    if own.is_empty():
        raise ScenarioError("no signal of this netlist was recorded", hint="wire one to a pin or a field that is there")
    pairs = own.unique("channel", keep="first", maintain_order=True).select("channel", "signal").rows()
    kinds = {channel: signals[name].type for channel, name in pairs}
    return own.select("t", "channel", "value"), kinds


def wired(run: RunData, rep: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return samples (t, channel, value) and channels (channel, address, digital, panel) of a replication.

    The signals of the run itself in the order of the netlist, or where it has none those with a value a row, as
    `signal(row)`; 24 at most. Signals of one `panel` are of like size.
    """
    own, signals = _recorded(run, rep), _signals(run)
    of_run = own.filter(pl.col("row").is_null())
    own = own if of_run.is_empty() else of_run
    turn = {one: place for place, one in enumerate(signals)}
    pairs = own.unique("channel", keep="first", maintain_order=True).select("channel", "signal").rows()
    pairs = sorted(pairs, key=lambda one: turn[one[1]])[:MOST]
    samples = own.select("t", "channel", "value").filter(pl.col("channel").is_in([one[0] for one in pairs]))
    most = dict(samples.group_by("channel").agg(pl.col("value").abs().max()).iter_rows())
    panels = _panels(most)
    rows = [(channel, str(_word(signals[one])), signals[one].type == "bit", panels[channel]) for channel, one in pairs]
    kinds = {"channel": pl.String, "address": pl.String, "digital": pl.Boolean, "panel": pl.Int64}
    channels = pl.DataFrame(rows, schema=kinds, orient="row").sort("panel", maintain_order=True)
    return samples.sort("t", maintain_order=True), channels


def _signals(run: RunData) -> Mapping[str, Signal]:
    if run.scenario.netlist is None:
        raise ScenarioError("this scenario has no netlist, so there are no signals", hint="add [netlist]")
    return run.scenario.netlist.net.signals


def _recorded(run: RunData, rep: int) -> pl.DataFrame:
    """Return the recorded rows of the netlist's signals, with the channel: `signal`, or `signal(row)`."""
    channel = pl.when(pl.col("row").is_null()).then(pl.col("signal")).otherwise(pl.format("{}({})", "signal", "row"))
    is_own = (pl.col("rep") == rep) & pl.col("signal").is_in(list(_signals(run)))
    return run.signals.filter(is_own).with_columns(channel.alias("channel"))


def _word(signal: Signal) -> str:
    return signal.writer.word if signal.writer else signal.name


def _panels(most: Mapping[str, float]) -> dict[str, int]:
    panels, panel, least = {}, 0, 0.1
    for name, size in sorted(most.items(), key=lambda one: one[1]):
        if size > 10.0 * least:
            panel, least = panel + 1, size
        panels[name] = panel
    return panels
