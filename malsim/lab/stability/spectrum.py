"""Dominant eigenvalues of a loop, computed for each strongly connected part of its graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, eigs

from malsim.lab.stability.loop import LARGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.lab.stability.loop import Array

DENSE = 300
TOLERANCE = 1e-3
BASIS = 12
MOST_STEPS, MOST_LIVE = 200, 0.8
FAR, COARSE, QUICK = 0.8, 1e-2, 36


@dataclass(frozen=True)
class Spectrum:
    """Dominant eigenvalue and eigenvector of each strongly connected part of a matrix.

    `part` is the number of each row's part (−1: not on a loop). `value` has the eigenvalue of largest |λ| of each part.
    `vector` has the eigenvectors over the rows, with a largest entry of 1 in every part.
    """

    part: NDArray[np.int64]
    value: NDArray[np.complex128]
    vector: Array

    @property
    def radius(self) -> float:
        """Largest |λ|, or 0 if there is no loop."""
        return float(np.abs(self.value).max(initial=0.0))


def spectrum(matrix: sparse.csr_array, damping: float = 1.0, *, tolerance: float = TOLERANCE) -> Spectrum:
    """Return the dominant eigenvalues of (1 − damping) I + damping · matrix, one per strongly connected part.

    A matrix is block triangular over its strongly connected parts, so its eigenvalues are those of the parts; separating
    the parts avoids spurious eigenvalues of long chains, which are due to rounding. Parts of up to 300 rows are solved
    densely, all of equal size at once; larger parts by Arnoldi's method (ARPACK) to a relative `tolerance` of the residual.
    For parts of more than 10,000 rows, `growth` estimates |λ| if the modes decay quickly or if 1 % is accurate enough.
    """
    live, core = _core(matrix)
    rows, of_live, sizes = _parts(core)
    inner = _within(core, rows, of_live, several=len(sizes) > 1)
    values = np.zeros(len(sizes), dtype=np.complex128)
    vector, part = np.zeros(matrix.shape[0]), np.full(matrix.shape[0], -1)
    part[live] = of_live
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for size in np.unique(sizes):
        of_size = np.flatnonzero(sizes == size)
        members = starts[of_size][:, None] + np.arange(size)
        eigen = _dense(inner, members, damping) if size <= DENSE else _large(inner, members, damping, tolerance)
        values[of_size], vector[live[rows[members]]] = eigen
    return Spectrum(part, values, vector)


def _core(matrix: sparse.csr_array) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """Return the rows with both inputs and outputs (or all rows, if most have both), and the matrix of these rows."""
    live = np.zeros(matrix.shape[0], dtype=bool)
    live[matrix.indices] = True
    live &= np.diff(matrix.indptr) > 0
    if live.mean() > MOST_LIVE:
        return np.arange(len(live)), matrix
    rows = np.flatnonzero(live)
    return rows, _within(matrix, rows, live.astype(np.int64) - 1, several=False)


def _parts(matrix: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that lie on a loop (sorted by part), the part of each row, and the size of each part."""
    _, label = sparse.csgraph.connected_components(matrix, connection="strong")
    on_loop = (np.bincount(label) > 1).take(label) | (matrix.diagonal() != 0.0)
    rows = np.flatnonzero(on_loop)
    counts = np.bincount(label[rows], minlength=int(label.max(initial=-1)) + 1)
    number = np.where(counts > 0, np.cumsum(counts > 0) - 1, -1)
    part = np.where(on_loop, number[label], -1)
    sizes = counts[counts > 0]
    return (rows if len(sizes) == 1 else rows[np.argsort(part[rows], kind="stable")]), part, sizes


def _within(
    matrix: sparse.csr_array, rows: NDArray[np.int64], part: NDArray[np.int64], *, several: bool
) -> sparse.csr_array:
    """Restrict the matrix to the given rows and columns. With `several` parts, drop entries that connect different parts."""
    index = np.full(len(part), -1, dtype=np.int32)
    index[rows] = np.arange(len(rows), dtype=np.int32)
    block = matrix[rows]
    sources = index.take(block.indices)
    inside = sources >= 0
    if several:
        inside &= part.take(block.indices) == np.repeat(part[rows], np.diff(block.indptr))
    before = np.zeros(len(inside) + 1, dtype=np.int32)  # scipy requires all index arrays to have the same type
    np.cumsum(inside, out=before[1:])
    entry = np.flatnonzero(inside)
    entries = block.data.take(entry), sources.take(entry), before.take(block.indptr)
    return sparse.csr_array(entries, shape=(len(rows), len(rows)))


