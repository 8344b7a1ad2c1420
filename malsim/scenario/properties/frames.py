"""A run's frames read by address: `obs_a1a1-scores-eff`, `item(pump-0)-rank`, a signal, `writer(ann)-claims`, a metric."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import AddressError, ScenarioError
from malsim.memory.graph.handles import beginning_so
from malsim.memory.schema import FLAGS
from malsim.netlist.evaluate import Frames, evaluate
from malsim.scenario.properties.build import REDUCERS
from malsim.scenario.properties.trace import Trace, unknown
from malsim.sim.record.event_kinds import KINDS
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.sim.record.run_data import RunFrames

__all__ = ["FrameReader", "crosses", "trace_of"]

SCORES = {
    "eff": "effective", "curr": "currency", "conf": "stated", "sal": "salience", "calib": "calibration",
    "support": "support_mass", "challenge": "challenge_mass",
}  # fmt: skip
ROWS = {"writer": ("writers", "writer"), "item": ("cells", "cell")}  # an address's head: a frame and its column of names
BITS = {flag: flag for flag in FLAGS} | {"review": "requires_review", "bg": "allow_background_use"}


def trace_of(run: RunFrames, *, metrics: Mapping[str, NDArray[Any]] | None = None) -> Trace:
    """The trace of a run's frames; an address is looked up when it is first read.

    Parameters
    ----------
    run
        Anything with the frames cells, signals, events and writers; every time in cells, signals or writers is a tick.
    metrics
        Numbers of the whole run by name: one a replication, or ticks × replications.

    Raises
    ------
    ScenarioError
        If the run holds no tick, or a frame no t or rep.
    """
    reader = FrameReader(run, metrics or {})
    return Trace(reader.times, reader.replications, reader.read, reader.events_at)


class FrameReader:
    """Reads a run's frames by address into arrays of ticks × replications, each once.

    A field is named in full or as in netlists, a signal by its name or a pin it is on; truth values read 1 and 0; words are
    strings. Where a cell, a signal or a writer has no row, or null, there is no value. A name that is nowhere in the run, a
    field that is null throughout, NaN, or two rows for one tick and replication is a ScenarioError.
    """

    def __init__(self, run: RunFrames, metrics: Mapping[str, NDArray[Any]]) -> None:
        self._frames = {name: _checked(name, getattr(run, name)) for name in ("cells", "signals", "events", "writers")}
        self._metrics, self._run, self._pins = metrics, run, _pins_of(run)
        self._arrays: dict[str, NDArray[Any]] = {}
        days = [_unique(self._frames[name], "t") for name in ("cells", "signals", "writers")]
        self.times = np.unique(_milliseconds(np.concatenate(days)))
        scenario = getattr(run, "scenario", None)
        reps = getattr(scenario, "first", 0) + np.arange(getattr(scenario, "replications", 0))  # one that left no row too
        present = [_unique(frame, "rep") for frame in self._frames.values() if frame.height]
        self.replications = np.unique(np.concatenate([reps, *present])).astype(np.int64)
        if not len(self.times):
            raise ScenarioError("the run holds no tick, so nothing can be checked", hint="give it days and a turn_every")
        self._shape = (len(self.times), len(self.replications))

    def read(self, address: str) -> NDArray[Any]:
        """What an address says at each tick of each replication."""
        if address not in self._arrays:
            self._arrays[address] = self._look_up(address)
        return self._arrays[address]

    def events_at(self, kind: str, subject: str | None) -> NDArray[np.bool_]:
        """Whether an event came since the tick before; one after the last tick counts at the last."""
        events, mask = self._frames["events"], np.zeros(self._shape, dtype=bool)
        if kind not in (kinds := KINDS.keys() | set(_names(events, "kind"))):
            raise unknown("kind of event", kind, kinds)
        if subject is not None and subject not in (subjects := self._subjects()):
            raise unknown("subject of an event", subject, subjects)
        if events.height:
            about = pl.lit(value=True) if subject is None else pl.col("subject") == subject
            rows = events.filter(pl.col("kind").cast(pl.String) == kind, about)
            ticks = np.searchsorted(self.times, _milliseconds(rows["t"].to_numpy()), "left")
            mask[np.minimum(ticks, len(self.times) - 1), self._columns(rows)] = True
        return mask

    def _look_up(self, address: str) -> NDArray[Any]:
        if address in self._metrics:
            return np.broadcast_to(np.asarray(self._metrics[address], dtype=float), self._shape)
        address = self._pins.get(address, address)
        if address in _names(self._frames["signals"], "signal"):
            rows = self._frames["signals"].filter(pl.col("signal") == address, pl.col("row").is_null())
            if not rows.height:
                raise ScenarioError("this signal has a value a row", given=address, hint=f"name one: {address}(obs_a1a1)")
            return self._array(rows, address, "value")
        if match := re.fullmatch(r"(writer|item)\(([^()]+)\)-(\w+)", address):
            frame, key = ROWS[match[1]]
            return self._instance(frame, key, match[2], address, match[3])
        if not crosses(address) and (match := re.fullmatch(r"([^()]+)\(([^()]+)\)", address)):
            return self._row_signal(address, match[1], match[2])
        handle, _, field = address.partition("-")
        if crosses(address):
            return self._array(_evaluated(address, self._run, self._frames), address, "value")
        if not field or re.search(r"[.()]", handle):
            raise self._nowhere(address)
        return self._instance("cells", "cell", handle, address, _column(field))

    def _instance(self, frame: str, key: str, name: str, address: str, column: str) -> NDArray[Any]:
        """A column of the rows of one cell or one writer."""
        frames = self._frames[frame]
        if key == "cell" and not (frames[key] == name).any():
            name = self._whole(name)
        rows = frames.filter(pl.col(key).cast(pl.String) == name) if frames.height else frames
        if not rows.height:
            is_name = "_" in name or address.startswith(tuple(ROWS))
            raise (unknown(key, name, _names(frames, key)) if is_name else self._nowhere(address))
        fields = [each for each in frames.columns if each not in ("t", "rep", key)]
        if column not in fields:
            raise unknown(f"field of a {key}", column, [*fields, *(SCORES if key == "cell" else ())])
        return self._array(rows, address, column)

    def _whole(self, name: str) -> str:
        """The handle of the one cell that begins so, or the name as it is."""
        try:
            return beginning_so(name, self._frames["cells"]["cell"].cast(pl.String)) or name
        except AddressError as error:
            raise ScenarioError(error.problem, given=name, allowed=error.allowed, hint=error.hint) from error

    def _row_signal(self, address: str, signal: str, row: str) -> NDArray[Any]:
        signals = self._frames["signals"]
        if signal not in (names := _names(signals, "signal")):
            raise unknown("signal", signal, names)
        rows = signals.filter(pl.col("signal") == signal, pl.col("row").cast(pl.String) == row)
        if not rows.height:
            raise unknown(f"row of {signal}", row, _names(signals.filter(pl.col("signal") == signal), "row"))
        return self._array(rows, address, "value")

    def _nowhere(self, address: str) -> ScenarioError:
        names = [*_names(self._frames["signals"], "signal"), *self._metrics, *_names(self._frames["cells"], "cell")]
        return unknown("signal, metric or cell field", address, names)

    def _subjects(self) -> set[str]:
        columns = (("events", "subject"), ("cells", "cell"), ("signals", "signal"), ("writers", "writer"))
        alarms = {pin.partition(".")[2] for pin in self._pins}  # what a net may call out, whether it did or not
        return alarms.union(*(_names(self._frames[frame], column) for frame, column in columns))

    def _columns(self, rows: pl.DataFrame) -> NDArray[np.int64]:
        return np.searchsorted(self.replications, rows["rep"].to_numpy())

    def _array(self, rows: pl.DataFrame, address: str, column: str) -> NDArray[Any]:
        values = rows[column]
        if values.null_count() == len(values):
            raise ScenarioError("this address has no value at any tick", given=address, hint="record it, or read another")
        if values.dtype.is_float() and values.is_nan().any():
            first = rows.filter(pl.col(column).is_nan()).row(0, named=True)
            where = f"on day {first['t']:.6g} of replication {first['rep']}"
            raise ScenarioError(f"{address} is not a number {where}", hint="mend the op that gives NaN")
        ticks = np.searchsorted(self.times, _milliseconds(rows["t"].to_numpy()))
        places = ticks * self._shape[1] + self._columns(rows)
        text = not (values.dtype.is_numeric() or values.dtype == pl.Boolean)
        array: NDArray[Any] = np.full(self._shape, None) if text else np.full(self._shape, np.nan)
        array.reshape(-1)[places] = values.cast(pl.String if text else pl.Float64).to_numpy()
        if np.bincount(places).max() > 1:
            raise ScenarioError("two rows for one tick and replication", given=address, hint="keep one of them")
        return array


def _checked(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame, whose rows must say when and in which replication."""
    for column in ("t", "rep") if frame.height else ():
        if column not in frame.columns:
            raise ScenarioError(f"the frame {name} has no column {column}", allowed=", ".join(frame.columns))
        values = frame[column]
        infinite = values.dtype.is_float() and not values.is_finite().all()
        if not values.dtype.is_numeric() or values.null_count() or infinite:
            raise ScenarioError(f"the column {column} of the frame {name} holds something that is no number")
    return frame


