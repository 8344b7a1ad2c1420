"""Tests that the stability analysis agrees with the real tick, closed forms and simulated runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime, brentq
from scipy.sparse.linalg import eigs

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.cli import main
from malsim.lab.stability.loop import TickLoop
from malsim.lab.stability.simulate import measured_ceiling
from malsim.lab.stability.spectrum import spectrum
from malsim.memory import Memory, Rules, settle, tick
from malsim.showing.manual.pages import page
from tests.lab.small_worlds import PLAIN, clique, graph

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def random_dispute(seed: int, size: int, degree: float, low: float, high: float, backed: float = 0.0) -> Memory:
    draws = np.random.default_rng(seed)
    pairs = {tuple(sorted(pair)) for pair in draws.integers(0, size, (int(size * degree / 2), 2)).tolist()}
    edges = [(i, j, -1.0) for a, b in sorted(pairs) if a != b for i, j in ((a, b), (b, a))]
    backs = {tuple(pair) for pair in draws.integers(0, size, (int(size * backed), 2)).tolist()}
    disputes = {(i, j) for i, j, _ in edges}
    edges += [(i, j, 1.0) for i, j in sorted(backs) if i != j and (i, j) not in disputes]
    return graph(draws.uniform(low, high, size), edges)


def closed_form(size: int, stated: float, weight: float) -> float:
    """Solve b·w·(n−1)·sech²(u) = 1 and e = stated − b·tanh(u) for the ceiling b, where u = w·(n−1)·e."""
    total = weight * (size - 1)
    u = brentq(lambda u: u + np.sinh(2 * u) / 2 - total * stated, 0.0, 30.0)
    return float(np.cosh(u) ** 2 / total)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Memory, Rules]:
    size = draw(st.integers(1, 7))
    stated = np.array(draw(st.lists(st.floats(0.05, 1.0), min_size=size, max_size=size)))
    ends = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(ends, ends, st.sampled_from([-1.0, -0.5, -2.0, 1.0, 0.3])), max_size=16))
    single = {(i, j): (i, j, weight) for i, j, weight in edges if i != j}
    rules = PLAIN.replace(
        damping=draw(st.sampled_from([1.0, 0.5])),
        challenge_ceiling=draw(st.floats(0.0, 1.0)),
        support_ceiling=draw(st.floats(0.0, 1.0)),
        mass_from=draw(st.sampled_from(["effective", "effective", "stated"])),
    )
    return graph(stated, list(single.values()), rules), rules


@given(graphs())
def test_loop_model_equals_the_real_tick(case: tuple[Memory, Rules]) -> None:
    memory, rules = case
    loop = TickLoop.of(memory, rules)
    here = memory.cells["effective"].to_numpy()
    np.testing.assert_allclose(loop.tick(here), tick(memory, 1.0, rules).cells["effective"].to_numpy(), atol=1e-15)


@given(graphs())
def test_jacobian_equals_the_numerical_slope_at_the_fixed_point(case: tuple[Memory, Rules]) -> None:
    memory, rules = case
    result = ms.stability(memory, rules)
    at = result.fixed_point
    assert np.abs(result.loop.step(at) - at).max() <= result.residual <= 1e-6
    raw = result.loop.worth(*result.loop.masses(at))
    if ((raw < 1e-4) | (raw > 1 - 1e-4)).any():
        return  # the step has no derivative where clamping to 0…1 begins
    numeric = np.atleast_2d(approx_fprime(at, result.loop.step, 1e-7))
    np.testing.assert_allclose(result.loop.jacobian(at).toarray(), numeric, atol=1e-5)
    whole = (1 - rules.damping) * np.eye(len(at)) + rules.damping * result.loop.jacobian(at).toarray()
    assert result.spectral_radius == pytest.approx(np.abs(np.linalg.eigvals(whole)).max(), abs=1e-6)


@given(graphs())
def test_memory_below_the_norm_bound_settles(case: tuple[Memory, Rules]) -> None:
    memory, rules = case
    if ms.stability(memory, rules).bound < 0.97:
        assert settle(memory, 1.0, rules.replace(settle_ticks=3000)).settled


@given(graphs())
def test_superseded_cells_are_not_part_of_a_loop(case: tuple[Memory, Rules]) -> None:
    memory, rules = case
    inactive = memory.with_cells(memory.cells.with_columns(status=pl.lit("superseded", memory.cells["status"].dtype)))
    result = ms.stability(inactive, rules.replace(damping=1.0))
    assert result.spectral_radius == 0.0
    assert result.verdict == "settled"


def cliques() -> tuple[Memory, NDArray[np.int64], list[tuple[int, float, float]]]:
    """Return a memory with a clique per case (to test all cases in one tick), each cell's case index, and the cases."""
    cases = [(n, stated, w) for n in range(2, 13) for stated in (0.2, 0.4, 0.6, 0.8, 1.0) for w in (0.5, 0.75, 1.0, 2.0)]
    sizes = np.array([n for n, _, _ in cases])
    edges = [edge for (n, _, w), end in zip(cases, sizes.cumsum(), strict=True) for edge in clique(n, w, first=int(end) - n)]
    return graph(np.repeat([stated for _, stated, _ in cases], sizes), edges), np.repeat(np.arange(len(cases)), sizes), cases


