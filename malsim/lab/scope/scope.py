"""From a recording to a capture: sample the channels, find the trigger, cut the record out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import DataError, UsageError
from malsim.lab.scope.capture import CHANNELS, EVENTS, SAMPLES, Capture
from malsim.lab.scope.channels import Channel, Recording
from malsim.lab.scope.trigger import Trigger, fires

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from malsim.sim.run import Run

MOST_CHANNELS = 16
OF_THE_NET = ("tripped", "cleared", "webhook", "escalated", "conflict", "changed")


def capture(
    recording: Recording,
    channels: Sequence[str | Channel],
    *,
    trigger: Trigger | None = None,
    record: int | None = None,
    events: Sequence[str] | None = None,
    cursors: Sequence[float] = (),
    title: str = "",
) -> Capture:
    """Capture channels over the ticks of a recording, or over a record of so many ticks round a trigger.

    Parameters
    ----------
    channels
        One to sixteen signals or addresses, each as text (`"obs_a1a1-scores-eff gain=2"`) or a `Channel`.
    trigger
        Where the record stands; from the first tick on, if None.
    record
        Ticks in the record; all there are, if None.
    events
        The kinds of events to mark; if None, those of the channels' cells and those a net made.
    cursors
        Days at which every channel is read off.

    Raises
    ------
    DataError
        When the trigger never fires.
    AddressError
        For a channel that nothing recorded is called by.
    """
    every = [Channel.read(one) if isinstance(one, str) else one for one in channels]
    _check(every, record, cursors)
    days = recording.days.to_numpy()
    begin, at = _record_start(recording, trigger, record)
    stop = len(days) if record is None else begin + record
    inside = slice(begin, min(stop, len(days)))
    traces = [(channel, recording.values(channel.address)) for channel in every]
    samples = [_samples(recording.days, channel, values, inside) for channel, values in traces]
    until = float(days[inside][-1])
    return Capture(
        samples=pl.concat([pl.DataFrame(schema=SAMPLES), *samples]),
        channels=pl.DataFrame([_channel_row(channel, values, recording) for channel, values in traces], schema=CHANNELS),
        events=_marks(recording.events, every, events).filter(pl.col("t").is_between(float(days[begin]), until)),
        trigger=trigger,
        triggered=None if at is None else float(days[at]),
        cursors=tuple(float(day) for day in cursors),
        title=title,
    )


def scope(
    run: Run,
    channels: Sequence[str | Channel],
    *,
    trigger: Trigger | Mapping[str, Any] | None = None,
    rep: int | None = None,
    **options: Any,
) -> Capture:
    """Capture signals or addresses of a run; options as of `capture`, a trigger also as its words."""
    settings = Trigger(**trigger) if isinstance(trigger, Mapping) else trigger
    return capture(Recording.of(run, rep), channels, trigger=settings, **{"title": run.scenario.why, **options})


def _check(channels: Sequence[Channel], record: int | None, cursors: Sequence[float]) -> None:
    if not 1 <= len(channels) <= MOST_CHANNELS:
        raise UsageError(
            "so many channels fit no screen", where="scope", given=len(channels), allowed=f"1 to {MOST_CHANNELS}"
        )
    names = [channel.name for channel in channels]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError("two channels of one name", where="scope", given=twice, hint="give one a label=")
    if not np.isfinite(cursors).all():
        raise UsageError("a cursor stands on a day", where="cursors", given=list(cursors), allowed="finite numbers of days")
    if record is not None and record < 1:
        raise UsageError("a record holds at least one tick", where="record", given=record, allowed="1, 2, …")


def _record_start(recording: Recording, trigger: Trigger | None, record: int | None) -> tuple[int, int | None]:
    """The first sample of the record, and that of the trigger."""
    if trigger is None:
        return 0, None
    values = recording.values(trigger.on).cast(pl.Float64).fill_null(np.nan).to_numpy()
    before = 0 if record is None else min(round(trigger.position * record), record - 1)
    firings = fires(values, trigger.level, trigger.edge, before=before)
    if len(firings) < trigger.number:
        present = values[~np.isnan(values)]
        spans = f"{present.min():g} to {present.max():g}" if present.size else "no value at all"
        problem = "the trigger did not fire" if not len(firings) else f"the trigger fired {len(firings)} times only"
        hint = f"over the run it takes {spans}; another level, edge, position or a shorter record may do"
        raise DataError(problem, where=trigger.on, given=f"{trigger.edge} through {trigger.level:g}", hint=hint)
    at = int(firings[trigger.number - 1])
    return (0 if record is None else at - before), at


def _samples(days: pl.Series, channel: Channel, values: pl.Series, inside: slice) -> pl.DataFrame:
    frame = pl.DataFrame({"t": days, "value": values.cast(pl.Float64).fill_nan(None)})[inside]
    return frame.select("t", pl.lit(channel.name).alias("channel"), "value")


def _channel_row(channel: Channel, values: pl.Series, recording: Recording) -> dict[str, object]:
    present = values.drop_nulls()
    binary = values.dtype == pl.Boolean or (bool(recording.signal(channel.address)) and _binary(present))
    digital = binary if channel.digital is None else channel.digital
    return {
        "channel": channel.name, "address": channel.address, "gain": channel.gain, "offset": channel.offset,
        "digital": digital,
    }  # fmt: skip


def _binary(values: pl.Series) -> bool:
    """Whether a signal, kept as a number, was never anything but 0 and 1."""
    return values.len() > 0 and bool(values.cast(pl.Float64).is_in([0.0, 1.0]).all())


def _marks(events: pl.DataFrame, channels: Sequence[Channel], kinds: Sequence[str] | None) -> pl.DataFrame:
    if kinds is not None:
        selection = pl.col("kind").is_in(list(kinds))
    else:
        cells = [channel.address.partition("-")[0] for channel in channels]
        selection = pl.col("subject").is_in(cells) | pl.col("kind").is_in(OF_THE_NET)
    return events.filter(selection).select(list(EVENTS)).sort("t", maintain_order=True)