def _dense(inner: sparse.csr_array, members: NDArray[np.int64], damping: float) -> tuple[NDArray[np.complex128], Array]:
    count, size = members.shape
    per = max(1, 4_000_000 // size**2)
    if count > per:
        parts = [_dense(inner, members[start : start + per], damping) for start in range(0, count, per)]
        return np.concatenate([value for value, _ in parts]), np.concatenate([vector for _, vector in parts])
    block = inner[members.ravel()].tocoo()
    part, row = np.divmod(block.row, size)
    stack = np.zeros((count, size, size))
    np.add.at(stack, (part, row, block.col - members[part, 0]), block.data)
    values, vectors = np.linalg.eig(stack * damping + (1.0 - damping) * np.eye(size))
    first = np.abs(values).argmax(axis=1)
    every = np.arange(count)
    return values[every, first].astype(np.complex128), _upright(vectors[every, :, first])


def _large(
    inner: sparse.csr_array, members: NDArray[np.int64], damping: float, tolerance: float
) -> tuple[NDArray[np.complex128], Array]:
    spans = [slice(rows[0], rows[-1] + 1) for rows in members]
    whole = members.size == inner.shape[0]
    blocks = [inner] if whole and len(spans) == 1 else [sparse.csr_array(inner[span, span]) for span in spans]
    values, vectors = zip(*(_arnoldi(block, damping, tolerance) for block in blocks), strict=True)
    return np.array(values), _upright(np.stack(vectors))


def _arnoldi(block: sparse.csr_array, damping: float, tolerance: float) -> tuple[complex, NDArray[np.complex128]]:
    if block.shape[0] > LARGE:
        radius, mode = growth(block, damping, powers=QUICK if tolerance >= COARSE else POWERS)
        if radius < FAR or tolerance >= COARSE:
            return complex(radius), mode.astype(np.complex128)
    begin = scatter(block.shape[0])
    matrix = sparse.csr_array(block * damping + sparse.eye_array(block.shape[0]) * (1.0 - damping))
    try:
        value, vector = eigs(matrix, k=1, which="LM", v0=begin, tol=tolerance, ncv=BASIS, maxiter=MOST_STEPS)
    except ArpackNoConvergence:  # if two eigenvalues are nearly equal in size, only a wider basis separates them
        value, vector = eigs(matrix, k=2, which="LM", v0=begin, tol=1e-2, ncv=5 * BASIS)
    return complex(value[0]), vector[:, 0]


def _upright(vectors: NDArray[np.complex128]) -> Array:
    """Return the real parts of vectors that have each been divided by their largest entry."""
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
    upright: Array = (vectors / largest).real
    return upright


Single = NDArray[np.float32]
POWERS, STRIDE, SPAN = 48, 6, 12
TINY, AGAIN = 1e-6, 0.7


def growth(matrix: sparse.csr_array, damping: float = 1.0, *, powers: int = POWERS) -> tuple[float, NDArray[np.complex64]]:
    """Estimate the spectral radius to about 1 %, and the dominant eigenvector, with `powers` + 12 matrix products.

    M = (1 − damping) I + damping · matrix. The result is the larger of two estimates, which are seldom too large. The
    growth of powers, ρ = lim ‖Mᵏ v‖^(1/k) (Gelfand), over the second half of the products is accurate if the eigenvalues
    fill a disc and none stands out. The largest |λ| of M on the Krylov space of the last power (12 products, Arnoldi) is
    accurate if some stand out or crowd at the ends of a line, as for mutual edges. Growth is measured by the largest entry,
    so that a small component within a large part is detected early.

    >>> round(growth(sparse.csr_array(np.array([[0.0, -0.5], [-0.5, 0.0]])))[0], 6)
    0.5
    """
    matrix = sparse.csr_array(matrix.astype(np.float32, copy=False))

    def tick(vector: Single) -> Single:
        fresh: Single = matrix @ vector
        return fresh if damping == 1.0 else (1.0 - damping) * vector + damping * fresh

    vector: Single = scatter(matrix.shape[0]).astype(np.float32)
    sizes = np.zeros(powers // STRIDE)
    for stride in range(len(sizes)):
        for _ in range(STRIDE):
            vector = tick(vector)
        sizes[stride] = max(vector.max(), -vector.min())
        if sizes[stride] == 0.0:
            return 0.0, vector.astype(np.complex64)
        vector /= sizes[stride]
    value, mode = _ritz(tick, vector)
    rate = float(np.exp(np.log(sizes[len(sizes) // 2 :]).mean() / STRIDE))
    return max(abs(value), rate), mode if abs(value) >= rate else vector.astype(np.complex64)


def scatter(size: int) -> Array:
    """Return a reproducible pseudo-random vector that is not orthogonal to any mode."""
    uniform: Array = np.random.Generator(np.random.Philox(key=0)).random(size)
    return uniform - 0.5


def _ritz(tick: Callable[[Single], Single], vector: Single) -> tuple[complex, NDArray[np.complex64]]:
    """Approximate the dominant eigenvalue and eigenvector of a map on the Krylov space of a start vector.

    Sums use einsum, because the threads of a matrix product cost more here than they save.
    """
    basis = np.zeros((SPAN, len(vector)), dtype=vector.dtype)
    table = np.zeros((SPAN + 1, SPAN))
    fresh, size, count = vector, _norm(vector), 0
    while count < SPAN and size > TINY * np.abs(table).max():
        basis[count] = fresh / size
        fresh, span, before = tick(basis[count]), basis[: count + 1], np.inf
        size = _norm(fresh)
        while size < AGAIN * before:  # two passes are enough (Kahan and Parlett), or one if little is subtracted
            shares = np.einsum("ij,j->i", span, fresh)
            table[: count + 1, count] += shares
            fresh = fresh - np.einsum("i,ij->j", shares, span)
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