def test_critical_ceilings_of_cliques_match_bisection() -> None:
    memory, owner, cases = cliques()
    predicted = np.array([closed_form(*case) for case in cases])
    low, high = 0.5 * predicted, 1.5 * predicted
    for _ in range(7):
        middle = (low + high) / 2
        ceilings = middle[owner]

        def formula(stated: Floats, factor: Floats, up: Floats, down: Floats, ceilings: Floats = ceilings) -> Floats:
            return np.clip(stated * factor + 0.15 * np.tanh(up) - ceilings * np.tanh(down), 0.0, 1.0)

        rules = PLAIN.replace(effective=formula, settle_tolerance=0.0)
        early = settle(memory, 1.0, rules.replace(settle_ticks=400)).memory
        before = np.abs(tick(early, 1.0, rules).cells["effective"].to_numpy() - early.cells["effective"].to_numpy())
        late = settle(early, 1.0, rules.replace(settle_ticks=400)).memory
        after = np.abs(tick(late, 1.0, rules).cells["effective"].to_numpy() - late.cells["effective"].to_numpy())
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        ringing = (after[first] > 1e-9) & (after[first] > 0.9 * before[first])
        high, low = np.where(ringing, middle, high), np.where(ringing, low, middle)
    np.testing.assert_allclose((low + high) / 2, predicted, rtol=0.01)


