"""Ops that readers write: a program on each cell that recurs, through the gate, in place of opening it again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from malsim.memory.gate.admit import judge, screened
from malsim.memory.gate.checks import validate
from malsim.memory.gate.claims import as_claims
from malsim.memory.graph.frames import rank_within_group
from malsim.memory.schema import NONE
from malsim.netlist.programs import checked
from malsim.sim.settings.netlist_config import READER_OPS, op_cell, op_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from malsim.memory import Memory, Rules
    from malsim.memory.gate.verdicts import GateResult
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.sim.context.event_log import RunContext
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.context.turn import Turn
    from malsim.sim.settings.reader import Reader

WATCH, DRIFT, TREND = range(3)  # indexes in READER_OPS
MOVES = 0.05  # change of effective since the first read that makes a cell a moving one
CONFIDENCE = 0.6  # stated by a program's claim


class OpDraft(NamedTuple):
    """Ops to be admitted: replication, cell, slot and kind of each, and whether the text is garbled."""

    turn: Turn
    rep: Ints
    cell: Ints
    place: Ints
    kind: Ints
    garbled: Bools


class WrittenOps:
    """Ops that the readers have written: a table (replications, slots) of the cells that the ops read.

    In the netlist, each slot has an op of each kind, which at first reads no cell. A reader takes the first slot whose
    op reads no active cell, and writes a `prg` claim about it. When that claim is admitted, the op reads the cell.
    """

    def __init__(self, reader: Reader, context: RunContext) -> None:
        self.reader, self._log, self._first = reader, context.log, int(context.reps[0])
        shape = (len(context.reps), int(reader.ops))
        self._cell, self._program, self._kind = np.full((3, *shape), NONE, dtype=np.int64)
        self._fires, self._captures = np.zeros((2, *shape), dtype=bool)
        self._was = np.zeros(0)  # worth of each cell at the first of its recurring reads
        self._waiting: list[OpDraft] = []

    def note(self, rep: Ints, rows: Ints, begins: Bools, snapshot: Snapshot) -> None:
        read = (self._cell[rep] == rows[:, None]) & self._fires[rep]
        np.logical_or.at(self._captures, rep, read)
        if len(self._was) < len(snapshot.view):
            self._was = np.append(self._was, np.zeros(len(snapshot.view)))
        self._was[rows[begins]] = snapshot.worth[rows[begins]]

    def write(self, turn: Turn, rep: Ints, rows: Ints, snapshot: Snapshot, garbled: Callable[[int], Bools]) -> None:
        """Write an op for each of these cells; `garbled` says of the nth in a turn where it does not parse."""
        fixed = snapshot.view.column("immutable", rows)
        may = np.ones(len(rows), dtype=bool) if fixed is None else ~fixed.astype(bool)
        self._log.unwired(turn, rep[~may], rows[~may], "the cell is immutable")
        rep, rows = rep[may], rows[may]
        moves = np.abs(snapshot.worth[rows] - self._was[rows]) >= MOVES
        kind = np.where(snapshot.contradicted[rows], DRIFT, np.where(moves, TREND, WATCH))
        turns, used = rank_within_group(rep), np.zeros(self._cell.shape, dtype=bool)
        for nth in range(int(turns.max(initial=-1)) + 1):
            own = turns == nth
            self._write(turn, rep[own], rows[own], kind[own], snapshot.active, garbled(nth), used)

    def _write(self, turn: Turn, rep: Ints, rows: Ints, kind: Ints, active: Bools, garbled: Bools, used: Bools) -> None:
        cell = self._cell[rep]
        free = ((cell == NONE) | ~active[cell]) & ~used[rep]
        has, index = free.any(axis=1), free.argmax(axis=1)
        self._log.unwired(turn, rep[~has], rows[~has], f"all {self._cell.shape[1]} watch active cells")
        rep, rows, index, kind = rep[has], rows[has], index[has], kind[has]
        used[rep, index] = True
        self._waiting.append(OpDraft(turn, rep, rows, index, kind, garbled[rep]))

    def admit(self, memory: Memory, now: float, rules: Rules, on_verdicts: Callable[[GateResult], None]) -> Memory:
        waiting, self._waiting = self._waiting, []
        for draft in waiting:
            if draft.rep.size:
                claims = as_claims(self._claims(draft, memory, now))
                result = judge(memory, screened(validate(claims, rules), rules), rules)
                on_verdicts(result)
                self._wire(draft, result)
                memory = result.memory
        return memory

    def _claims(self, one: OpDraft, memory: Memory, now: float) -> pl.DataFrame:
        handles = memory.cells["handle"]
        names, before = handles.gather(one.cell).to_list(), self._program[one.rep, one.place]
        claims = list[dict[str, Any]]()
        for rep, index, kind, name, last, garbled in zip(
            one.rep.tolist(), one.place.tolist(), one.kind.tolist(), names, before.tolist(), one.garbled.tolist(),
            strict=True,
        ):  # fmt: skip
            body = program_text(_KINDS[kind], index, name, self.reader)
            body = body.replace(_KINDS[kind], _KINDS[kind][1:], 1) if garbled else body  # drop a letter
            replaces = [{"relation": "supersedes", "target": handles[last], "weight": 0.0}] if last != NONE else []
            claims.append({
                "rep": rep + self._first, "t": now, "sequence": one.turn.number, "kind": "prg", "writer": "reader",
                "title": f"{_KINDS[kind]} {name}", "body": body, "confidence": CONFIDENCE, "source_refs": [name],
                "edges": replaces,
            })  # fmt: skip
        return checked(claims)

    def _wire(self, one: OpDraft, result: GateResult) -> None:
        new = np.flatnonzero(result.verdict == 0)
        rep, rows, index, kind = one.rep[new], one.cell[new], one.place[new], one.kind[new]
        self._cell[rep, index], self._kind[rep, index], self._program[rep, index] = rows, kind, result.row[new]
        self._fires[rep, index], self._captures[rep, index] = False, True
        texts = [event_text(_KINDS[what], at, self.reader) for at, what in zip(index.tolist(), kind.tolist(), strict=True)]
        self._log.wired(one.turn, rep, rows, texts)

    def cells(self) -> dict[str, Ints]:
        item = enumerate(zip(self._cell.T, self._kind.T, strict=True))
        return {
            op_cell(index, kind): np.where(kinds == number, cells, NONE)
            for index, (cells, kinds) in item
            for number, kind in enumerate(_KINDS)
        }

    def captures(self) -> dict[str, Bools]:
        captures, self._captures = self._captures, np.zeros_like(self._captures)
        return {f"{op_name(index)}-taken": column for index, column in enumerate(captures.T)}

    def read(self, signals: Mapping[str, Array]) -> None:
        for index in range(self._cell.shape[1]):
            fires = np.stack([np.asarray(signals[f"{op_name(index)}-{kind.fires}"]) for kind in READER_OPS.values()])
            self._fires[:, index] = np.take_along_axis(fires, np.maximum(self._kind[:, index], 0)[None], axis=0)[0]

    def lines(self, row: Ints) -> tuple[Bools, Bools]:
        """Return two masks over the pushed lines: lines whose cell an op reads, and lines for which an op fires."""
        same = (row[:, :, None] == self._cell[:, None, :]) & (row[:, :, None] != NONE)
        return same.any(axis=2), (same & self._fires[:, None, :]).any(axis=2)


_KINDS = tuple(READER_OPS)


def program_text(kind: str, place: int, cell: str, reader: Reader) -> str:
    """Return the body of an op's claim.

    >>> from malsim.sim.settings.reader import Reader
    >>> program_text("watch", 0, "obs_9c1f", Reader())
    'addf watch tick [keys: obs_9c1f] [below: 0.6] [as: reader-op-1]'
    """
    pin, setting = READER_OPS[kind].level
    return f"addf {kind} tick [keys: {cell}] [{pin}: {getattr(reader, setting):g}] [as: {op_name(place)}]"


def event_text(kind: str, place: int, reader: Reader) -> str:
    """Return the text of an op in an event.

    >>> from malsim.sim.settings.reader import Reader
    >>> event_text("trend", 1, Reader())
    'reader-op-2: trend scores-eff falls 0.02'
    """
    pin, setting = READER_OPS[kind].level
    return f"{op_name(place)}: {kind} scores-eff {pin} {getattr(reader, setting):g}"
