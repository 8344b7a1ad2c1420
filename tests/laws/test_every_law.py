"""Tests of every law: pure functions, independent replications, declared state, bounds and batches."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from malsim.base.errors import MalsimError
from malsim.laws import find_law, plant_of, shipped_laws
from malsim.memory.port import Claims, HoldsGraph, Plant, View, Vocabulary
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAWS = sorted(name for name in shipped_laws() if not isinstance(plant_of(name), HoldsGraph))
VOCABULARY = Vocabulary("abcd", "xyz", [["A", "B", "C"]] * 3)
REPS = 4
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=5, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])


@dataclass(frozen=True)
class Step:
    """Step of a test run: claims, then a tick at `now`, then one read per replication."""

    claims: Claims
    objects: NDArray[np.int64]
    now: float


def batch(rep: NDArray[np.int64], t: NDArray[np.float64], draws: NDArray[np.int64], stated: NDArray[np.float64]) -> Claims:
    writer, about, value = draws
    claims = {"rep": rep, "t": t, "writer": writer, "object": about, "value": value, "stated": stated}
    order = np.lexsort((np.arange(len(t)), writer, t))
    ordered: dict[str, Any] = {name: column[order] for name, column in claims.items()}
    return Claims(**ordered, sequence=np.arange(len(t)))


def ten_days(seed: int, *, late: float = 3.0) -> list[Step]:
    """Return ten steps with random claims. Some claims arrive late, and some state no confidence."""
    draw = np.random.default_rng(seed)
    steps = []
    for now in np.cumsum(draw.exponential(4.0, 10)).tolist():
        size = int(draw.integers(0, 24))
        stated = draw.choice([0.3, 0.5, 0.7, 0.95, np.nan], size)
        t = np.round(now - draw.uniform(0.0, late, size), 1)
        claims = batch(draw.integers(0, REPS, size), t, draw.integers(0, [[4], [3], [3]], (3, size)), stated)
        steps.append(Step(claims, draw.integers(0, 3, REPS), now))
    return steps


def selection(claims: Claims, rows: NDArray[Any]) -> Claims:
    names = ("rep", "t", "writer", "sequence", "object", "value", "stated")
    return replace(claims, **{name: getattr(claims, name)[rows] for name in names})


def state_after(plant: Plant[Any], steps: list[Step], state: Any = None, *, reps: int = REPS, singly: bool = False) -> Any:
    state = plant.init(range(reps), VOCABULARY) if state is None else state
    for step in steps:
        parts = np.arange(len(step.claims))[:, None] if singly else [np.arange(len(step.claims))]
        for part in parts:
            state, _ = plant.admit(state, selection(step.claims, part))
        state = plant.tick(state, step.now)
        state = plant.read(state, np.arange(reps), step.objects[:reps], np.zeros(0, dtype=np.int64), step.now)
    return state


def columns_of(view: View) -> dict[str, Any]:
    names = ("rep", "writer", "object", "value", "stated", "time", "rank", "active", "belief")
    return {name: getattr(view, name) for name in names} | {"name": view.name.to_numpy()} | dict(view.columns)


def assert_same(view: View, other: View, *, rows: Any = slice(None)) -> None:
    first, second = columns_of(view), columns_of(other)
    for name, column in first.items():
        if column is None:
            assert second[name] is None
        else:
            np.testing.assert_array_equal(column[rows], second[name], err_msg=name)


@pytest.mark.parametrize("name", LAWS)
class TestEveryLaw:
    @few
    @given(seed=seeds)
    def test_calls_do_not_change_the_given_state(self, name: str, seed: int) -> None:
        plant, steps = plant_of(name), ten_days(seed)
        before = state_after(plant, steps[:5])
        columns = {
            key: None if column is None else column.copy() for key, column in columns_of(plant.view(before, 99.0)).items()
        }
        state_after(plant, steps[5:], before)
        state_after(plant, ten_days(seed + 1), before)
        for key, column in columns_of(plant.view(before, 99.0)).items():
            if column is not None:
                np.testing.assert_array_equal(column, columns[key], err_msg=key)

    @few
    @given(seed=seeds)
    def test_pickled_state_gives_the_same_results(self, name: str, seed: int) -> None:
        plant, steps = plant_of(name), ten_days(seed)
        saved = pickle.loads(pickle.dumps(state_after(plant, steps[:5])))  # noqa: S301  # our own
        after = state_after(plant_of(name), steps[5:], saved)
        assert_same(plant_of(name).view(after, 99.0), plant.view(state_after(plant, steps), 99.0))

    @few
    @given(seed=seeds, rep=st.integers(0, REPS - 1))
    def test_replication_does_not_depend_on_other_replications(self, name: str, seed: int, rep: int) -> None:
        plant, steps = plant_of(name), ten_days(seed)
        whole = plant.view(state_after(plant, steps), 99.0)
        alone = []
        for step in steps:
            claims = selection(step.claims, np.flatnonzero(step.claims.rep == rep))
            alone.append(Step(replace(claims, rep=claims.rep * 0), step.objects[rep : rep + 1], step.now))
        item = plant.view(state_after(plant, alone, reps=1), 99.0)
        rows = np.flatnonzero(whole.rep == rep)
        assert_same(replace_rep(whole), item, rows=rows)

    @few
    @given(seed=seeds)
    def test_result_does_not_depend_on_batching_of_claims(self, name: str, seed: int) -> None:
        plant, steps = plant_of(name), ten_days(seed)
        assert_same(plant.view(state_after(plant, steps), 99.0), plant.view(state_after(plant, steps, singly=True), 99.0))

    def test_order_of_simultaneous_claims_matters_only_if_declared(self, name: str) -> None:
        differ = [instants(name, seed, 1) != instants(name, seed, -1) for seed in range(12)]
        assert any(differ) == find_law(name).ordered

    @few
    @given(seed=seeds)
    def test_view_columns_have_equal_lengths_and_bounded_values(self, name: str, seed: int) -> None:
        plant, steps = plant_of(name), ten_days(seed)
        view = plant.view(state_after(plant, steps), 99.0)
        assert {len(column) for column in columns_of(view).values() if column is not None} == {len(view)}
        assert len(set(zip(view.rep.tolist(), view.name.to_list(), strict=True))) == len(view)
        assert np.isfinite(view.rank[view.active]).all()
        assert (view.belief is not None) == find_law(name).belief
        if view.belief is not None:
            assert ((view.belief >= 0.0) & (view.belief <= 1.0)).all()

    @few
    @given(seed=seeds)
    def test_row_numbers_agree_between_views_and_verdicts(self, name: str, seed: int) -> None:
        plant = plant_of(name)
        state = plant.init(range(REPS), VOCABULARY)
        before = plant.view(state, 0.0)
        for step in ten_days(seed):
            state, verdicts = plant.admit(state, step.claims)
            view = plant.view(state, step.now)
            for column in ("rep", "writer", "object"):
                np.testing.assert_array_equal(getattr(before, column), getattr(view, column)[: len(before)])
            rows = verdicts.row[verdicts.verdict == 0]
            assert rows.tolist() == list(range(len(before), len(view)))
            absorbed = np.flatnonzero((verdicts.verdict == 1) & (verdicts.row != NONE))
            np.testing.assert_array_equal(view.object[verdicts.row[absorbed]], step.claims.object[absorbed])
            state = plant.tick(state, step.now)
            before = plant.view(state, step.now)

    def test_claim_without_an_object_is_refused(self, name: str) -> None:
        plant = plant_of(name)
        claim = selection(ten_days(1)[2].claims, np.array([0]))
        state, verdicts = plant.admit(plant.init([0, 1, 2, 3], VOCABULARY), replace(claim, object=np.array([NONE])))
        assert (verdicts.verdict.tolist(), verdicts.row.tolist(), len(plant.view(state, 1.0))) == ([2], [NONE], 0)
        assert verdicts.issues[0]

    def test_law_documents_its_summary_equation_and_source(self, name: str) -> None:
        law = find_law(name)
        assert law.sentence.endswith(".")
        assert law.equation
        assert law.source or law.left_out or law.notes

    def test_parameter_out_of_bounds_is_refused(self, name: str) -> None:
        for key, param in find_law(name).params.items():
            for end in (param.low, param.high):
                if np.isfinite(end):
                    beyond = end - 1.0 if end == param.low else end + 1.0
                    with pytest.raises(MalsimError, match=key):
                        plant_of(name, {key: beyond})


def replace_rep(view: View) -> View:
    """Return a copy of the view in which every row belongs to replication 0."""
    names = ("name", "writer", "object", "value", "stated", "time", "rank", "active", "belief", "columns")
    return View(**{name: getattr(view, name) for name in names}, rep=view.rep * 0)


def instants(name: str, seed: int, step: int) -> list[tuple[int, float]]:
    plant, draw = plant_of(name), np.random.default_rng(seed)
    state = plant.init([0], VOCABULARY)
    for day in (0.0, 1.0):
        value, writer = draw.integers(0, 3, 4), np.arange(4)[::step]
        claims = Claims(
            rep=writer * 0, t=np.full(4, day), writer=writer, sequence=np.arange(4), object=writer * 0,
            value=value[writer], stated=np.full(4, 0.7),
        )  # fmt: skip
        state, _ = plant.admit(state, claims)
    view = plant.view(plant.tick(state, 2.0), 2.0)
    return sorted(zip(view.value[view.active].tolist(), view.rank[view.active].round(9).tolist(), strict=True))
