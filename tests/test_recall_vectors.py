"""The reference memory's own runs, replayed under its preset, every file of the known names that is found.

They are read from tests/vectors/recall, or from the folder that MALSIM_VECTORS names: the files' own, or a parent that
holds recall/.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from malsim.errors import DataError
from malsim.memory import Admission, Memory, Rules, admit, calibration, schema, scores, tick
from malsim.memory.importers.dates import days
from malsim.memory.importers.recall_cells import EDGES, put, rows_of
from malsim.memory.importers.recall_proposals import NOBODY, Gate, Proposal, read
from malsim.memory.numbering import look_up
from malsim.memory.updates import expanded

EXACT = 1e-12
SCORES = {
    "conf": "stated",
    "effective": "effective",
    "actorCalibration": "calibration",
    "uncertainty": "uncertainty",
    "concern": "concern",
    "sourceQuality": "source_quality",
}
START = days("2026-01-01") or 0.0  # small numbers of days keep their last digits
GATES: tuple[tuple[str, Gate], ...] = (("newest", "newest"), ("v05", "0.5"))


def folder() -> Path:
    named = Path(os.environ.get("MALSIM_VECTORS") or Path(__file__).parent / "vectors")
    return named / "recall" if (named / "recall").is_dir() else named


def found(pattern: str) -> list[Path]:
    return sorted(folder().glob(pattern))


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def entries(pattern: str, name: str) -> list[Any]:
    """One test for each entry of the list `name` in every file of that pattern."""
    return [
        pytest.param(entry, id=f"{path.stem}-{i}-{entry.get('name', '')}")
        for path in found(pattern)
        for i, entry in enumerate(load(path).get(name, []))
    ]


SCENARIOS = found("scenario_*.json")
CASES = entries("admit*.json", "cases")


def test_there_are_vectors() -> None:
    names = ("scores*.json", "calibration*.json", "admit*.json", "scenario_*.json")
    assert any(found(name) for name in names), f"no vectors in {folder()}"


def column(rows: list[dict[str, Any]], name: str) -> Any:
    return np.array([row[name] for row in rows], dtype=np.float64)


def rows_of_scores(name: str) -> list[dict[str, Any]]:
    return [row for path in found("scores*.json") for row in load(path).get(name, [])]


def test_effective_confidence() -> None:
    rows = rows_of_scores("effectiveConfidence")
    names = ("stated", "calibration", "supportMass", "challengeMass")
    ours = scores.effective(*(column(rows, name) for name in names))
    np.testing.assert_allclose(ours, column(rows, "out"), rtol=0, atol=EXACT)


def test_currency() -> None:
    rows = rows_of_scores("currency")
    for floor in {row.get("cFloor", 0.1) for row in rows}:
        alike = [row for row in rows if row.get("cFloor", 0.1) == floor]
        ours = scores.currency(*(column(alike, name) for name in ("c0", "dt", "tau")), floor=floor)
        np.testing.assert_allclose(ours, column(alike, "out"), rtol=0, atol=EXACT)


def test_salience() -> None:
    leak, bump = rows_of_scores("salienceDecay"), rows_of_scores("salienceBump")
    ours = scores.decayed_salience(column(leak, "seed"), column(leak, "dt"))
    np.testing.assert_allclose(ours, column(leak, "out"), rtol=0, atol=EXACT)
    for row in bump:
        raised = scores.bumped_salience(np.array([row["seed"]]), bump=row.get("gain", 0.2))
        assert math.isclose(raised[0], row["out"], abs_tol=EXACT)


@pytest.mark.parametrize("entry", entries("calibration*.json", "vectors"))
def test_calibration(entry: dict[str, Any]) -> None:
    outcomes = entry["outcomes"]
    stated = np.array([one["confidence"] for one in outcomes], dtype=np.float64)
    wrong = np.array([one["contradicted"] for one in outcomes], dtype=bool)
    impossible = not bool(((stated >= 0) & (stated <= 1)).all())
    for form, expected in (("brier", "factor_v5_brier"), ("overconfidence", "factor_blog_overconfidence_unrounded")):
        rules = Rules.recall_v5().replace(calibration=form)
        if impossible:
            with pytest.raises(DataError):
                calibration.factor_of(stated, wrong, rules)
        else:
            assert math.isclose(calibration.factor_of(stated, wrong, rules), entry[expected], abs_tol=EXACT)
    if not impossible:
        mean = calibration.penalty(stated, wrong, form="brier").sum() / max(1, len(outcomes))
        assert math.isclose(mean, entry["brier"], abs_tol=EXACT)


def moment(step: dict[str, Any]) -> float:
    at = days(step["now"], START)
    assert at is not None
    return at


class Replay:
    """A memory under the preset that takes one step of a vector file after the other."""

    def __init__(self, gate: Gate, *, derived: bool = False) -> None:
        self.gate, self.rules, self.derived = gate, Rules.recall_v5(gate=gate), derived
        self.memory = Memory.empty()
        self.loose = pl.DataFrame(schema=EDGES)

    def admit(self, step: dict[str, Any], *, store: bool = True) -> Admission:
        context = step.get("ctx") or {}
        proposal = Proposal(
            given=step["proposal"],
            now=moment(context),
            key=context.get("key"),
            complete=context.get("integrityGate") is True,
        )
        claims = read([proposal], memory=self.memory if store else None, gate=self.gate, start=START)
        factor = None if self.derived else {claims["writer"][0] or NOBODY: float(context.get("calibrationFactor", 1.0))}
        taken = admit(self.memory if store else standing_for(claims), claims, self.rules, factors=factor)
        if store:
            self.memory = taken.memory
            self.reconnect()
        return taken

    def step(self, step: dict[str, Any]) -> None:
        if step["op"] == "admit":
            verdict = self.admit(step).verdicts
            assert (verdict["verdict"][0] != "refused") == step["accepted"]
        elif step["op"] == "tick":
            self.memory = tick(self.memory, moment(step), self.rules)
        elif step["op"] in ("put", "raw", "rawPut", "raw_put"):
            self.put(step["cells"] if "cells" in step else [step["cell"]])
        elif step["op"] in ("touch", "touchSalience", "touch_salience", "show"):
            key = step.get("key") or step["cellKey"]
            here = (self.memory.cells["key"] == key).to_numpy()
            self.memory = expanded(self.memory, here, moment(step), self.rules)
        else:
            pytest.fail(f"unknown step: {step['op']}")

    def put(self, cells: list[dict[str, Any]]) -> None:
        edges = [{"source": cell["key"], **edge} for cell in cells for edge in cell.get("edgesOut", [])]
        placed = put(self.memory, rows_of(cells, start=START), pl.DataFrame(edges, schema=EDGES))
        self.memory, gone = placed.memory, [cell["key"] for cell in cells]
        self.loose = pl.concat([self.loose.filter(~pl.col("source").is_in(gone)), placed.loose])
        self.reconnect()

    def reconnect(self) -> None:
        """Edges that named a key which did not stand yet, as raw puts may: they hold once it does."""
        due = self.loose.filter(pl.col("target").is_in(self.memory.cells["key"].implode()))
        if due.is_empty():
            return
        self.loose = self.loose.join(due, on=self.loose.columns, how="anti")
        zero = pl.repeat(0, due.height, dtype=pl.Int32, eager=True)
        source, target = (pl.Series(end, look_up(self.memory, zero, due[end])) for end in ("source", "target"))
        writer = self.memory.cells["writer"].gather(source)
        added = due.with_columns(source, target, writer, pl.lit(0.0).alias("t"))
        edges = added.select([pl.col(name).cast(kind) for name, kind in schema.EDGES.items()])
        self.memory = Memory(self.memory.cells, pl.concat([self.memory.edges, edges]), self.memory.writers)

    def state(self) -> dict[str, tuple[float, float, float, str]]:
        held = self.memory.cells.select("key", "effective", "currency", "salience", pl.col("status").cast(pl.String))
        return {key: values for key, *values in held.rows()}  # type: ignore[misc]  # four values each


def standing_for(claims: pl.DataFrame) -> Memory:
    """A memory in which everything that claims name stands: the reference's gate without a store asks after no target."""
    edges = claims.explode("edges")["edges"].struct.field("target").drop_nulls().unique().sort()
    own = claims["key"].drop_nulls().implode()
    named = edges.filter((edges.str.strip_chars() != "") & ~edges.is_in(own))
    stands = [{"key": name, "kind": "obs", "title": name, "writer": "-", "confidence": 0.5} for name in named]
    return admit(Memory.empty(), stands, Rules.recall_v5()).memory


