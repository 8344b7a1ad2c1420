"""Readers of a cell: the scenario's checks, the netlist's signals and alarms, and standing programs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import AddressError
from malsim.netlist.evaluate import Frames, cells_read, edges_by_handle
from malsim.netlist.language.address import Path, Reduced, address
from malsim.netlist.programs import members, program_cells, programs
from malsim.sim.settings.netlist_config import NetlistConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.memory import Memory
    from malsim.netlist.language.address import Address
    from malsim.netlist.programs import Program
    from malsim.netlist.wiring import Signal
    from malsim.sim.record.run_data import RunData

READERS = {"kind": pl.String, "name": pl.String, "address": pl.String, "place": pl.String}
Reader = tuple[str, str, str, str]


def readers(run: RunData, cell: str, *, t: float, rep: int) -> pl.DataFrame:
    """Return everything that reads a cell at the tick at `t` days.

    Columns: kind, name, address (through which the cell is read), place (file and line). Rows: each signal that reads the
    cell; each alarm that depends on such a signal; each standing program that has the cell as a member; each check that
    reads the cell or such a signal. Paths through cells that were not recorded are not followed.
    """
    return pl.DataFrame(list(_CellReaders(run, cell, t, rep).rows()), schema=READERS, orient="row")


def as_of(run: RunData, *, t: float, rep: int) -> Memory:
    """Return a replication's memory at the tick at `t` days. Only cells that were recorded as active then are active."""
    cells = run.memory.cells
    here = (pl.col("t") == t) & (pl.col("rep") == rep) & (pl.col("status") == "active")
    live = (pl.col("rep") == rep) & pl.col("handle").is_in(run.cells.filter(here)["cell"].implode())
    status = pl.when(live).then(pl.lit("active")).otherwise(pl.lit("superseded")).cast(cells["status"].dtype)
    return run.memory.with_cells(cells.with_columns(status=status))


@dataclass(frozen=True)
class _CellReaders:
    """Search for everything that reads one cell, in one replication at a recorded tick."""

    run: RunData
    cell: str
    t: float
    rep: int

    def rows(self) -> Iterator[Reader]:
        wires, checks = self.run.scenario.netlist or NetlistConfig.of(""), self.run.scenario.checks
        net = wires.net
        direct = [signal for signal in net.signals.values() if signal.writer and self._reads(signal.writer.address)]
        moved = net.fed_by(signal.name for signal in direct)
        yield from (_entry("signal", signal) for signal in direct)
        yield from (_entry("alarm", signal) for signal in net.alarms if signal.name in moved)
        yield from self._programs(wires)
        for check in checks:
            for read in check.reads:
                if wires.pins.get(read, read).removesuffix(f"({self.cell})") in moved or self._reads_text(read):
                    break
            else:
                continue
            yield "check", check.name, read, f"{self.run.scenario.path or self.run.scenario.name}:{check.line}"

    @cached_property
    def _frames(self) -> Frames:
        here = (pl.col("t") == self.t) & (pl.col("rep") == self.rep)
        return Frames(self.run.cells.filter(here), edges_by_handle(self.run.memory).filter(pl.col("rep") == self.rep))

    def _reads(self, where: Address) -> bool:
        inner = where.inner if isinstance(where, Reduced) else where
        try:
            if isinstance(inner, Path):
                name = inner.handle if inner.version is None else f"{inner.handle}@v{inner.version}"
                handle = str(self.run.memory.cells["handle"][self.run.memory.row(name, rep=self.rep)])
                where = replace(inner, handle=handle, version=None)
            return self.cell in cells_read(where, self._frames)["cell"]
        except AddressError:  # the address starts at a cell that does not exist
            return False

    def _reads_text(self, text: str) -> bool:
        try:
            return self._reads(address(text))
        except AddressError:  # the text is not an address, but names a metric or a fact's signal
            return False

    @cached_property
    def _memory(self) -> Memory:
        return as_of(self.run, t=self.t, rep=self.rep)

    def _programs(self, wires: NetlistConfig) -> Iterator[Reader]:
        lines = {item.op: f"{item.file or 'netlist'}:{item.line}" for item in wires.net.programs}
        for program in programs(wires.net):
            if self._has_member(program):
                yield "program", program.operation, program.handle, lines[program.operation]
        for cell in program_cells(self._memory, after=0, tick=0, first=self.rep):
            is_active = (pl.col("rep") == self.rep) & (pl.col("handle") == cell.handle) & (pl.col("status") == "active")
            standing = 0 in cell.indices and self._memory.cells.select(is_active.any()).item()
            for program in cell.programs if standing else ():
                if self._has_member(program):
                    yield "program", program.operation, program.handle, cell.handle

    def _has_member(self, program: Program) -> bool:
        rows = members(program, self._memory, 1, first=self.rep).rows
        return self.cell in self.run.memory.cells["handle"].gather(rows)


def _entry(kind: str, signal: Signal) -> Reader:
    link = signal.writer
    if link is None:
        return kind, signal.name, "", ""
    return kind, signal.name, link.word, f"{link.statement.file or 'netlist'}:{link.statement.line}"
