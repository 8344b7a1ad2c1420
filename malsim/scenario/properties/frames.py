"""Reader for a run's frames by address: `obs_a1a1-scores-eff`, `item(pump-0)-rank`, a signal, `writer(ann)-claims`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import AddressError, ScenarioError
from malsim.netlist.evaluate import Frames, crosses, edges_by_handle, one_value, read
from malsim.netlist.language.address import Name, Pin
from malsim.scenario.properties.trace import Trace, unknown
from malsim.sim.context.event_log import KINDS
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.sim.record.run_data import RunFrames


def trace_of(run: RunFrames, *, metrics: Mapping[str, NDArray[Any]] | None = None) -> Trace:
    """Return the trace of a run's frames. Each address is looked up when it is first read.

    Every time in cells, signals or writers is a tick. `metrics` maps names to arrays, with one number per replication or of
    shape (ticks, replications). Raises `ScenarioError` if the run has no ticks, or a frame lacks t or rep.
    """
    reader = FrameReader(run, metrics or {})
    return Trace(reader.times, reader.replications, reader.read, reader.events_at)


class FrameReader:
    """Reader for a run's frames that returns the values of an address as a cached array of ticks × replications.

    Fields are named in full or as in netlists, signals by name or by one of their pins. Bits are returned as 1 and 0, text
    as strings. A missing row or a null has no value. Raises `ScenarioError` for a name that does not occur in the run, a
    field that is always null, NaN, or two rows for the same tick and replication.
    """

    def __init__(self, run: RunFrames, metrics: Mapping[str, NDArray[Any]]) -> None:
        self._tables = {name: _checked(name, getattr(run, name)) for name in ("cells", "signals", "events", "writers")}
        scenario = getattr(run, "scenario", None)
        netlist = getattr(scenario, "netlist", None)
        self._metrics, self._run, self._pins = metrics, run, netlist.pins if netlist else {}
        cells, signals, writers = (
            self._tables[name]
            if self._tables[name].columns
            else pl.DataFrame(schema={"t": pl.Float64, "rep": pl.Int32} | dict.fromkeys(keys, pl.String))
            for name, keys in BLANK.items()
        )
        self._frames = Frames(cells, None, writers, signals, self._pins)
        self._arrays: dict[str, NDArray[Any]] = {}
        days = [_unique(self._tables[name], "t") for name in ("cells", "signals", "writers")]
        self.times = np.unique(_milliseconds(np.concatenate(days)))
        self._facts = {fact.name for fact in getattr(scenario, "facts", ())}
        # Replications that recorded no rows count as well.
        reps = getattr(scenario, "first", 0) + np.arange(getattr(scenario, "replications", 0))
        present = [_unique(frame, "rep") for frame in self._tables.values() if frame.height]
        self.replications = np.unique(np.concatenate([reps, *present])).astype(np.int64)
        if not len(self.times):
            raise ScenarioError("the run has no ticks, so nothing can be checked", hint="set days and turn_every in [run]")
        self._shape = (len(self.times), len(self.replications))

    def read(self, address: str) -> NDArray[Any]:
        """Return the values of an address as an array of shape (ticks, replications)."""
        if address not in self._arrays:
            self._arrays[address] = self._look_up(address)
        return self._arrays[address]

    def events_at(self, kind: str, subject: str | None) -> NDArray[np.bool_]:
        """Return a mask of the ticks at which the event has occurred since the previous tick.

        Events after the last tick count at the last tick.
        """
        events, mask = self._tables["events"], np.zeros(self._shape, dtype=bool)
        if kind not in (kinds := KINDS.keys() | set(_names(events, "kind"))):
            raise unknown("no such kind of event", kind, kinds)
        if subject is not None:
            columns = (("events", "subject"), ("cells", "cell"), ("signals", "signal"), ("writers", "writer"))
            # Alarms that the net could raise are known subjects, even if they were never raised.
            subjects = {pin.partition(".")[2] for pin in self._pins}
            subjects = subjects.union(*(_names(self._tables[frame], column) for frame, column in columns))
            if subject not in subjects:
                raise unknown("no such event subject", subject, subjects)
        if events.height:
            about = pl.lit(value=True) if subject is None else pl.col("subject") == subject
            rows = events.filter(pl.col("kind").cast(pl.String) == kind, about)
            ticks = np.searchsorted(self.times, _milliseconds(rows["t"].to_numpy()), "left")
            mask[np.minimum(ticks, len(self.times) - 1), self._columns(rows)] = True
        return mask

    def _look_up(self, address: str) -> NDArray[Any]:
        if address in self._metrics:
            return np.broadcast_to(np.asarray(self._metrics[address], dtype=float), self._shape)
        name, _, row = address.removesuffix(")").partition("(")
        if name in ("truth", "answer", "right") and row in self._facts:
            signals = self._tables["signals"]
            rows = signals.filter(pl.col("signal") == name, pl.col("row") == row) if signals.height else signals
            return self._array(rows, address) if rows.height else np.full(self._shape, np.nan)
        try:
            point = read(address, self._frames)
            if isinstance(point, Name | Pin):
                names = [*_names(self._tables["signals"], "signal"), *self._metrics, *_names(self._tables["cells"], "cell")]
                raise unknown("no such signal, metric or cell field", address, names)
            frames = self._frames
            if crosses(address):
                memory = getattr(self._run, "memory", None)
                frames = replace(frames, edges=None if memory is None else edges_by_handle(memory))
            return self._array(one_value(point, frames), address)
        except AddressError as error:
            given = error.given or address
            raise ScenarioError(error.problem, given=given, allowed=error.allowed, hint=error.hint) from error

    def _columns(self, rows: pl.DataFrame) -> NDArray[np.int64]:
        return np.searchsorted(self.replications, rows["rep"].to_numpy())

    def _array(self, rows: pl.DataFrame, address: str) -> NDArray[Any]:
        values = rows["value"]
        if values.null_count() == len(values):
            raise ScenarioError(
                "the address has no value at any tick", given=address, hint="record it, or read another address"
            )
        if values.dtype.is_float():
            # NaN would mean a missing value. Infinity raises an error, but only where the value is used.
            values = values.fill_nan(float("inf"))
        ticks = np.searchsorted(self.times, _milliseconds(rows["t"].to_numpy()))
        indices = ticks * self._shape[1] + self._columns(rows)
        text = not (values.dtype.is_numeric() or values.dtype == pl.Boolean)
        array: NDArray[Any] = np.full(self._shape, None) if text else np.full(self._shape, np.nan)
        array.reshape(-1)[indices] = values.cast(pl.String if text else pl.Float64).to_numpy()
        if np.bincount(indices).max() > 1:
            raise ScenarioError(
                "the address has two rows for the same tick and replication", given=address, hint="keep one of them"
            )
        return array


def _checked(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    for column in ("t", "rep") if frame.height else ():
        if column not in frame.columns:
            raise ScenarioError(f"the frame {name} has no column {column}", allowed=", ".join(frame.columns))
        values = frame[column]
        infinite = values.dtype.is_float() and not values.is_finite().all()
        if not values.dtype.is_numeric() or values.null_count() or infinite:
            raise ScenarioError(f"column {column} of frame {name} contains a value that is not a finite number")
    return frame


BLANK = {"cells": ("cell",), "signals": ("row", "signal", "value"), "writers": ("writer",)}


def _unique(frame: pl.DataFrame, column: str) -> NDArray[Any]:
    return frame[column].unique().to_numpy() if frame.height else np.empty(0)


def _names(frame: pl.DataFrame, column: str) -> list[str]:
    if not frame.height or column not in frame.columns:
        return []
    return frame[column].cast(pl.String).drop_nulls().unique().to_list()


def _milliseconds(days: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(days * DAY).astype(np.int64)
