"""Offline text embedding by hashed counts of character n-grams, which any callable may replace.

    v_j = Σ over grams g of s(g) [h(g) mod dim = j],   then v / ‖v‖

h is a gram's CRC-32, and s the sign given by the top bit of h. The embedding compares spelling, not meaning.
"""

from __future__ import annotations

import math
import unicodedata
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from malsim.base.errors import UsageError

Vector: TypeAlias = NDArray[np.float32]
Embedder: TypeAlias = "Callable[[str], Sequence[float] | Vector]"
DIMENSIONS, SIZES = 256, (3, 4)
_TOP = 1 << 31


@lru_cache(maxsize=8192)
def hash_embedding(text: str) -> Vector:
    """Return the embedding of a text as a unit vector of 256 numbers, or zeros if the text has no visible character.

    >>> round(float(hash_embedding("the build failed") @ hash_embedding("The build  failed")), 6)
    1.0
    """
    plain = f" {' '.join(unicodedata.normalize('NFKC', text).casefold().split())} "
    grams = [plain[start : start + size] for size in SIZES for start in range(len(plain) - size + 1)]
    hashes = np.array([zlib.crc32(gram.encode("utf-8", "surrogatepass")) for gram in grams], np.int64)
    vector = np.bincount(hashes % DIMENSIONS, np.where(hashes & _TOP, -1.0, 1.0), DIMENSIONS)
    size = math.sqrt(float(vector @ vector))
    unit: Vector = (vector / size if size else vector).astype(np.float32)
    unit.setflags(write=False)
    return unit


def embed(embedder: Embedder, text: str) -> Vector:
    """Return the embedding of a text as a unit vector. Raises `UsageError` unless the embedder returns finite numbers."""
    if embedder is hash_embedding:
        return hash_embedding(text)
    try:
        vector = np.asarray(embedder(text), np.float64)
    except (TypeError, ValueError) as problem:
        raise UsageError("the embedder did not return numbers for this text", where="embedder", given=text) from problem
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        raise UsageError("the embedder must return a list of finite numbers", where="embedder", given=vector.tolist())
    size = float(np.linalg.norm(vector))
    return (vector / size if size else vector).astype(np.float32)


def cosines(rows: NDArray[np.float64], query: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosine similarity of each row (n, dim) to a query (dim,); 0 if either is all zeros.

    >>> cosines(np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([0.0, 2.0])).tolist()
    [0.8, 0.0]
    """
    sizes = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    dots = (rows * query).sum(axis=1)  # unlike `@`, this sums in an order that does not depend on the number of rows
    return np.asarray(np.clip(np.divide(dots, sizes, out=np.zeros(len(rows)), where=sizes > 0.0), -1.0, 1.0))
