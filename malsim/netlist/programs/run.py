"""Pass of the standing programs over a memory, which may propose their findings as claims."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.memory import admit
from malsim.memory.schema import NONE
from malsim.netlist.programs.members import members
from malsim.netlist.programs.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from malsim.memory import Memory, Rules
    from malsim.netlist.programs.members import Members
    from malsim.netlist.programs.operations import Output
    from malsim.netlist.programs.program import Program
    from ops.pin import Array

CONFIDENCE = 0.72
CONCERN = -0.5
CELL_CONFIDENCE = 0.6


@dataclass(frozen=True)
class Ran:
    """Run of one program: its members, its output, and the gate's verdicts on its findings."""

    program: Program
    members: Members
    output: Output
    verdicts: pl.DataFrame | None = None


@dataclass(frozen=True)
class Pass:
    """Result of a pass: the memory with the witnesses, the runs in order, and the outputs for the next pass."""

    memory: Memory
    ran: tuple[Ran, ...]
    last: Mapping[str, Output] = field(default_factory=dict)


def run(
    programs: Sequence[Program],
    memory: Memory,
    *,
    now: float,
    last: Mapping[str, Output] | None = None,
    derive: bool = False,
    rules: Rules | None = None,
    replications: int = 1,
    first: int = 0,
) -> Pass:
    """Run every program once, in order; later programs see the witnesses of earlier ones.

    With `derive`, findings are proposed as claims (witnesses): confidence 0.72, checked, derived from the program, and
    concerning its `concernTarget`, if any. A finding is not written again while its witness is active.
    """
    results = []
    outputs = dict(last or {})
    for program in programs:
        selection = members(program, memory, replications, first=first)
        slot = program.slot or program.key
        outputs[slot] = output = OPERATIONS[program.operation](program, selection, outputs.get(slot))
        if program.places is not None:
            output = _where_active(output, program, memory, replications, first)
        verdicts = None
        if derive and output.witness.any():
            memory, verdicts = _derive(program, selection, output, memory, now, rules)
        results.append(Ran(program, selection, output, verdicts))
    return Pass(memory, tuple(results), outputs)


def _where_active(output: Output, program: Program, memory: Memory, replications: int, first: int) -> Output:
    indices = np.array(program.places, dtype=np.int64)
    rows = memory.index.rows((indices + first).tolist(), [program.key] * len(indices), height=memory.cells.height)
    runs = np.zeros(replications, dtype=bool)
    runs[indices[(memory.column("status")[rows] == 0) & (rows != NONE)]] = True
    tripped = {"tripped": output.values["tripped"] & runs} if "tripped" in output.values else {}
    return replace(output, witness=output.witness & runs, values=output.values | tripped)


def _derive(
    program: Program, selection: Members, output: Output, memory: Memory, now: float, rules: Rules | None
) -> tuple[Memory, pl.DataFrame | None]:
    reps = np.flatnonzero(output.witness)
    cells = memory.index.rows((reps + selection.first).tolist(), [program.key] * len(reps), height=memory.cells.height)
    missing = [_cell(program, int(rep) + selection.first, now) for rep in reps[cells == NONE]]
    if missing:
        memory, _ = admit(memory, missing, rules)
    claims = []
    for rep in reps.tolist():
        claim = _witness(program, selection, output, rep, now)
        standing = memory.index.rows([rep + selection.first], [claim["key"]], height=memory.cells.height)[0]
        if standing == NONE:
            claims.append(claim)
        elif memory.cells["status"][int(standing)] != "active":
            claims.append(claim | {"key": f"{claim['key']}_{memory.cells.height}"})
    # The reference fixes a factor at the gate, where its programs have none.
    factors = {f"program:{program.handle}": 1.0} if rules is not None and rules.recompute == "admit" else None
    return admit(memory, claims, rules, factors=factors) if claims else (memory, None)


def _cell(program: Program, rep: int, now: float) -> dict[str, Any]:
    return {
        "rep": rep, "t": now, "sequence": -1, "key": program.key, "handle": program.handle, "kind": "prg",
        "writer": "netlist", "title": program.title, "body": f"stands on the tick and does {program.operation}",
        "confidence": CELL_CONFIDENCE, "origin": "program", "topics": list(program.topics),
    }  # fmt: skip


def _witness(program: Program, selection: Members, output: Output, rep: int, now: float) -> dict[str, Any]:
    finding = _finding(selection, output, rep)
    name = hashlib.sha256(json.dumps([program.key, finding], sort_keys=True).encode()).hexdigest()[:24]
    target = program.settings.get("concernTarget")
    edges: list[dict[str, Any]] = [{"relation": "derived_from", "target": program.key, "weight": 0.0}]
    if isinstance(target, str):
        edges.append({"relation": "concerns", "target": target, "weight": CONCERN})
    numbers = ", ".join(f"{name} {value}" for name, value in finding["said"].items() if not isinstance(value, list))
    return {
        "rep": rep + selection.first, "t": now, "sequence": 0, "key": f"drv_program_run_{name}",
        "kind": "ver" if program.operation == "quorum" else "obs", "writer": f"program:{program.handle}",
        "title": f"{program.title}: {program.operation} speaks up",
        "body": f"{numbers or 'stands'}; over {int(selection.count[rep])} cells; finding {name}",
        "confidence": CONFIDENCE, "verification": "checked", "origin": "program", "stability": "volatile",
        "topics": ["program", program.operation], "edges": edges,
    }  # fmt: skip


def _finding(selection: Members, output: Output, rep: int) -> dict[str, Any]:
    mine = selection.reps == rep
    keys = [key for key, is_mine in zip(selection.keys(), mine.tolist(), strict=True) if is_mine]
    return {
        "members": keys,
        "said": {name: _value_of(value, rep, selection.replications) for name, value in output.values.items()},
        "of_members": {name: _as_list(values[mine]) for name, values in output.of_members.items()},
    }


def _value_of(value: Any, rep: int, replications: int) -> Any:
    if isinstance(value, np.ndarray):
        return _as_list(np.atleast_1d(value[..., rep])) if value.ndim > 1 else _as_list(value[rep : rep + 1])[0]
    return value[rep] if isinstance(value, list) and len(value) == replications else value


def _as_list(values: Array) -> list[Any]:
    return [None if isinstance(value, float) and math.isnan(value) else value for value in values.tolist()]
