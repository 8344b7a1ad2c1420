"""The reference's standing programs: the same numbers, run for run, and what they derive through the gate."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
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

RULES = Rules.recall_v5()
START = days("2026-05-01") or 0.0
FLAGS = {"requiresReview": "requires_review", "pinned": "pinned", "annexed": "annexed", "locked": "locked"}
NAMES = {
    "memberCount": "", "approverCount": "approver_count", "minEff": "min_eff", "distinctActors": "distinct_actors",
    "streakMagnitude": "streak_magnitude", "streakThreshold": "streak_threshold", "averageConfidence": "average_confidence",
    "averageEffective": "average_effective", "maxConcern": "max_concern", "firedCount": "fired_count",
}  # fmt: skip
OF_MEMBERS = {"memberReferences", "memberValues", "movers", "topMover", "approving", "fired", "ranked", "selected"}


def files() -> list[Path]:
    named = os.environ.get("MALSIM_VECTORS")
    folder = Path(named) if named else Path(__file__).parent / "vectors"
    return sorted((folder / "recall" if (folder / "recall").is_dir() else folder).glob("programs*.json"))


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


RUNS = [pytest.param(one, id=f"{file.stem}-{one['name']}") for file in files() for one in load(file)["runs"]]
TABLES = [pytest.param(load(file)["lut5"]["vectors"], id=file.stem) for file in files() if "lut5" in load(file)]
WHOLE = [pytest.param(load(file)["integrated"]["steps"], id=file.stem) for file in files() if "integrated" in load(file)]


def test_there_are_vectors() -> None:
    assert files(), "MALSIM_VECTORS names a folder without programs*.json"


def stored(key: str, handle: str, kind: str, title: str, **scores: Any) -> dict[str, Any]:
    return {
        "key": key, "handle": handle, "kind": kind, "title": title, "body": "b", "owner": scores.pop("owner", "claude-code"),
        "scores": {"conf": 0.6, "effective": scores.get("conf", 0.6)} | scores, "createdAt": "2026-05-01T00:00:00Z",
    }  # fmt: skip


def standing(one: dict[str, Any]) -> Memory:
    """The members of a run and its program's cell, put in as they stand."""
    kind = "tsk" if one["operation"] == "allocate" else "obs"
    cells = [stored("prog0001", "prg_0001", "prg", f"{one['operation']} under test")]
    for index, member in enumerate(one["members"], 1):
        scores = {"uncertainty": (1 - member["conf"]) * 0.7, "concern": (1 - member["conf"]) * 0.3} | {
            name: value for name, value in member.items() if name not in {"key", "work"}
        }
        rounded = {
            name: math.floor(value * 1000 + 0.5) / 1000 if name in {"uncertainty", "concern"} else value
            for name, value in scores.items()
        }
        cells.append(stored(member["key"], f"{kind}_{index}000", kind, f"title {member['key']}", **rounded))
    return put(Memory.empty(), rows_of(cells, start=START), pl.DataFrame(schema=EDGES)).memory