@pytest.mark.parametrize("size", [2, 5, *(pytest.param(size, marks=pytest.mark.nightly) for size in (3, 8, 12))])
@pytest.mark.parametrize("stated", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("weight", [0.5, 1.0, 3.0])
def test_critical_ceiling_of_a_clique_matches_the_closed_form(size: int, stated: float, weight: float) -> None:
    result = ms.stability(graph(np.full(size, stated), clique(size, weight)), PLAIN)
    expected = closed_form(size, stated, weight)
    if expected > 2.0:
        assert result.critical_ceiling is None
    else:
        assert result.critical_ceiling == pytest.approx(expected, rel=1e-4)
        assert result.criterion == "linear"
        assert (result.gain_margin or 0.0) == pytest.approx(expected / 0.6, rel=1e-4)


@pytest.mark.parametrize(
    ("size", "stated", "level"),
    [(2, 0.2, 0.125), (2, 0.3, 0.188), (2, 0.5, 0.316), (2, 0.7, 0.448), (3, 0.5, 0.236), (3, 0.7, 0.343), (4, 0.7, 0.284)],
)
def test_disputes_published_as_stable_settle(size: int, stated: float, level: float) -> None:
    result = ms.stability(graph(np.full(size, stated), clique(size)), PLAIN)
    assert result.verdict == "settled"
    assert result.spectral_radius < 1.0
    np.testing.assert_allclose(result.fixed_point, level, atol=6e-4)


@pytest.mark.parametrize(
    ("size", "stated", "low", "high"),
    [(3, 0.2, 0.0, 0.2), (3, 0.3, 0.0, 0.3), (4, 0.5, 0.0, 0.5), (6, 0.5, 0.0, 0.5), (6, 0.7, 0.139, 0.339)],
)
def test_disputes_published_as_unstable_have_period_two(size: int, stated: float, low: float, high: float) -> None:
    result = ms.stability(graph(np.full(size, stated), clique(size)), PLAIN)
    assert result.verdict == "period-2"
    assert result.spectral_radius > 1.0
    assert result.gain_margin is not None
    assert result.gain_margin < 1.0
    np.testing.assert_allclose(result.ringing["amplitude"], high - low, atol=1e-3)
    assert result.ringing.height == size


@pytest.mark.parametrize("onset", [(0.2, 2), (0.4, 2), (0.5, 3), (0.6, 3), (0.7, 4)])
def test_oscillation_begins_at_the_published_degree(onset: tuple[float, int]) -> None:
    stated, degree = onset
    verdicts = {n: ms.stability(graph(np.full(n + 1, stated), clique(n + 1)), PLAIN).verdict for n in (degree - 1, degree)}
    assert verdicts == {degree - 1: "settled", degree: "period-2"}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])
@pytest.mark.parametrize("kind", ["dense", "even", "camps", "backed camps"])
def test_critical_ceilings_of_random_graphs_match_simulation(kind: str, seed: int) -> None:
    case = {
        "dense": lambda: random_dispute(seed, 150, 12, 0.9, 1.0),
        "even": lambda: random_dispute(seed, 150, 8, 0.6, 0.7),
        "camps": lambda: camps(seed, 6, 5, 0.0),
        "backed camps": lambda: camps(seed, 7, 4, 0.3),
    }
    memory = case[kind]()
    result = ms.stability(memory, PLAIN)
    measured = measured_ceiling(result.loop, high=2.0, ticks=3000)
    assert measured is not None
    assert result.critical_ceiling == pytest.approx(measured, rel=0.01)


def camps(seed: int, left: int, right: int, backing: float) -> Memory:
    """Return a memory with two camps. Claims contradict the other camp and support their own with weight `backing`."""
    draws = np.random.default_rng(seed)
    size = left + right
    camp = np.arange(size) < left
    edges = [(i, j, -1.0 if camp[i] != camp[j] else backing) for i in range(size) for j in range(size) if i != j]
    return graph(draws.uniform(0.5, 0.9, size), [edge for edge in edges if edge[2] != 0.0])


def test_critical_ceiling_is_simulated_if_cells_are_clamped() -> None:
    memory = random_dispute(0, 200, 6, 0.1, 0.4)
    result = ms.stability(memory, PLAIN)
    assert result.criterion == "simulated"
    assert result.clamped.any()
    assert result.critical_ceiling is not None
    below, above = (
        settle(memory, 1.0, PLAIN.replace(challenge_ceiling=share * result.critical_ceiling, settle_ticks=8000)).settled
        for share in (0.98, 1.02)
    )
    assert (below, above) == (True, False)
    assert "clamp holds" in str(result)


def test_long_chain_without_a_loop_has_spectral_radius_zero() -> None:
    chain = graph(np.full(60, 0.9), [(i, i + 1, -9.0) for i in range(59)])
    assert ms.stability(chain, PLAIN).spectral_radius == 0.0


