"""The edges as sparse matrices: who supports, challenges and contradicts whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Wiring", "wire"]


@dataclass(frozen=True)
class Wiring:
    """Rows are targets, columns are sources, entries are weights ≥ 0; rebuilt only when edges are added.

    `support` and `challenge` carry the evidence edges by the sign of their weight. `accuser` → `accused` are the
    `contradicts` edges, as row numbers in edge order.
    """

    support: sparse.csr_array
    challenge: sparse.csr_array
    accuser: NDArray[np.int64]
    accused: NDArray[np.int64]

    def masses(self, worth: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Support and challenge mass of every cell, from what every cell is worth as a source.

        support_i = Σ_j w_ij · worth_j over edges j → i of weight > 0; challenge likewise with −w.
        """
        return self.support @ worth, self.challenge @ worth

    def grown(self, edges: pl.DataFrame, cells: int) -> Wiring:
        """The wiring of `cells` rows with more edges under those it has: what `wire` makes of them all, bit for bit."""
        source, target, weight = (edges[name].to_numpy() for name in ("source", "target", "weight"))
        contradicts = (edges["relation"] == "contradicts").to_numpy()
        return Wiring(
            support=_inserted(self.support, target, source, weight, weight > 0.0, cells),
            challenge=_inserted(self.challenge, target, source, -weight, weight < 0.0, cells),
            accuser=np.append(self.accuser, source[contradicts]),
            accused=np.append(self.accused, target[contradicts]),
        )


def wire(edges: pl.DataFrame, cells: int) -> Wiring:
    """Sparse matrices of an edges frame over `cells` rows; entries of a row keep the order of the frame."""
    source, target = edges["source"].to_numpy(), edges["target"].to_numpy()
    weight = edges["weight"].to_numpy()
    order = np.argsort(target, kind="stable")
    source, target, weight = source[order], target[order], weight[order]
    contradicts = (edges["relation"] == "contradicts").to_numpy()
    return Wiring(
        support=_matrix(target, source, weight, weight > 0.0, cells),
        challenge=_matrix(target, source, -weight, weight < 0.0, cells),
        accuser=edges["source"].to_numpy()[contradicts],
        accused=edges["target"].to_numpy()[contradicts],
    )


def _matrix(
    row: NDArray[np.int64], column: NDArray[np.int64], entry: NDArray[np.float64], use: NDArray[np.bool_], cells: int
) -> sparse.csr_array:
    """A CSR matrix from entries already sorted by row; duplicates stay apart and are summed in order."""
    starts = np.zeros(cells + 1, dtype=np.int32)
    np.cumsum(np.bincount(row[use], minlength=cells), out=starts[1:])
    return sparse.csr_array((entry[use], column[use].astype(np.int32), starts), shape=(cells, cells))


def _inserted(
    matrix: sparse.csr_array,
    row: NDArray[np.int64],
    column: NDArray[np.int64],
    entry: NDArray[np.float64],
    use: NDArray[np.bool_],
    cells: int,
) -> sparse.csr_array:
    """A CSR matrix of `cells` rows with more entries, each at the end of its row, those of one row in the order given."""
    starts = np.full(cells + 1, matrix.indptr[-1], dtype=np.int32)
    starts[: len(matrix.indptr)] = matrix.indptr
    new = np.flatnonzero(use)
    new = new[np.argsort(row[new], kind="stable")]
    at = starts[row[new] + 1] + np.arange(len(new))
    old = np.ones(len(matrix.data) + len(new), dtype=bool)
    old[at] = False
    data, indices = np.empty(len(old)), np.empty(len(old), dtype=np.int32)
    data[old], indices[old] = matrix.data, matrix.indices
    data[at], indices[at] = entry[new], column[new]
    starts[1:] += np.cumsum(np.bincount(row[new], minlength=cells), dtype=np.int32)
    return sparse.csr_array((data, indices, starts), shape=(cells, cells))
