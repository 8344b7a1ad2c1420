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
    >>> Joined.of(one, two, np.array([1, 0]), np.float32).rows.toarray().tolist()
    [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 0.0]]
    """

    rows: sparse.csr_array

    @classmethod
    def of(
        cls, support: sparse.csr_array, challenge: sparse.csr_array, order: NDArray[np.int64], kind: type[np.floating[Any]]
    ) -> Joined:
        """From two matrices of one shape (cells, cells); the cells in another order, in numbers of another precision."""
        data = np.concatenate([support.data, challenge.data], dtype=kind, casting="same_kind")
        indices = np.concatenate([support.indices, challenge.indices])
        starts = np.concatenate([support.indptr, challenge.indptr[1:] + support.indptr[-1]])
        below = sparse.csr_array((data, indices, starts), shape=(2 * len(order), len(order)))
        rows = below[np.stack([order, order + len(order)], axis=1).ravel()]
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return cls(sparse.csr_array((rows.data, place.take(rows.indices), rows.indptr), shape=rows.shape))

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
