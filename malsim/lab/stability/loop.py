"""Map that one tick of a memory applies to its cells, and the slopes of that map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from malsim.base.errors import UsageError
from malsim.memory.law import effective, factors_at, slopes

if TYPE_CHECKING:
    from malsim.memory import Memory, Rules
    from malsim.memory.graph.edge_matrix import Wiring
    from malsim.memory.rules import Formula

Array = NDArray[np.float64]
NUDGE = 1e-6
LARGE = 10_000


@dataclass(frozen=True, kw_only=True)
class TickLoop:
    """Map that one tick applies to the effective confidence of all cells, with everything else held constant.

    e' = e + damping · (f(e) − e), f(e) = clamp01(stated · factor + a · tanh(S e) − b · tanh(C e)) on active cells.

    `support` (S) and `challenge` (C) are sparse, targets by sources, weights ≥ 0; `start` is stated · factor. Writers'
    factors are fixed at their values after one tick. Ceilings may exceed the bounds of the rules, and may be arrays: n
    ceilings with effective confidences of shape (cells, n) are n loops at once.
    """

    stated: Array
    factor: Array
    active: NDArray[np.bool_]
    start: Array
    support: sparse.csr_array
    challenge: sparse.csr_array
    support_ceiling: float | Array
    challenge_ceiling: float | Array
    damping: float
    from_stated: bool
    formula: Formula | None

    @classmethod
    def of(cls, memory: Memory, rules: Rules) -> TickLoop:
        """Return the feedback loop of a memory's tick. Raise `UsageError` under the law `records`, which has none."""
        if isinstance(rules.effective, str):
            given = rules.effective
            raise UsageError(
                "this law has no loop over edges", where="rules.effective", given=given, hint="leave out `effective`"
            )
        active = memory.column("status") == 0
        sources = active if rules.mass_neighbours == "active" else np.ones_like(active)
        factor = memory.column("calibration") if rules.recompute == "admit" else factors_at(memory, rules)
        stated = memory.column("stated")
        return cls(
            stated=stated,
            factor=factor,
            active=active,
            start=np.where(active, np.clip(stated * factor, 0.0, 1.0), memory.column("effective")),
            support=_matrix(memory.wiring, 1.0, sources),
            challenge=_matrix(memory.wiring, -1.0, sources),
            support_ceiling=rules.support_ceiling,
            challenge_ceiling=rules.challenge_ceiling,
            damping=rules.damping,
            from_stated=rules.mass_from == "stated",
            formula=rules.effective,
        )

    def masses(self, worth: Array) -> tuple[Array, Array]:
        """Return the support and challenge masses, computed from effective or stated confidence as the rules specify."""
        if self.from_stated:
            worth = np.broadcast_to(along(self.stated, worth), worth.shape)
        return self.support @ worth, self.challenge @ worth

    def worth(self, support: Array, challenge: Array) -> Array:
        """Compute f, the new effective confidence, from the support and challenge masses, even for inactive cells."""
        inputs = along(self.stated, support), along(self.factor, support), support, challenge
        if self.formula is not None:
            return np.clip(np.asarray(self.formula(*inputs), dtype=np.float64), 0.0, 1.0)
        return effective(*inputs, support_ceiling=self.support_ceiling, challenge_ceiling=self.challenge_ceiling)

    def step(self, worth: Array) -> Array:
        return self._where_active(self.worth(*self.masses(worth)), worth)

    def tick(self, worth: Array) -> Array:
        fresh = self.step(worth)
        return fresh if self.damping == 1.0 else worth + self.damping * (fresh - worth)

    def slopes(self, worth: Array) -> tuple[Array, Array, Array]:
        """Return f, ∂f/∂support and ∂f/∂challenge at a point. The slopes of clamped and inactive cells are 0."""
        support, challenge = self.masses(worth)
        if self.formula is None:
            up, down = slopes(support, challenge, self.support_ceiling, self.challenge_ceiling)
        else:
            up = (self.worth(support + NUDGE, challenge) - self.worth(support - NUDGE, challenge)) / (2 * NUDGE)
            down = (self.worth(support, challenge + NUDGE) - self.worth(support, challenge - NUDGE)) / (2 * NUDGE)
        fresh = self._where_active(self.worth(support, challenge), worth)
        free = along(self.active, fresh) & (fresh > 0.0) & (fresh < 1.0)
        if self.from_stated:
            free = np.zeros_like(free)
        return fresh, np.where(free, up, 0.0), np.where(free, down, 0.0)

    def jacobian(self, worth: Array) -> sparse.csr_array:
        """Return the sparse Jacobian ∂f/∂e = diag(∂f/∂support) · S + diag(∂f/∂challenge) · C at a point."""
        _, up, down = self.slopes(worth)
        slope = sparse.csr_array(_scaled(self.support, up) + _scaled(self.challenge, down))
        slope.eliminate_zeros()
        return slope

    def _where_active(self, fresh: Array, worth: Array) -> Array:
        if bool(self.active.all()):
            return fresh
        return np.where(along(self.active, worth), fresh, worth)


def along(value: NDArray[Any], like: Array) -> NDArray[Any]:
    """Reshape a per-cell vector so that it broadcasts with `like`, which has one or two dimensions."""
    return value if like.ndim == 1 else value[:, None]


def _matrix(wiring: Wiring, sign: float, sources: NDArray[np.bool_]) -> sparse.csr_array:
    """Return the edge weights of one sign as a sparse matrix (target × source).

    Edges from cells outside `sources` are given weight 0.
    """
    weight = sign * wiring.weight.values
    order = np.argsort(wiring.target.values, kind="stable")
    order = order[weight[order] > 0.0]
    starts = np.zeros(wiring.cells + 1, dtype=np.int32)
    np.cumsum(np.bincount(wiring.target.values[order], minlength=wiring.cells), out=starts[1:])
    source = wiring.source.values[order].astype(np.int32)
    return sparse.csr_array((weight[order] * sources[source], source, starts), shape=(wiring.cells, wiring.cells))


def _scaled(matrix: sparse.csr_array, rows: Array) -> sparse.csr_array:
    entries = matrix.data * np.repeat(rows, np.diff(matrix.indptr))
    product = sparse.csr_array((entries, matrix.indices, matrix.indptr), shape=matrix.shape)
    # `has_canonical_format` is copied, because recomputing it would take as long as adding two matrices.
    product.has_canonical_format = matrix.has_canonical_format
    return product
