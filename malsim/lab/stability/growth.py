"""The spectral radius of a large matrix by its powers, and by the small space that the last of them span."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.stability.loop import Array

__all__ = ["POWERS", "growth", "scatter"]

Single = NDArray[np.float32]
POWERS, STRIDE, SPAN = 48, 6, 12
TINY, KEPT = 1e-6, 0.7
MANY = 65_535


def growth(matrix: sparse.csr_array, damping: float = 1.0, *, powers: int = POWERS) -> tuple[float, NDArray[np.complex64]]:
    """The spectral radius to about 1 %, and the vector of its mode, at the cost of so many products and twelve.

    M = (1 − damping) I + damping · matrix. Two estimates, neither often too large, of which the larger counts: how fast
    powers grow, ρ = lim ‖Mᵏ v‖^(1/k) (Gelfand), over the latter half, right where eigenvalues fill a disc and none stands
    out; and the largest |λ| of M over the space of the last power and the 12 after it (Arnoldi), right where some stand out
    or crowd at the ends of a line, as they do for mutual edges. The largest entry measures growth, so that a small tangle
    within a large part is seen early.

    >>> round(growth(sparse.csr_array(np.array([[0.0, -0.5], [-0.5, 0.0]])))[0], 6)
    0.5
    """
    order, matrix = _by_count(matrix)

    def grown(vector: Single) -> Single:
        fresh: Single = matrix @ vector
        return fresh if damping == 1.0 else (1.0 - damping) * vector + damping * fresh

    vector: Single = scatter(matrix.shape[0]).astype(np.float32)
    sizes = np.zeros(powers // STRIDE)
    for stride in range(len(sizes)):
        for _ in range(STRIDE):
            vector = grown(vector)
        sizes[stride] = max(vector.max(), -vector.min())
        if sizes[stride] == 0.0:
            return 0.0, vector.astype(np.complex64)
        vector /= sizes[stride]
    value, mode = _ritz(grown, vector)
    rate = float(np.exp(np.log(sizes[len(sizes) // 2 :]).mean() / STRIDE))
    own = np.empty(len(order), dtype=np.complex64)
    own[order] = mode if abs(value) >= rate else vector
    return max(abs(value), rate), own


def _by_count(matrix: sparse.csr_array) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """Rows and columns by how many entries a row has, as in `Path`, and in single precision."""
    order = np.argsort(np.minimum(np.diff(matrix.indptr), MANY).astype(np.uint16), kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    rows = matrix[order]
    entries = rows.data.astype(np.float32, copy=False), place.take(rows.indices), rows.indptr
    return order, sparse.csr_array(entries, shape=matrix.shape)


def scatter(size: int) -> Array:
    """A vector that is orthogonal to no mode."""
    drawn: Array = np.random.Generator(np.random.Philox(key=0)).random(size)
    return drawn - 0.5


def _ritz(grown: Callable[[Single], Single], vector: Single) -> tuple[complex, NDArray[np.complex64]]:
    """The largest eigenvalue of a map over the span of a vector and its next images, and its vector there.

    Sums without a matrix product: the threads of its library cost more here than they give.
    """
    basis = np.zeros((SPAN, len(vector)), dtype=vector.dtype)
    table = np.zeros((SPAN + 1, SPAN))
    fresh, size, count = vector, _norm(vector), 0
    while count < SPAN and size > TINY * np.abs(table).max():
        basis[count] = fresh / size
        fresh, known, before = grown(basis[count]), basis[: count + 1], np.inf
        size = _norm(fresh)
        while size < KEPT * before:  # twice is enough (Kahan and Parlett), once where little was taken away
            shares = np.einsum("ij,j->i", known, fresh)
            table[: count + 1, count] += shares
            fresh = fresh - np.einsum("i,ij->j", shares, known)
            before, size = size, _norm(fresh)
        count += 1
        table[count, count - 1] = size
    values, vectors = np.linalg.eig(table[:count, :count])
    first = int(np.abs(values).argmax())
    shares = vectors[:, first].astype(np.complex64)
    real, imaginary = (np.einsum("i,ij->j", part, basis[:count]) for part in (shares.real, shares.imag))
    return complex(values[first]), real + 1j * imaginary


def _norm(vector: Single) -> float:
    return float(np.sqrt(np.einsum("i,i->", vector, vector)))
