"""Tests that the critical ceiling of loops of over 10,000 cells agrees with eigenvalues computed by SciPy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import eigs

from malsim.lab.stability.critical import Continuation, critical
from malsim.lab.stability.fixed_point import anderson, fixed_point
from malsim.lab.stability.loop import TickLoop

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ends = NDArray[np.int64]

SIZE = 12_000


def loop_of(stated: NDArray[np.float64], backs: list[Ends], disputes: list[Ends]) -> TickLoop:
    """Return a tick loop built without a memory. Edges are (source, target), with random weights from 0.3 to 1."""
    draws, size = np.random.default_rng(0), len(stated)

    def matrix(ends: list[Ends]) -> sparse.csr_array:
        source, target = np.concatenate(ends, axis=1)
        apart = source != target
        weight = draws.uniform(0.3, 1.0, apart.sum())
        return sparse.csr_array(sparse.coo_array((weight, (target[apart], source[apart])), shape=(size, size)))

    return TickLoop(
        stated=stated, factor=np.ones(size), active=np.ones(size, dtype=bool), start=stated,
        support=matrix(backs), challenge=matrix(disputes), support_ceiling=0.15, challenge_ceiling=0.6,
        damping=1.0, from_stated=False, formula=None,
    )  # fmt: skip


def many_disputes() -> TickLoop:
    """Return a loop of random mutual disputes and one-way supports, in which a small cluster becomes unstable first."""
    draws = np.random.default_rng(3)
    pairs = draws.integers(0, SIZE, (2, 4 * SIZE))
    return loop_of(draws.uniform(0.6, 0.9, SIZE), [draws.integers(0, SIZE, (2, 2 * SIZE))], [pairs, pairs[::-1]])


def ring_of_camps(camp: int = 20) -> TickLoop:
    """Return a ring of camps, joined by chains, in which each camp supports its own claims and disputes the next camp.

    Many eigenvalues have nearly the largest size, and some are near 1, where confidences converge slowly.
    """
    draws, half = np.random.default_rng(5), SIZE // 2
    cell = np.arange(half)
    start, following = cell // camp * camp, (cell // camp + 1) % (half // camp) * camp
    within = [np.stack([cell, start + draws.integers(0, camp, half)]) for _ in range(5)]
    across = [np.stack([cell, following + draws.integers(0, camp, half)]) for _ in range(2)]
    chain = np.stack([np.arange(half, SIZE - 1), np.arange(half + 1, SIZE)])
    joints = np.arange(half, SIZE, 50)
    into, out = (draws.integers(0, half, len(joints)) for _ in range(2))
    disputes = [*across, *(pair[::-1] for pair in across), chain, np.stack([into, joints])]
    return loop_of(draws.uniform(0.4, 1.0, SIZE), [*within, np.stack([joints, out])], disputes)


@pytest.mark.parametrize("make_loop", [many_disputes, ring_of_camps])
def test_large_loop_is_stable_up_to_1_percent_below_its_ceiling(make_loop: Callable[[], TickLoop]) -> None:
    loop = make_loop()
    ceiling = critical(Continuation(loop))
    assert ceiling is not None
    worth, radii = loop.start, []
    for share in (0.8, 0.9, 0.99, 1.01):
        scaled = replace(loop, challenge_ceiling=share * ceiling)
        worth = anderson(scaled, worth, near=1e-6, most=400)
        assert share > 1.0 or np.abs(scaled.step(worth) - worth).max() < 1e-4
        begin = np.random.default_rng(0).standard_normal(SIZE)
        values = eigs(scaled.jacobian(worth), k=2, tol=1e-3, ncv=40, v0=begin, return_eigenvectors=False)
        radii.append(np.abs(values).max())
    assert max(radii[:3]) < 1.0 < radii[3], radii


def test_fixed_point_of_a_large_loop_is_independent_of_the_path() -> None:
    loop = many_disputes()
    path = Continuation(loop)
    critical(path)
    worth, gap, modes = path.own
    assert np.abs(loop.step(worth) - worth).max() == pytest.approx(gap, abs=1e-15)
    assert gap <= 1e-6
    np.testing.assert_allclose(worth, fixed_point(loop, least=200)[0], atol=1e-4)
    values = eigs(loop.jacobian(worth), k=1, tol=1e-4, ncv=40, v0=np.ones(SIZE), return_eigenvectors=False)
    assert modes.radius == pytest.approx(np.abs(values).max(), rel=0.01)


@pytest.mark.parametrize("damping", [1.0, 0.8])
def test_copies_of_a_loop_have_the_same_critical_ceiling(damping: float) -> None:
    four = np.array([[i, j] for i in range(4) for j in range(4) if i != j]).T
    tangles = np.concatenate([four + 4 * number for number in range(100)], axis=1)
    stated = np.repeat(np.random.default_rng(1).uniform(0.5, 0.9, 100), 4)
    single = replace(loop_of(stated, [tangles[:, :0]], [tangles]), damping=damping)
    columns: dict[str, Any] = {
        name: np.tile(getattr(single, name), SIZE // 400) for name in ("stated", "factor", "active", "start")
    }
    columns |= {
        name: sparse.csr_array(sparse.block_diag([getattr(single, name)] * (SIZE // 400)))
        for name in ("support", "challenge")
    }
    ceiling = critical(Continuation(single))
    assert ceiling is not None
    assert critical(Continuation(replace(single, **columns))) == pytest.approx(ceiling, rel=5e-3)
