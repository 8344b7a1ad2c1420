"""Support and challenge of a loop as one matrix, for loops so large that passes over their edges count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Joined"]


@dataclass(frozen=True)
class Joined:
    """Two rows a cell, of what supports it and of what challenges it: one product gives both masses.

    A cell's entries follow each other, so that its row of the Jacobian is these, scaled; no two matrices are added.

    >>> one, two = (sparse.csr_array(np.array(each)) for each in ([[0.0, 2.0], [0.0, 0.0]], [[0.0, 3.0], [1.0, 0.0]]))
    >>> Joined.of(one, two).rows.toarray().tolist()
    [[0.0, 2.0], [0.0, 3.0], [0.0, 0.0], [1.0, 0.0]]
    """

    rows: sparse.csr_array

    @classmethod
    def of(cls, support: sparse.csr_array, challenge: sparse.csr_array) -> Joined:
        """From two matrices of one shape (cells, cells)."""
        starts = np.zeros(2 * support.shape[0] + 1, dtype=np.int32)
        starts[1::2] = support.indptr[1:] + challenge.indptr[:-1]
        starts[2::2] = support.indptr[1:] + challenge.indptr[1:]
        data = np.empty(starts[-1], dtype=support.dtype)
        indices = np.empty(len(data), dtype=np.int32)
        for matrix, before in ((support, challenge.indptr[:-1]), (challenge, support.indptr[1:])):
            places = np.repeat(before, np.diff(matrix.indptr))
            places += np.arange(matrix.nnz, dtype=places.dtype)
            data[places], indices[places] = matrix.data, matrix.indices
        return cls(sparse.csr_array((data, indices, starts), shape=(len(starts) - 1, support.shape[1])))

    def masses(self, worth: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Support and challenge mass of every cell."""
        summed: NDArray[Any] = self.rows @ worth
        return summed[::2], summed[1::2]

    def jacobian(self, up: NDArray[Any], down: NDArray[Any]) -> sparse.csr_array:
        """diag(up) · S + diag(down) · C, in which a source that does both to one cell has two entries."""
        slopes = np.repeat(np.stack([up, down], axis=1).ravel(), np.diff(self.rows.indptr))
        entries = slopes * self.rows.data, self.rows.indices.copy(), self.rows.indptr[::2].copy()
        made = sparse.csr_array(entries, shape=(len(up), len(up)))
        made.eliminate_zeros()
        return made