@given(st.integers(0, 10_000), st.integers(2, 40), st.floats(0.02, 0.3), st.sampled_from([1.0, 0.4]))
def test_spectrum_by_components_equals_the_full_spectrum(seed: int, size: int, density: float, damping: float) -> None:
    draws = np.random.default_rng(seed)
    dense = np.where(draws.random((size, size)) < density, draws.normal(size=(size, size)), 0.0)
    result = spectrum(sparse.csr_array(dense), damping)
    whole = (1 - damping) * np.eye(size) + damping * dense
    loops = np.abs(result.value).max(initial=0.0)
    # A cell outside all loops has the eigenvalue 1 − damping, which rounding shifts most in long chains.
    rest = 1 - damping if (result.part < 0).any() else 0.0
    assert max(loops, rest) == pytest.approx(np.abs(np.linalg.eigvals(whole)).max(), abs=1e-2)


def test_arnoldi_agrees_with_dense_eigenvalues() -> None:
    result = ms.stability(random_dispute(5, 600, 10, 0.9, 1.0), PLAIN)
    dense = np.linalg.eigvals(result.loop.jacobian(result.fixed_point).toarray())
    assert result.spectral_radius == pytest.approx(np.abs(dense).max(), rel=1e-3)


def test_analysis_does_not_depend_on_cell_order() -> None:
    draws = np.random.default_rng(3)
    stated, edges = draws.uniform(0.3, 0.9, 30), [(i, (i * 7 + k) % 30, -1.0) for i in range(30) for k in (1, 4, 9)]
    edges = [edge for edge in edges if edge[0] != edge[1]]
    result = ms.stability(graph(stated, edges), PLAIN)
    order = draws.permutation(30)
    index = np.argsort(order)
    permuted = ms.stability(graph(stated[order], [(int(index[i]), int(index[j]), w) for i, j, w in edges]), PLAIN)
    np.testing.assert_allclose(permuted.fixed_point[index], result.fixed_point, atol=1e-9)
    assert permuted.spectral_radius == pytest.approx(result.spectral_radius, rel=1e-6)
    assert permuted.critical_ceiling == pytest.approx(result.critical_ceiling, rel=1e-5)


def test_user_formula_is_analysed_by_its_numerical_slope() -> None:
    def formula(stated: Floats, factor: Floats, _: Floats, challenge: Floats) -> Floats:
        return np.clip(stated * factor - 0.6 * np.tanh(challenge), 0.0, 1.0)

    memory = graph(np.full(3, 0.3), clique(3))
    user, plain = (ms.stability(memory, rules) for rules in (PLAIN.replace(effective=formula), PLAIN))
    assert user.spectral_radius == pytest.approx(plain.spectral_radius, rel=1e-6)
    assert (user.critical_ceiling, user.criterion, user.summary()["bound"]) == (None, "none", None)


def test_stability_depends_on_rules_damping_and_mass_from() -> None:
    memory = graph(np.full(3, 0.3), clique(3))
    damped = ms.stability(memory, PLAIN.replace(damping=0.5))
    plain = ms.stability(memory, PLAIN).spectral_radius  # the eigenvalues are −ρ, ρ/2 and ρ/2
    assert damped.spectral_radius == pytest.approx(0.5 + 0.5 * plain / 2, rel=1e-4)
    assert damped.verdict == "settled"
    stated = ms.stability(memory, PLAIN.replace(mass_from="stated"))
    assert (stated.spectral_radius, stated.bound, stated.verdict) == (0.0, 0.0, "settled")


def test_bad_arguments_for_stability_are_refused() -> None:
    with pytest.raises(UsageError, match="a Run or a Memory"):
        ms.stability({"cells": 1})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="without cells"):
        ms.stability(Memory.empty())
    result = ms.stability(graph(np.full(2, 0.3), clique(2)), PLAIN)
    with pytest.raises(MalsimError, match="no such cell"):
        result.plot.return_map("obs_nope")
    with pytest.raises(UsageError, match="no such ceiling"):
        result.plot.bifurcation(ceiling="roof")