def changed(memory: Memory, given: dict[str, Any]) -> Memory:
    """The memory after a frame's `set`."""
    cells = memory.cells
    for key, value in given.items():
        fields: dict[str, Any] = {"effective": value} if isinstance(value, (int, float)) else dict(value)
        fields |= {FLAGS[name]: flag for name, flag in fields.pop("flags", {}).items()}
        here = pl.col("key") == key
        cells = cells.with_columns(
            pl.when(here).then(pl.lit(new).cast(cells.schema[name])).otherwise(name).alias(name)
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


def said(ran: Ran, name: str) -> Any:
    value = ran.output.values[NAMES.get(name) or name]
    return value[..., 0] if isinstance(value, np.ndarray) else value


def listed(ran: Ran, mask: np.ndarray[Any, Any], *fields: str) -> list[tuple[Any, ...]]:
    keys = ran.members.keys()
    columns = [ran.output.of_members[field] for field in fields]
    return [(keys[at], *(column[at].item() for column in columns)) for at in np.flatnonzero(mask)]


def compare_members(ran: Ran, theirs: dict[str, Any], *, ordered: bool) -> None:
    keys, held = ran.members.keys(), ran.output.of_members
    told = [one["key"] for one in theirs.get("memberReferences", [])]
    if told or "memberReferences" in theirs:
        assert (keys == told) if ordered else (set(keys) == set(told))
    if "memberValues" in theirs:
        assert dict(zip(keys, held["value"].tolist(), strict=True)) == pytest.approx(theirs["memberValues"])
        movers = sorted(listed(ran, held["mover"] > 0, "mover", "previous", "value", "change"), key=lambda one: one[1])
        assert [(one[0], *map(float, one[2:])) for one in movers] == [
            (one["key"], *(pytest.approx(one[name]) for name in ("previous", "current", "change")))
            for one in theirs["movers"]
        ]
    if "approving" in theirs:
        assert dict(listed(ran, held["approves"], "effective")) == pytest.approx(
            {one["key"]: one["effective"] for one in theirs["approving"]}
        )
    if "fired" in theirs:
        assert {one[0] for one in listed(ran, held["fired"])} == {one["key"] for one in theirs["fired"]}
    for name, mask in (("ranked", None), ("selected", held.get("selected"))):
        if name in theirs:
            rows = sorted(
                listed(ran, np.ones(len(keys), dtype=bool) if mask is None else mask, "rank", "score"),
                key=lambda one: one[1],
            )
            assert [(one[0], one[2]) for one in rows] == [(one["key"], pytest.approx(one["score"])) for one in theirs[name]]


def compare(ran: Ran, theirs: dict[str, Any], *, ordered: bool = True) -> None:
    assert int(ran.members.count[0]) == theirs["memberCount"]
    for name, value in theirs.items():
        if name not in OF_MEMBERS | {"operation", "memberCount", "concernTarget", "witness"}:
            assert same(said(ran, name), value), f"{name}: {said(ran, name)} is not {value}"
    compare_members(ran, theirs, ordered=ordered)
    assert bool(ran.output.witness[0]) == ("witness" in theirs)


@pytest.mark.parametrize("one", RUNS)
def test_program_output_equals_the_reference_runs(one: dict[str, Any]) -> None:
    memory = standing(one)
    work = {member["key"]: member["work"] for member in one["members"] if "work" in member}
    program = Program(
        operation=one["operation"], name=f"{one['operation']} under test", key="prog0001", handle="prg_0001",
        keys=tuple(member["key"] for member in one["members"]), settings=(one["params"] or {}) | {"work": work},
    )  # fmt: skip
    last = None
    written: set[str] = set()
    for frame in one["frames"]:
        memory = changed(memory, frame["set"])
        now = days(frame["now"], START) or 0.0
        before = memory.cells.height
        told = run([program], memory, now=now, last=last, derive=True, rules=RULES)
        (ran,), memory, last = told.ran, told.memory, told.last
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
    made = sorted(zip(edges["relation"].to_list(), keys.to_list(), edges["weight"].to_list(), strict=True))
    assert made == sorted(tuple(edge) for edge in theirs["edges"])


@pytest.mark.parametrize("vectors", TABLES)
def test_the_table_of_five_answers_as_recorded(vectors: list[Any]) -> None:
    reflex = ops.load("reflex", inputs=5)
    for table, bits, answer in vectors:
        made = reflex.function(np.array(bits, dtype=bool)[:, np.newaxis], table=np.array([int(table) % 2**32]))
        assert bool(made["out"][0]) is answer


@pytest.mark.parametrize("steps", WHOLE)
def test_netlist_programs_run_as_recorded(steps: list[Any]) -> None:
    memory, last = Memory.empty(), None
    standing_programs: tuple[Program, ...] = ()
    for step in steps:
        if step["op"] == "admit":
            claim = {
                name: step["proposal"][name]
                for name in ("kind", "title", "body", "confidence", "topics", "edges")
                if name in step["proposal"]
            }
            claim |= {
                "key": step["ctx"]["key"],
                "writer": step["proposal"].get("owner", "claude-code"),
                "t": days(step["ctx"]["now"], START),
            }
            taken = admit(memory, [claim], RULES)
            memory = taken.memory
            assert (taken.verdicts["verdict"][0] == "admitted") is step["accepted"]
        elif step["op"] == "netlist":
            standing_programs = programs(link(parse(step["text"])))
            assert {program.operation for program in standing_programs} == {name for name, _ in step["programsCreated"]}
        else:
            now = days(step["now"], START) or 0.0
            told = run(standing_programs, tick(memory, now, RULES), now=now, last=last, derive=step["derive"], rules=RULES)
            memory, last = told.memory, told.last
            assert [ran.program.operation for ran in told.ran] == step["order"]
            for ran, theirs in zip(told.ran, step["outputs"], strict=True):
                compare(ran, theirs, ordered=False)
        effective = {key: row for key, *row in memory.cells.select("key", "effective", "currency", "status").rows()}
        for key, (value, currency, status) in step.get("after", step.get("after_non_derived", {})).items():
            assert effective[key][:2] == pytest.approx([value, currency], abs=1e-12)
            assert effective[key][2] == status
