"""Tests of wires that read functions, neighbouring rows, computed fields and derived values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import AddressError
from malsim.memory import Memory, Rules
from malsim.netlist import NetlistError, evaluate, load
from malsim.netlist.engine import Engine
from malsim.netlist.language.address import address

GRAPH = """
dec_a3ee "ship v5" conf(.7)
  prop topics plant
  prop writer ann
obs_9c1f "the pump runs" conf(.8) supports> dec_a3ee(.6)
  prop topics plant yard
  prop writer bob
  prop impact .9
obs_9c2f "the pump failed" conf(.5) contradicts> dec_a3ee(-.6)  supports> obs_9c1f(.5)
  prop writer cy
  prop created -3
obs_9c3f "an old reading" conf(.4) supports> dec_a3ee(.2)  derived_from> obs_9c1f(0)
  prop writer cy
  prop status annexed
"""


def read(wires: str, *, now: float = 10.0, graph: str = GRAPH) -> dict[str, list[float]]:
    result = load(graph + wires)
    engine = Engine(result.net)
    scan = engine.scan(engine.start(result.memory), result.memory, now=now)
    return {name: values.tolist() for name, values in scan.derived.items()}


def values_of(where: str, domain: str = "cell") -> list[float]:
    return read(f"net it {domain}-derived-it < {where}")[f"{domain}-it"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("add(count(cell.~supports.*),0)", [1.0, 1.0, 0.0, 0.0]),
        ("add(count(cell.~supports.**),0)", [2.0, 1.0, 0.0, 0.0]),
        ("sum(cell.~supports.*-scores-conf)", [0.8, 0.5, 0.0, 0.0]),
        ("add(distinct(cell.~*-writer),0)", [2.0, 1.0, 0.0, 0.0]),
        ("max(cell.~*-scores-conf)", [0.8, 0.5, np.nan, np.nan]),
        ("add(count(cell.~supports.*.~supports.*),0)", [1.0, 0.0, 0.0, 0.0]),
        ("div(1,count(cell.~*))", [0.5, 1.0, 0.0, 0.0]),
        ("sub(cell-scores-conf,median(cell-scores-conf))", [0.0, 0.1, -0.2, -0.3]),
        ("exp(log(cell-scores-conf))", [0.7, 0.8, 0.5, 0.4]),
        ("abs(sub(cell-scores-conf,mean(cell-scores-conf)))", [1 / 30, 2 / 15, 1 / 6, 4 / 15]),
        ("cell-work-impact", [0.5, 0.9, 0.5, 0.5]),
        ("cell-age", [10.0, 10.0, 13.0, 10.0]),
        ("cell-lost", [0.0, 0.0, 0.0, 1.0]),
        ("cell-status-annexed", [0.0, 0.0, 0.0, 1.0]),
        ("cell-kind-dec", [1.0, 0.0, 0.0, 0.0]),
        ("cell-degree", [2.0, 2.0, 2.0, 0.0]),
        ("cell-clustering", [1.0, 1.0, 1.0, 0.0]),
        ("add(writer-claims,mul(0,cell-age))", [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_expressions_are_evaluated_per_row(where: str, expected: list[float]) -> None:
    np.testing.assert_allclose(values_of(where), expected)


def test_topic_signals_count_cells_and_work_per_writer() -> None:
    """The topic `plant` has two cells, `yard` one. bob's work is split evenly, so his Herfindahl index is 0.5."""
    assert values_of("add(topic-cells,0)", "topic") == [2.0, 1.0]
    index = "div(sum(mul(writer_topic-work,writer_topic-work)),mul(sum(writer_topic-work),sum(writer_topic-work)))"
    np.testing.assert_allclose(values_of(index, "writer"), [1.0, 0.5, 0.0])


def test_cell_tau_is_the_time_constant_set_in_the_rules() -> None:
    assert values_of("cell-tau")[0] == Rules().tau_stable


def test_derived_values_are_read_in_the_tick_that_writes_them() -> None:
    wires = """
loadrt scale names=twice domain=cell
setp twice.gain 2
net a cell-derived-a < cell-scores-conf
net b twice.in < add(cell-derived-a,1)
net c twice.out > cell-derived-c
net d cell-derived-d < sub(cell-derived-c,2)
addf twice tick
"""
    values = read(wires)
    np.testing.assert_allclose(values["cell-d"], 2 * np.array(values["cell-a"]))


@pytest.mark.parametrize(
    ("wires", "problem"),
    [
        (
            "net a cell-derived-a < add(cell-derived-b,1)\nnet b cell-derived-b < add(cell-derived-a,1)",
            "depends on itself",
        ),
        ("net a cell-derived-a < add(cell-derived-a,1)", "depends on itself"),
        ("net a cell-derived-a < cell-age\nnet b cell-derived-a < cell-idle", "already"),
        ("net a cell-derived-a < add(cell-derived-nobody,1)", "no signal owns"),
        ("net a cell-derived-a < div(cell-age,topic-cells)", "different domains"),
        ("net a cell-derived-a < add(cell-work-luck,1)", "no such field"),
        ("net a cell-derived-a < mean(cell.supports-age)", "every neighbour"),
        ("net a writer-derived-a < mean(cell.supports.*-age)", "per cell"),
    ],
)
def test_invalid_expressions_are_refused_at_load(wires: str, problem: str) -> None:
    with pytest.raises(NetlistError, match=problem):
        load(wires)


@pytest.mark.parametrize("text", ["div(cell-age)", "add(1,2,3)", "mean(3)", "frob(cell-age,2)", "dec_a3ee.supports.**-age"])
def test_invalid_expressions_are_refused_as_addresses(text: str) -> None:
    with pytest.raises(AddressError):
        address(text)


def test_evaluate_refuses_values_computed_by_wires() -> None:
    with pytest.raises(AddressError, match="only a net can evaluate"):
        evaluate("mean(cell.~supports.*-effective)", Memory.empty())


_FIELDS = st.sampled_from(
    ["cell-age", "cell-scores-eff", "mean(cell.~supports.*-scores-eff)", "count(cell.depends_on.**)", "2.5"]
)
_CALLS = st.recursive(
    _FIELDS,
    lambda inner: (
        st.builds("{}({},{})".format, st.sampled_from(["add", "sub", "mul", "div"]), inner, inner)
        | st.builds("{}({})".format, st.sampled_from(["exp", "log", "abs"]), inner)
    ),
    max_leaves=8,
)


@given(_CALLS.filter(lambda text: "(" in text))
def test_printed_expression_parses_to_an_equal_expression(text: str) -> None:
    where = address(text)
    assert address(str(where)) == where
