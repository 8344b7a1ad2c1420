"""Channels: what a scope looks at, by signal or address, and how each is scaled on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import AddressError, UsageError
from malsim.netlist.evaluate import Frames, SignalRow, edges_by_handle, one_value, read
from malsim.netlist.language.values import bit, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from malsim.memory import Memory
    from malsim.sim.run import Run

_SETTINGS: dict[str, Callable[[str], Any]] = {"gain": number, "offset": number, "digital": bit, "label": str}


@dataclass(frozen=True, kw_only=True)
class Channel:
    """One channel: shown is gain · value + offset, or, where `digital`, a lane that is up or down.

    `digital` None asks the values: bits, and signals that were never anything but 0 and 1, are lanes.
    """

    address: str
    gain: float = 1.0
    offset: float = 0.0
    digital: bool | None = None
    label: str = ""

    @classmethod
    def read(cls, text: str) -> Channel:
        """A channel from words: an address, then settings.

        >>> Channel.read("obs_a1a1-scores-eff gain=2 offset=-.5").offset
        -0.5
        """
        if not text.strip():
            raise UsageError("a channel without an address", where="--channel", allowed="a signal, a pin or an address")
        address, *words = text.split()
        settings: dict[str, Any] = {}
        for word in words:
            name, _, value = word.partition("=")
            setting = _SETTINGS[name](value) if name in _SETTINGS else None
            if setting is None:
                allowed = "gain=NUMBER offset=NUMBER digital=BIT label=WORD"
                raise UsageError("a channel has no such setting", where=address, given=word, allowed=allowed)
            settings[name] = setting
        return cls(address=address, **settings)

    @property
    def name(self) -> str:
        """What its line is called."""
        return self.label or self.address


@dataclass(frozen=True)
class Recording:
    """The record of one replication: frames to look addresses up in, the days of its ticks, and its events."""

    frames: Frames
    days: pl.Series
    events: pl.DataFrame
    rep: int

    @classmethod
    def of(cls, run: Run, rep: int | None = None) -> Recording:
        """The recording that a run made of one replication, its first if None."""
        rep = run.scenario.first if rep is None else rep
        pins = run.scenario.netlist.pins if run.scenario.netlist else {}
        return cls.of_frames(run.cells, run.signals, run.writers, run.events, rep=rep, memory=run.memory, pins=pins)

    @classmethod
    def of_frames(
        cls,
        cells: pl.DataFrame,
        signals: pl.DataFrame,
        writers: pl.DataFrame,
        events: pl.DataFrame,
        *,
        rep: int,
        memory: Memory | None = None,
        pins: Mapping[str, str] | None = None,
    ) -> Recording:
        """A recording from a run's frames; without its memory, addresses that cross edges are refused.

        `pins` says which signal is on a pin.
        """
        own = [frame.filter(pl.col("rep") == rep) for frame in (cells, signals, writers, events)]
        days = pl.concat([frame["t"] for frame in own[:3]]).unique().sort()
        if days.is_empty():
            reps = pl.concat([frame["rep"] for frame in (cells, signals, writers)]).unique().sort().head(8).to_list()
            hint = "a run of bands keeps no replications; record cells or addresses" if not reps else None
            allowed = ", ".join(map(str, reps))
            raise AddressError("nothing was recorded of this replication", given=rep, allowed=allowed or None, hint=hint)
        edges = None if memory is None else edges_by_handle(memory).filter(pl.col("rep") == rep)
        return cls(Frames(own[0], edges, own[2], own[1], pins or {}), days, own[3], rep)

    def signal(self, address: str) -> str:
        """The signal that an address is, or that is on the pin it names, or whose row it names; empty for none."""
        point = read(address, self.frames)
        return point.signal if isinstance(point, SignalRow) else ""

    def values(self, address: str) -> pl.Series:
        """A channel's value at each tick, null where it had none."""
        frame = one_value(address, self.frames)
        if not (frame["value"].dtype.is_numeric() or frame["value"].dtype in {pl.Boolean, pl.Null}):
            raise AddressError("a scope shows numbers and bits", given=address, hint="name a field: …-scores-eff")
        ticks = pl.DataFrame({"t": self.days})
        return ticks.join(frame.select("t", "value"), on="t", how="left", maintain_order="left")["value"]
