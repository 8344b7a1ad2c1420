"""Tests that standing programs give the same numbers and derived claims as recorded runs of the reference (Recall)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import ops
from malsim.importers.reading.dates import days
from malsim.importers.reading.put import EDGES, put
from malsim.importers.recall.cells import rows_of
from malsim.memory import Memory, Rules, admit, tick
from malsim.netlist import parse
from malsim.netlist.programs import Program, Ran, programs, run
from malsim.netlist.wiring import link
from tests.test_recall_vectors import files, load

RULES = Rules.recall_v5()
START = days("2026-05-01") or 0.0
FLAGS = {"requiresReview": "requires_review", "pinned": "pinned", "annexed": "annexed", "locked": "locked"}
NAMES = {
    "memberCount": "", "approverCount": "approver_count", "minEff": "min_eff", "distinctActors": "distinct_actors",
    "streakMagnitude": "streak_magnitude", "streakThreshold": "streak_threshold", "averageConfidence": "average_confidence",
    "averageEffective": "average_effective", "maxConcern": "max_concern", "firedCount": "fired_count",
}  # fmt: skip
OF_MEMBERS = {"memberReferences", "memberValues", "movers", "topMover", "approving", "fired", "ranked", "selected"}


VECTORS = [(file.stem, load(file)) for file in files("programs*.json")]
RUNS = [pytest.param(run, id=f"{stem}-{run['name']}") for stem, vectors in VECTORS for run in vectors["runs"]]
TABLES = [pytest.param(vectors["lut5"]["vectors"], id=stem) for stem, vectors in VECTORS if "lut5" in vectors]
WHOLE = [pytest.param(vectors["integrated"]["steps"], id=stem) for stem, vectors in VECTORS if "integrated" in vectors]


def stored(key: str, handle: str, kind: str, title: str, **scores: Any) -> dict[str, Any]:
    return {
        "key": key, "handle": handle, "kind": kind, "title": title, "body": "b", "owner": scores.pop("owner", "claude-code"),
        "scores": {"conf": 0.6, "effective": scores.get("conf", 0.6)} | scores, "createdAt": "2026-05-01T00:00:00Z",
    }  # fmt: skip


def recorded_memory(recorded: dict[str, Any]) -> Memory:
    """Return a memory with a recorded run's member cells and its program's cell."""
    kind = "tsk" if recorded["operation"] == "allocate" else "obs"
    cells = [stored("prog0001", "prg_0001", "prg", f"{recorded['operation']} under test")]
    for index, member in enumerate(recorded["members"], 1):
        scores = {"uncertainty": (1 - member["conf"]) * 0.7, "concern": (1 - member["conf"]) * 0.3} | {
            name: value for name, value in member.items() if name not in {"key", "work"}
        }
        rounded = {
            name: math.floor(value * 1000 + 0.5) / 1000 if name in {"uncertainty", "concern"} else value
            for name, value in scores.items()
        }
        cells.append(stored(member["key"], f"{kind}_{index}000", kind, f"title {member['key']}", **rounded))
    return put(Memory.empty(), rows_of(cells, start=START), pl.DataFrame(schema=EDGES)).memory


def changed(memory: Memory, values: dict[str, Any]) -> Memory:
    """Return the memory after applying the cell values that a recorded frame lists under `set`."""
    cells = memory.cells
    for key, value in values.items():
        fields: dict[str, Any] = {"effective": value} if isinstance(value, (int, float)) else dict(value)
        fields |= {FLAGS[name]: flag for name, flag in fields.pop("flags", {}).items()}
        cells = cells.with_columns(
            pl.when(pl.col("key") == key).then(pl.lit(new).cast(cells.schema[name])).otherwise(name).alias(name)
            for name, new in fields.items()
        )
    return memory.with_cells(cells)


def same(ours: Any, theirs: Any) -> bool:
    if theirs is None:
        return bool(np.isnan(ours))
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
        return math.isclose(float(ours), theirs, abs_tol=1e-12)
    return bool(ours == theirs)


def output(ran: Ran, name: str) -> Any:
    value = ran.output.values[NAMES.get(name) or name]
    return value[..., 0] if isinstance(value, np.ndarray) else value


def listed(ran: Ran, mask: np.ndarray[Any, Any], *fields: str) -> list[tuple[Any, ...]]:
    keys = ran.members.keys()
    columns = [ran.output.of_members[field] for field in fields]
    return [(keys[at], *(column[at].item() for column in columns)) for at in np.flatnonzero(mask)]


def compare_members(ran: Ran, theirs: dict[str, Any], *, ordered: bool) -> None:
    keys, columns = ran.members.keys(), ran.output.of_members
    references = [member["key"] for member in theirs.get("memberReferences", [])]
    if "memberReferences" in theirs:
        assert (keys == references) if ordered else (set(keys) == set(references))
    if "memberValues" in theirs:
        assert dict(zip(keys, columns["value"].tolist(), strict=True)) == pytest.approx(theirs["memberValues"])
        movers = sorted(listed(ran, columns["mover"] > 0, "mover", "previous", "value", "change"), key=lambda row: row[1])
        assert [(row[0], *map(float, row[2:])) for row in movers] == [
            (mover["key"], *(pytest.approx(mover[name]) for name in ("previous", "current", "change")))
            for mover in theirs["movers"]
        ]
    if "approving" in theirs:
        approving = {member["key"]: member["effective"] for member in theirs["approving"]}
        assert dict(listed(ran, columns["approves"], "effective")) == pytest.approx(approving)
    if "fired" in theirs:
        assert {row[0] for row in listed(ran, columns["fired"])} == {member["key"] for member in theirs["fired"]}
    for name, mask in (
        ("ranked", np.ones(len(keys), dtype=bool)),
        ("selected", columns.get("selected", np.zeros(len(keys), dtype=bool))),
    ):
        if name in theirs:
            rows = sorted(listed(ran, mask, "rank", "score"), key=lambda row: row[1])
            expected = [(member["key"], pytest.approx(member["score"])) for member in theirs[name]]
            assert [(row[0], row[2]) for row in rows] == expected


def compare(ran: Ran, theirs: dict[str, Any], *, ordered: bool = True) -> None:
    assert int(ran.members.count[0]) == theirs["memberCount"]
    for name, value in theirs.items():
        if name not in OF_MEMBERS | {"operation", "memberCount", "concernTarget", "witness"}:
            assert same(output(ran, name), value), f"{name}: {output(ran, name)} is not {value}"
    compare_members(ran, theirs, ordered=ordered)
    assert bool(ran.output.witness[0]) == ("witness" in theirs)


@pytest.mark.parametrize("recorded", RUNS)
def test_program_output_equals_the_recorded_output(recorded: dict[str, Any]) -> None:
    memory, operation = recorded_memory(recorded), recorded["operation"]
    work = {member["key"]: member["work"] for member in recorded["members"] if "work" in member}
    program = Program(
        operation=operation, name=f"{operation} under test", key="prog0001", handle="prg_0001",
        keys=tuple(member["key"] for member in recorded["members"]), settings=(recorded["params"] or {}) | {"work": work},
    )  # fmt: skip
    last = None
    written: set[str] = set()
    for frame in recorded["frames"]:
        memory = changed(memory, frame["set"])
        now = days(frame["now"], START) or 0.0
        before = memory.cells.height
        result = run([program], memory, now=now, last=last, derive=True, rules=RULES)
        (ran,), memory, last = result.ran, result.memory, result.last
        compare(ran, frame["output"])
        derived = frame["derived"]
        assert (memory.cells.height > before) == (derived is not None and derived["accepted"] and not derived["duplicateOf"])
        if derived is not None and not derived["duplicateOf"]:
            compare_witness(memory, derived, written)
        effective = dict(memory.cells.select("key", "effective").rows())
        for key, value in frame["effective_after"].items():
            assert math.isclose(effective[key], value, abs_tol=1e-12)


def compare_witness(memory: Memory, theirs: dict[str, Any], written: set[str]) -> None:
    cell = memory.cells.row(memory.cells.height - 1, named=True)
    assert cell["key"] not in written
    written.add(cell["key"])
    assert (cell["kind"], cell["stated"], cell["writer"]) == (theirs["kind"], theirs["conf"], theirs["owner"])
    assert (cell["stability"], cell["topics"]) == (theirs["stability"], theirs["topics"])
    edges = memory.edges.filter(pl.col("source") == memory.cells.height - 1)
    keys = memory.cells["key"].gather(edges["target"])
    ours = sorted(zip(edges["relation"].to_list(), keys.to_list(), edges["weight"].to_list(), strict=True))
    assert ours == sorted(tuple(edge) for edge in theirs["edges"])


@pytest.mark.parametrize("vectors", TABLES)
def test_lookup_table_of_five_inputs_matches_the_reference(vectors: list[Any]) -> None:
    reflex = ops.load("reflex", inputs=5)
    for table, bits, expected in vectors:
        result = reflex.function(np.array(bits, dtype=bool)[:, np.newaxis], table=np.array([int(table) % 2**32]))
        assert bool(result["out"][0]) is expected


@pytest.mark.parametrize("steps", WHOLE)
def test_netlist_programs_match_the_reference(steps: list[Any]) -> None:
    memory, last = Memory.empty(), None
    standing_programs: tuple[Program, ...] = ()
    for step in steps:
        if step["op"] == "admit":
            proposal, context = step["proposal"], step["ctx"]
            claim = {name: proposal[name] for name in ("kind", "title", "body", "confidence", "topics", "edges")
                     if name in proposal}  # fmt: skip
            writer = proposal.get("owner", "claude-code")
            claim |= {"key": context["key"], "writer": writer, "t": days(context["now"], START)}
            taken = admit(memory, [claim], RULES)
            memory = taken.memory
            assert (taken.verdicts["verdict"][0] == "admitted") is step["accepted"]
        elif step["op"] == "netlist":
            standing_programs = programs(link(parse(step["text"])))
            assert {program.operation for program in standing_programs} == {name for name, _ in step["programsCreated"]}
        else:
            now = days(step["now"], START) or 0.0
            result = run(standing_programs, tick(memory, now, RULES), now=now, last=last, derive=step["derive"], rules=RULES)
            memory, last = result.memory, result.last
            assert [ran.program.operation for ran in result.ran] == step["order"]
            for ran, theirs in zip(result.ran, step["outputs"], strict=True):
                compare(ran, theirs, ordered=False)
        effective = {key: row for key, *row in memory.cells.select("key", "effective", "currency", "status").rows()}
        for key, (value, currency, status) in step.get("after", step.get("after_non_derived", {})).items():
            assert effective[key][:2] == pytest.approx([value, currency], abs=1e-12)
            assert effective[key][2] == status
