"""The critical ceiling of loops of more than 10,000 cells, against eigenvalues at standstills found without it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

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
    """The loop of many cells without their memory; edges are (source, target), of weights 0.3 to 1."""
    draws, size = np.random.default_rng(0), len(stated)

    def matrix(ends: list[Ends]) -> sparse.csr_array:
        source, target = np.concatenate(ends, axis=1)
        apart = source != target
        weight = draws.uniform(0.3, 1.0, apart.sum())
        return sparse.csr_array(sparse.coo_array((weight, (target[apart], source[apart])), shape=(size, size)))

    return TickLoop(
        stated=stated,
        factor=np.ones(size),
        active=np.ones(size, dtype=bool),
        start=stated,
        support=matrix(backs),
        challenge=matrix(disputes),
        support_ceiling=0.15,
        challenge_ceiling=0.6,
        damping=1.0,
        from_stated=False,
        formula=None,
    )


def many_disputes() -> TickLoop:
    """Disputes both ways between pairs at random, and supports one way: what is lost first is a small tangle."""
    draws = np.random.default_rng(3)
    pairs = draws.integers(0, SIZE, (2, 4 * SIZE))
    return loop_of(draws.uniform(0.6, 0.9, SIZE), [draws.integers(0, SIZE, (2, 2 * SIZE))], [pairs, pairs[::-1]])


def ring_of_camps(camp: int = 20) -> TickLoop:
    """Camps that back their own and dispute the next, all the way round, and chains that lead from camp to camp.

    Eigenvalues crowd at the rim, near 1 where worth is slow to come to rest.
    """
    draws, half = np.random.default_rng(5), SIZE // 2
    cell = np.arange(half)
    own, following = cell // camp * camp, (cell // camp + 1) % (half // camp) * camp
    within = [np.stack([cell, own + draws.integers(0, camp, half)]) for _ in range(5)]
    across = [np.stack([cell, following + draws.integers(0, camp, half)]) for _ in range(2)]
    chain = np.stack([np.arange(half, SIZE - 1), np.arange(half + 1, SIZE)])
    joints = np.arange(half, SIZE, 50)
    into, out = (draws.integers(0, half, len(joints)) for _ in range(2))
    disputes = [*across, *(pair[::-1] for pair in across), chain, np.stack([into, joints])]
    return loop_of(draws.uniform(0.4, 1.0, SIZE), [*within, np.stack([joints, out])], disputes)


@pytest.mark.parametrize("make_loop", [many_disputes, ring_of_camps])
def test_a_standstill_is_lost_within_one_per_cent_of_the_ceiling(make_loop: Callable[[], TickLoop]) -> None:
    loop = make_loop()
    ceiling = critical(Continuation(loop))
    assert ceiling is not None
    worth, radii = loop.start, []
    for share in (0.8, 0.9, 0.99, 1.01):
        there = replace(loop, challenge_ceiling=share * ceiling)
        worth = anderson(there, worth, near=1e-6, most=400)
        assert share > 1.0 or np.abs(there.step(worth) - worth).max() < 1e-4
        begin = np.random.default_rng(0).standard_normal(SIZE)
        values = eigs(there.jacobian(worth), k=2, tol=1e-3, ncv=40, v0=begin, return_eigenvectors=False)
        radii.append(np.abs(values).max())
    assert max(radii[:3]) < 1.0 < radii[3], radii


def test_a_large_loop_s_own_point_does_not_depend_on_the_path() -> None:
    loop = many_disputes()
    path = Continuation(loop)
    critical(path)
    worth, gap, spectrum_there = path.own
    assert np.abs(loop.step(worth) - worth).max() == pytest.approx(gap, abs=1e-15)
    assert gap <= 1e-6
    np.testing.assert_allclose(worth, fixed_point(loop, least=200)[0], atol=1e-4)
    values = eigs(loop.jacobian(worth), k=1, tol=1e-4, ncv=40, v0=np.ones(SIZE), return_eigenvectors=False)
    assert spectrum_there.radius == pytest.approx(np.abs(values).max(), rel=0.01)


@pytest.mark.parametrize("damping", [1.0, 0.8])
def test_many_copies_of_a_loop_are_lost_where_one_is(damping: float) -> None:
    four = np.array([[i, j] for i in range(4) for j in range(4) if i != j]).T
    tangles = np.concatenate([four + 4 * number for number in range(100)], axis=1)
    stated = np.repeat(np.random.default_rng(1).uniform(0.5, 0.9, 100), 4)
    item = replace(loop_of(stated, [tangles[:, :0]], [tangles]), damping=damping)
    copies = SIZE // 400
    many = replace(
        item,
        stated=np.tile(item.stated, copies),
        factor=np.tile(item.factor, copies),
        active=np.tile(item.active, copies),
        start=np.tile(item.start, copies),
        support=sparse.csr_array(sparse.block_diag([item.support] * copies)),
        challenge=sparse.csr_array(sparse.block_diag([item.challenge] * copies)),
    )
    assert critical(Continuation(item)) is not None
    assert critical(Continuation(many)) == pytest.approx(critical(Continuation(item)), rel=5e-3)