def _unique(frame: pl.DataFrame, column: str) -> NDArray[Any]:
    return frame[column].unique().to_numpy() if frame.height else np.empty(0)


def _names(frame: pl.DataFrame, column: str) -> list[str]:
    if not frame.height or column not in frame.columns:
        return []
    return frame[column].cast(pl.String).drop_nulls().unique().to_list()


def _milliseconds(days: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(days * DAY).astype(np.int64)


def _column(field: str) -> str:
    group, _, name = field.partition("-")
    if group == "scores":
        return SCORES.get(name, name)
    if group == "flags":
        return BITS.get(name, name)
    return field


def crosses(address: str) -> bool:
    """Whether an address needs more than one row of a frame.

    >>> crosses("mean(dec_a3ee.~supports.*-scores-eff)"), crosses("dec_a3ee@v2-scores-eff"), crosses("dec_a3ee-scores-eff")
    (True, True, False)
    """
    return re.search(r"[*@~]|^[a-z]+_\w+\.", address) is not None or address.partition("(")[0] in REDUCERS


def _pins_of(run: object) -> Mapping[str, str]:
    """The signal on each pin of a run's netlist."""
    netlist = getattr(getattr(run, "scenario", None), "netlist", None)
    return netlist.pins if netlist else {}


def _evaluated(address: str, run: object, frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """What an address comes to, one row a tick and replication: t, rep, value.

    Raises
    ------
    ScenarioError
        For a run that kept no graph, or an address that names nothing or many values.
    """
    memory = getattr(run, "memory", None)
    if memory is None:
        raise ScenarioError("frames hold no edges to follow", given=address, hint="read it through a netlist signal")
    edges = Frames.of(memory).edges
    try:
        values = evaluate(address, Frames(frames["cells"], edges, frames["writers"], frames["signals"], _pins_of(run)))
    except AddressError as error:
        raise ScenarioError(error.problem, given=error.given or address, allowed=error.allowed, hint=error.hint) from error
    if values["value"].dtype == pl.List or "row" in values.columns:
        hint = "reduce them: mean(…), max(…), share(…)"
        raise ScenarioError("many values stand at this address", given=address, hint=hint)
    return values