def test_stability_command_reports_the_shipped_dispute(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["stability", "scenarios/mutual_dispute.toml", "--json", "-o", str(tmp_path)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "period-2"
    assert report["spectral_radius"] > 1.0
    assert report["critical_ceiling"] == pytest.approx(closed_form(3, 0.3, 1.0), rel=1e-4)
    assert report["gain_margin"] == pytest.approx(report["critical_ceiling"] / 0.6)
    assert report["ringing"] == ["obs_a1a1", "obs_b2b2", "obs_c3c3"]
    figures = {"return_map.png", "bifurcation.png", "stability_map.png", "nyquist.png", "bode.png"}
    assert {path.name for path in tmp_path.iterdir()} == {*figures, "cells.parquet"}
    assert main(["stability", "scenarios/mutual_dispute.toml", "--set", "rules.challenge_ceiling=0.3"]) == 0
    assert "verdict settled" in capsys.readouterr().out
    assert main(["stability", "no_such.toml"]) == 2


def test_frequency_figures_show_units_and_margins() -> None:
    result = ms.stability(graph(np.full(3, 0.3), clique(3), PLAIN.replace(damping=0.7)), PLAIN.replace(damping=0.7))
    for figure in (result.plot.nyquist(), result.plot.bode()):
        assert "gain margin" in figure.axes[0].get_title(loc="left")
        assert "phase margin" in figure.axes[0].get_title(loc="left")
    assert figure.axes[1].get_xlabel() == "ω (radians per tick)"
    with pytest.raises(UsageError, match="no cell is on a loop"):
        ms.stability(graph(np.full(2, 0.3), []), PLAIN).plot.bode()


@pytest.mark.parametrize("name", ["return_map", "bifurcation", "stability_map"])
def test_stability_figures_are_labelled_with_units(name: str) -> None:
    result = ms.stability(graph(np.full(3, 0.3), clique(3)), PLAIN)
    figure = getattr(result.plot, name)() if name != "stability_map" else result.plot.stability_map(points=5)
    axes = figure.axes[0]
    assert "0 to 1" in axes.get_xlabel()
    assert "0 to 1" in axes.get_ylabel()


@pytest.mark.parametrize("mutual", [True, False])
def test_spectral_radius_of_large_parts_is_accurate_to_2_percent(mutual: bool) -> None:  # noqa: FBT001  # a case
    draws = np.random.default_rng(8)
    rows, columns = draws.integers(0, 11_000, (2, 60_000))
    weight = draws.uniform(-0.5, 0.2, 60_000)
    matrix = sparse.csr_array((weight, (rows, columns)), shape=(11_000, 11_000))
    matrix = sparse.csr_array(matrix + matrix.T if mutual else matrix)
    by_arnoldi = abs(eigs(matrix, k=1, tol=1e-4, ncv=40, return_eigenvectors=False)[0])
    scaled = matrix * (0.6 / by_arnoldi)
    assert spectrum(scaled).radius == pytest.approx(0.6, rel=0.02)


@pytest.mark.parametrize("given", [[], ["rules.challenge_ceiling=0.48"], ["rules.damping=0.5"]])
def test_manual_page_shows_the_command_output(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stability", "scenarios/mutual_dispute.toml", *(word for item in given for word in ("--set", item))]) == 0
    assert capsys.readouterr().out in page("stability").read()


def test_bode_plot_shows_the_modes_that_limit_the_margins() -> None:
    rules = PLAIN.replace(damping=0.5, challenge_ceiling=0.6)
    result = ms.stability(graph(np.full(3, 0.3), clique(3), rules), rules)
    assert result.phase_margin is not None
    labels = [line.get_label() for line in result.plot.bode().axes[0].lines]
    assert len([label for label in labels if str(label).startswith("L of λ")]) == 2
    assert "may lag" in repr(result)