def paths(issues: list[dict[str, str]]) -> set[str]:
    ours = {"calibration": "calibrationFactor"}
    return {ours.get(issue["path"], issue["path"]) for issue in issues}


def agrees(taken: Admission, expected: dict[str, Any]) -> None:
    verdict = taken.verdicts.row(0, named=True)
    if "accepted" not in expected:  # the reference throws
        assert verdict["verdict"] == "refused"
        return
    assert paths(verdict["issues"]) == paths(expected["issues"])
    assert (verdict["verdict"] != "refused") == expected["accepted"]
    again = any("deduplicated" in warning for warning in expected.get("warnings", []))
    assert (verdict["verdict"] == "deduplicated") == again
    if not expected["accepted"]:
        return
    cell, ours = expected["cell"], taken.memory.cells.row(verdict["cell"], named=True)
    for theirs, name in SCORES.items():
        assert math.isclose(ours[name], cell["scores"][theirs], abs_tol=EXACT), name
    assert (ours["key"], ours["kind"], ours["writer"], ours["title"]) == (
        cell["key"],
        cell["kind"],
        cell["owner"],
        cell["title"],
    )
    assert (ours["stability"], ours["sensitivity"]) == (cell["stability"], cell["policy"]["sensitivity"])
    assert {name: ours[name] for name in ("annexed", "locked", "pinned")} == {
        name: cell["flags"][name] for name in ("annexed", "locked", "pinned")
    }


