"""Execution of all standing programs on a memory: select members, run operations and propose findings as claims."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import admit
from malsim.memory.schema import NONE
from malsim.netlist.programs.operations import OPERATIONS, Members

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory import Memory, Rules
    from malsim.memory.graph.arrays import Ints
    from malsim.netlist.programs.operations import Output
    from malsim.netlist.programs.program import Program
    from ops.pin import Array

CONFIDENCE = 0.72
CONCERN = -0.5
CELL_CONFIDENCE = 0.6


@dataclass(frozen=True)
class Ran:
    """Result of running one program: its members, its output, and the gate's verdicts on its findings."""

    program: Program
    members: Members
    output: Output
    verdicts: pl.DataFrame | None = None


@dataclass(frozen=True)
class Pass:
    """Result of running all programs once: memory with their findings, runs in order, and outputs for the next pass."""

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
    """Run every program once, in order. Later programs see the findings that earlier programs have claimed.

    If `derive` is true, findings are proposed as claims (witnesses): confidence 0.72, checked, derived from the
    program, and concerning its `concernTarget`, if any. A finding is not repeated while its witness is active.
    """
    results = []
    outputs = dict(last or {})
    for program in programs:
        selection = members(program, memory, replications, first=first)
        slot = program.slot or program.key
        outputs[slot] = output = OPERATIONS[program.operation](program, selection, outputs.get(slot))
        if program.indices is not None:
            output = _where_active(output, program, memory, replications, first)
        verdicts = None
        if derive and output.witness.any():
            memory, verdicts = _derive(program, selection, output, memory, now, rules)
        results.append(Ran(program, selection, output, verdicts))
    return Pass(memory, tuple(results), outputs)


def _where_active(output: Output, program: Program, memory: Memory, replications: int, first: int) -> Output:
    indices = np.array(program.indices, dtype=np.int64)
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
    # The reference applies calibration factors at the gate, but not to the claims of its programs.
    factors = {f"program:{program.handle}": 1.0} if rules is not None and rules.recompute == "admit" else None
    if not claims:
        return memory, None
    admission = admit(memory, claims, rules, factors=factors)
    return admission.memory, admission.verdicts


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


def members(program: Program, memory: Memory, replications: int, *, first: int = 0) -> Members:
    """Select the member cells of a program: by key, by query words, along its edges, and by topics, entities and kinds.

    Each active cell is selected at most once, the program itself never. In replications where the program has no edges,
    a program without criteria selects all active cells that are not programs.
    """
    cells = memory.cells.select(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"), pl.col("rep").cast(pl.Int64) - first, "key", "kind", "status",
        "topics", "entities", "title", "body",
    )  # fmt: skip
    active = cells.filter((pl.col("status") == "active") & (pl.col("key") != program.key))
    plain = active.filter(pl.col("kind") != "prg")
    numbers = np.arange(first, first + replications)
    reps, names = np.repeat(numbers, len(program.keys)), list(program.keys) * len(numbers)
    rows = memory.index.rows(reps.tolist(), names, height=memory.cells.height)
    by_key = pl.DataFrame({"row": rows, "rep": reps - first}, schema=_SELECTION).filter(pl.col("row") != NONE)
    parts = [by_key, _by_words(program, plain), _by_edges(program, memory, numbers)]
    if program.topics or program.entities or program.kinds:
        parts.append(_by_tags(program, plain))
    selection = pl.concat(parts).unique(maintain_order=True)
    selection = selection.join(active.select("row"), on="row", how="semi", maintain_order="left")
    if not (program.keys or program.query or program.topics or program.entities or program.kinds):
        rest = plain.filter(_any_of("topics", program.shares)) if program.shares else plain
        rest = rest.select("row", "rep").join(selection, on="rep", how="anti", maintain_order="left")
        selection = pl.concat([selection, rest])
    selection = selection.sort("rep", maintain_order=True).filter(pl.int_range(pl.len()).over("rep") < program.limit)
    return Members(memory, selection["row"].to_numpy(), selection["rep"].to_numpy(), replications, first)


_SELECTION: dict[str, Any] = {"row": pl.Int64, "rep": pl.Int64}


def _by_words(program: Program, plain: pl.DataFrame) -> pl.DataFrame:
    words = [word for word in program.query.lower().split() if len(word) > 1]
    if not words:
        return pl.DataFrame(schema=_SELECTION)
    text = pl.concat_str("title", "body", separator=" ").str.to_lowercase()
    return plain.filter(pl.any_horizontal([text.str.contains(word, literal=True) for word in words])).select("row", "rep")


def _by_edges(program: Program, memory: Memory, numbers: Ints) -> pl.DataFrame:
    sources = memory.index.rows(numbers.tolist(), [program.key] * len(numbers), height=memory.cells.height)
    targets = memory.edges.filter(pl.col("source").is_in(sources[sources != NONE]))["target"]
    reps = memory.cells["rep"].gather(targets).cast(pl.Int64) - int(numbers[0])
    return pl.DataFrame([targets.alias("row"), reps.alias("rep")])


def _by_tags(program: Program, plain: pl.DataFrame) -> pl.DataFrame:
    cells = plain
    for name, values in (("topics", program.topics), ("entities", program.entities)):
        if values:
            cells = cells.filter(_any_of(name, values))
    if program.kinds:
        cells = cells.filter(pl.col("kind").cast(pl.String).is_in(list(program.kinds)))
    return cells.select("row", "rep")


def _any_of(column: str, values: tuple[str, ...]) -> pl.Expr:
    return pl.col(column).list.eval(pl.element().is_in(list(values))).list.any()
