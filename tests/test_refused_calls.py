"""Tests that functions refuse invalid arguments with a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
import pytest

import malsim as ms
import ops
from malsim.adapters import Claim
from malsim.adapters.judges import Judge
from malsim.base.errors import MalsimError
from malsim.judging.prices.worlds import closed_world
from malsim.lab.stability.loop import TickLoop
from malsim.lab.studies.replications import half_widths
from malsim.lab.studies.warmup import mser5
from malsim.memory import Memory, Rules, admit
from malsim.memory.gate.edit import check_author
from malsim.netlist.language.address import address
from malsim.netlist.language.values import handle
from malsim.records.embedding import embed
from malsim.records.lanes import one_of
from malsim.records.packing import PackBudget
from malsim.scenario.checks.metric_bounds import Band
from malsim.scenario.properties import Property
from malsim.scenario.properties.trace import Trace
from malsim.sim.settings.scenario import checked_law
from malsim.sim.writers import behaviour

if TYPE_CHECKING:
    from collections.abc import Callable

NOSUCH: Any = "nosuch"
CLAIM: dict[str, Any] = {"handle": "dec_a3ee", "writer": "ann", "title": "x", "confidence": 0.5}


def claim(**fields: Any) -> Claim:
    value: dict[str, Any] = {"time": 0.0, "writer": "ann", "object": "x", "value": "A"}
    return Claim(**value | fields)


def admitted(**fields: Any) -> object:
    return admit(Memory.empty(), pl.DataFrame([CLAIM]).with_columns(**fields), Rules())


CASES: dict[str, tuple[Callable[[], object], str]] = {
    "number as a scope": (lambda: claim(scope=3), "not a valid scope"),
    "NaN as a day": (lambda: claim(valid_from=float("nan")), "not a day"),
    "rate above 1": (lambda: Judge(miss=1.5), "out of bounds"),
    "rate as text": (lambda: Judge.read("miss=often"), "not a number"),
    "unknown design method": (lambda: ms.design({"rules.damping": (0.2, 1.0)}, 4, method=NOSUCH), "no such method"),
    "stability of a text": (lambda: ms.stability(NOSUCH), "neither a run nor a memory"),
    "loop of records": (lambda: TickLoop.of(Memory.empty(), Rules(effective="records")), "no loop over edges"),
    "world without time between claims": (lambda: closed_world(gap=0.0), "out of bounds"),
    "no such preset": (lambda: Rules.of({"preset": "nosuch"}), "no such preset"),
    "unknown choice of a rule": (lambda: Rules(mass_from=NOSUCH), "not one of the allowed values"),
    "no such gate": (lambda: Rules.recall_v5(gate=NOSUCH), "no such gate"),
    "assignment without a value": (lambda: Rules().set("damping"), "not an assignment"),
    "parameter of a law without parameters": (lambda: checked_law("mal", {"x": 1}, where="law"), "mal has no parameters"),
    "unknown behaviour": (lambda: behaviour("nosuch"), "no such behaviour"),
    "unknown kind of cell": (lambda: handle("xyz_a3ee"), "no such kind of cell"),
    "subject word in a handle": (lambda: handle("dec_1a_a3ee"), "is not allowed in a handle"),
    "hop after a field": (lambda: address("cell-scores.supports"), "a hop must not follow a field"),
    "unknown status in a property": (lambda: Property('always (status(dec_a3ee) == "nosuch")'), "no such status"),
    "window out of bounds": (lambda: Property("always[0d:1e9d] (x > 0)"), "the bounds of a window"),
    "negative tolerance": (lambda: Band(absolute=-1.0), "allowed: 0 or more"),
    "arrays of two shapes": (
        lambda: Trace.of_arrays([1.0], {"x": np.zeros((1, 2)), "y": np.zeros((1, 3))}), "the same shape",
    ),
    "unknown contradiction mode": (
        lambda: ms.replay(pl.DataFrame(), None, contradictions="nosuch"), "no such contradiction mode",
    ),
    "empty log": (
        lambda: ms.fit_decay(pl.DataFrame(schema={"after": pl.Float64, "before": pl.Float64})), "the log is empty",
    ),
    "run too short to settle": (lambda: mser5(np.zeros(3)), "too short to estimate a warm-up"),
    "interval of no width": (lambda: half_widths(["brier"], 0.0), "out of bounds"),
    "number as an author": (lambda: check_author(cast("Any", 3)), "the writer's name is not text"),
    "edges that are texts": (lambda: admitted(edges=pl.lit(["x"])), "the column has the wrong type"),
    "unknown field of an edge": (lambda: admitted(edges=pl.lit([{"nosuch": 1}])), "an edge has an unknown field"),
    "text as an embedder": (lambda: embed(NOSUCH, "x"), "the embedder did not return numbers for this text"),
    "unknown lane of a record": (lambda: one_of("nosuch", ("a", "b"), "lane"), "not an allowed value"),
    "negative budget": (lambda: PackBudget(max_tokens=-1), "not a valid count"),
    "response to no calls": (lambda: ops.respond(ops.load("smooth"), "step", {}, calls=0), "calls is out of bounds"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_invalid_argument_is_refused(case: str) -> None:
    call, message = CASES[case]
    with pytest.raises((MalsimError, ops.OpError), match=message):
        call()


@pytest.mark.parametrize("module", [ms, ops])
def test_missing_public_name_is_an_attribute_error(module: Any) -> None:
    with pytest.raises(AttributeError, match="nosuch"):
        _ = module.nosuch


def test_fork_of_a_fork_is_refused() -> None:
    run = ms.run("scenarios/worked_example.toml")
    fork = run.at(day=2).fork()
    with pytest.raises(MalsimError, match="a fork cannot be forked again"):
        ms.fork(fork, day=3)