@pytest.mark.parametrize(("result", "gate"), GATES)
@pytest.mark.parametrize("case", [case for case in CASES if "steps" not in case.values[0]])
def test_the_gate(case: dict[str, Any], result: str, gate: Gate) -> None:
    agrees(Replay(gate).admit(case, store=case.get("store") is not None), case[f"result_{result}"])


@pytest.mark.parametrize(("result", "gate"), GATES)
@pytest.mark.parametrize("case", [case for case in CASES if "steps" in case.values[0]])
def test_the_gate_in_sequence(case: dict[str, Any], result: str, gate: Gate) -> None:
    replay = Replay(gate)
    for step in case["steps"]:
        agrees(replay.admit(step), step[f"result_{result}"])
        stored = step[f"store_after_{result}"]
        state = replay.state()
        assert state.keys() == stored.keys()
        for key, cell in stored.items():
            assert math.isclose(state[key][0], cell["effective"], abs_tol=EXACT), key
            assert math.isclose(state[key][1], cell["currency"], abs_tol=EXACT), key
            assert state[key][3] == cell["status"], key


def same_state(state: dict[str, Any], expected: dict[str, Any], where: str) -> None:
    assert state.keys() == expected.keys(), where
    for key, (*numbers, status) in expected.items():
        np.testing.assert_allclose(state[key][:3], numbers, rtol=0, atol=EXACT, err_msg=f"{where}, {key}")
        assert state[key][3] == status, f"{where}, {key}"


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario(path: Path) -> None:
    held, replay, expected = load(path), Replay("newest"), {}
    for i, step in enumerate(held["steps"]):
        replay.step(step)
        expected.update(step["changed"])
        same_state(replay.state(), expected, f"step {i}, {step['op']}")
    same_state(replay.state(), held["final"], "final")


CALIBRATED = [path for path in SCENARIOS if load(path).get("params", {}).get("calib")]


@pytest.mark.parametrize("path", CALIBRATED, ids=lambda path: path.stem)
def test_factors_derived_from_the_record_are_the_ones_the_reference_was_given(path: Path) -> None:
    """The steps hand each admission its writer's factor; left to itself, the memory comes to the same."""
    replay = Replay("newest", derived=True)
    for step in load(path)["steps"]:
        if step["op"] == "admit":
            taken = replay.admit(step)
            assert math.isclose(taken.verdicts["calibration"][0], step["ctx"]["calibrationFactor"], abs_tol=EXACT)
        else:
            replay.step(step)
