"""Frames in which addresses are looked up, and parsing of a text there as a signal or an address."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import AddressError
from malsim.memory.law_steps import present
from malsim.netlist.language.address import Call, Name, Path, Reduced, Row, address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory import Memory
    from malsim.netlist.language.address import Address

_OF_ROW = re.compile(r"([^()]+)\(([^()]+)\)")


@dataclass(frozen=True, slots=True)
class SignalRow:
    """`right(pump)`: a signal that the frames hold, and of one with a value a row, whose."""

    signal: str
    row: str = ""

    def __str__(self) -> str:
        return f"{self.signal}({self.row})" if self.row else self.signal


@dataclass(frozen=True)
class Frames:
    """Frames of a run, or of one memory, in which addresses are looked up.

    `cells` has one row per t, rep and cell (its handle) with the fields as columns; `edges` names source and target by
    handle, with relation, weight and the time t it was written, and rep where replications differ, None where they were not
    kept; `writers` has one row per t, rep and writer; `signals` one per t, rep, signal and row, with its value; `pins` says
    which signal is on a pin.
    """

    cells: pl.DataFrame
    edges: pl.DataFrame | None = None
    writers: pl.DataFrame | None = None
    signals: pl.DataFrame | None = None
    pins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: Memory, *, t: float = 0.0) -> Frames:
        """Return the frames of one memory as a reader sees it at time t, see `malsim.memory.law_steps.present`."""
        memory = present(memory).memory
        handle = memory.cells["handle"]
        cells = memory.cells.with_columns(
            pl.lit(t, pl.Float64).alias("t"),
            handle.alias("cell"),
            handle.gather(memory.cells["successor"]).alias("successor"),
        )
        return cls(cells, edges_by_handle(memory), memory.writers.with_columns(pl.lit(t, pl.Float64).alias("t")))


def edges_by_handle(memory: Memory) -> pl.DataFrame:
    handle, source, target = memory.cells["handle"], memory.edges["source"], memory.edges["target"]
    rep = memory.cells["rep"].gather(source).alias("rep")
    return memory.edges.with_columns(rep, handle.gather(source).alias("source"), handle.gather(target).alias("target"))


def read(text: str, frames: Frames) -> Address | SignalRow:
    """Parse a text as a signal (by name or by pin), as a row of a signal, or else as an address.

    Raises `AddressError` for what is neither.
    """
    if frames.signals is not None:
        row = _OF_ROW.fullmatch(text)
        for name, own in ((text, ""), *(((row[1], row[2]),) if row else ())):
            signal = frames.pins.get(name, name)
            if (frames.signals["signal"] == signal).any():
                return SignalRow(signal, own)
    point = address(text)
    head, _, fields = text.partition("-")
    if fields and isinstance(point, Name) and (frames.cells["cell"].cast(pl.String) == head).any():
        return Row("cell", tuple(fields.split("-")), head)  # an item of a law, whose name is no handle
    return point


def crosses(text: str) -> bool:
    """Return True if an address reads more than one named cell: across edges, by a version, or many at once.

    >>> crosses("mean(dec_a3ee.~supports.*-scores-eff)"), crosses("dec_a3ee@v2-scores-eff"), crosses("dec_a3ee-scores-eff")
    (True, True, False)
    """
    try:
        point = address(text)
    except AddressError:  # a row of a signal, a metric
        return False
    return isinstance(point, Reduced | Call) or (isinstance(point, Path) and needs_edges(point))


def needs_edges(point: Path) -> bool:
    return bool(point.hops) or point.version is not None
