"""Ops that readers write to watch cells that they keep opening. Each op is a program claim that must pass the gate."""

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

WATCH, DRIFT, TREND = range(3)  # indexes into READER_OPS
MOVES = 0.05  # write a trend op if effective confidence changed at least this much
CONFIDENCE = 0.6  # stated confidence of the program claims written for ops


class OpDraft(NamedTuple):
    """Draft ops that await the gate's verdict: replication, cell, slot and kind of each op, and a mask of garbled texts."""

    turn: Turn
    rep: Ints
    cell: Ints
    slot: Ints
    kind: Ints
    garbled: Bools


class WrittenOps:
    """Ops that the readers have written, as a table (replications, slots) of the watched cells.

    The netlist has one op of each kind in each slot, and these ops initially read no cell. A reader takes the first slot
    without an active cell and writes a `prg` claim. Once the claim is admitted, the op reads the cell.
    """

    def __init__(self, reader: Reader, context: RunContext) -> None:
        self.reader, self._log, self._first = reader, context.log, int(context.reps[0])
        shape = (len(context.reps), int(reader.ops))
        self._cell, self._program, self._kind = np.full((3, *shape), NONE, dtype=np.int64)
        self._fires, self._captures = np.zeros((2, *shape), dtype=bool)
        self._first_worth = np.zeros(0)  # score of each cell at the first of its recurring reads
        self._waiting: list[OpDraft] = []

    def note(self, rep: Ints, rows: Ints, begins: Bools, snapshot: Snapshot) -> None:
        read = (self._cell[rep] == rows[:, None]) & self._fires[rep]
        np.logical_or.at(self._captures, rep, read)
        if len(self._first_worth) < len(snapshot.view):
            self._first_worth = np.append(self._first_worth, np.zeros(len(snapshot.view)))
        self._first_worth[rows[begins]] = snapshot.worth[rows[begins]]

    def write(self, turn: Turn, rep: Ints, rows: Ints, snapshot: Snapshot, garbled: Callable[[int], Bools]) -> None:
        """Draft an op for each of the given cells.

        `garbled(n)` returns a mask of the readers whose nth op in this turn contains a typing error, so that it cannot
        be parsed.
        """
        fixed = snapshot.view.column("immutable", rows)
        may = np.ones(len(rows), dtype=bool) if fixed is None else ~fixed.astype(bool)
        self._log.of_cells("refused", turn, rep[~may], rows[~may], "no op: the cell is immutable")
        rep, rows = rep[may], rows[may]
        moves = np.abs(snapshot.worth[rows] - self._first_worth[rows]) >= MOVES
        kind = np.where(snapshot.contradicted[rows], DRIFT, np.where(moves, TREND, WATCH))
        turns, used = rank_within_group(rep), np.zeros(self._cell.shape, dtype=bool)
        for nth in range(int(turns.max(initial=-1)) + 1):
            here = turns == nth
            self._draft(turn, rep[here], rows[here], kind[here], snapshot.active, garbled(nth), used)

    def _draft(self, turn: Turn, rep: Ints, rows: Ints, kind: Ints, active: Bools, garbled: Bools, used: Bools) -> None:
        cell = self._cell[rep]
        free = ((cell == NONE) | ~active[cell]) & ~used[rep]
        has, slot = free.any(axis=1), free.argmax(axis=1)
        detail = f"no op: all {self._cell.shape[1]} watch active cells"
        self._log.of_cells("refused", turn, rep[~has], rows[~has], detail)
        rep, rows, slot, kind = rep[has], rows[has], slot[has], kind[has]
        used[rep, slot] = True
        self._waiting.append(OpDraft(turn, rep, rows, slot, kind, garbled[rep]))

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

    def _claims(self, draft: OpDraft, memory: Memory, now: float) -> pl.DataFrame:
        handles = memory.cells["handle"]
        names, before = handles.gather(draft.cell).to_list(), self._program[draft.rep, draft.slot]
        claims = list[dict[str, Any]]()
        for rep, slot, kind, name, last, garbled in zip(
            draft.rep.tolist(), draft.slot.tolist(), draft.kind.tolist(), names, before.tolist(), draft.garbled.tolist(),
            strict=True,
        ):  # fmt: skip
            op, (pin, setting) = _KINDS[kind], READER_OPS[_KINDS[kind]].level
            # a garbled op is misspelt: its first letter is missing
            level, word = getattr(self.reader, setting), op[1:] if garbled else op
            supersedes = [{"relation": "supersedes", "target": handles[last], "weight": 0.0}] if last != NONE else []
            claims.append({
                "rep": rep + self._first, "t": now, "sequence": draft.turn.number, "kind": "prg", "writer": "reader",
                "title": f"{op} {name}", "body": f"addf {word} tick [keys: {name}] [{pin}: {level:g}] [as: {op_name(slot)}]",
                "confidence": CONFIDENCE, "source_refs": [name], "edges": supersedes,
            })  # fmt: skip
        return checked(claims)

    def _wire(self, draft: OpDraft, result: GateResult) -> None:
        new = np.flatnonzero(result.verdict == 0)
        rep, rows, slot, kind = draft.rep[new], draft.cell[new], draft.slot[new], draft.kind[new]
        self._cell[rep, slot], self._kind[rep, slot], self._program[rep, slot] = rows, kind, result.row[new]
        self._fires[rep, slot], self._captures[rep, slot] = False, True
        texts = []
        for index, op in zip(slot.tolist(), (_KINDS[number] for number in kind.tolist()), strict=True):
            pin, setting = READER_OPS[op].level
            texts.append(f"{op_name(index)}: {op} scores-eff {pin} {getattr(self.reader, setting):g}")
        self._log.of_cells("wired", draft.turn, rep, rows, texts)

    def cells(self) -> dict[str, Ints]:
        return {
            op_cell(slot, kind): np.where(kinds == number, cells, NONE)
            for slot, (cells, kinds) in enumerate(zip(self._cell.T, self._kind.T, strict=True))
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
        """Return two masks over the pushed lines: lines whose cell is watched by an op, and lines for which an op fires."""
        same = (row[:, :, None] == self._cell[:, None, :]) & (row[:, :, None] != NONE)
        return same.any(axis=2), (same & self._fires[:, None, :]).any(axis=2)


_KINDS = tuple(READER_OPS)
