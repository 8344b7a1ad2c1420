"""An embedding of words, in place of a model's: like texts share words."""

from __future__ import annotations

from typing import Any

import numpy as np

from malsim.base.errors import AdapterError


class WordEmbedding:
    """Unit vector of word counts. Each new word has its own dimension, so that no two words are confused.

    >>> embedding = WordEmbedding()
    >>> a, b = (np.array(embedding.embed(text)) for text in ("valve open", "pump shut"))
    >>> bool(a @ b < 1e-5)
    True
    """

    def __init__(self, dimensions: int = 512) -> None:
        self._dimensions, self._place = dimensions, dict[str, int]()

    def embed(self, text: str, *_: Any, **__: Any) -> list[float]:
        """Return the embedding of a text. Raises `AdapterError` after more distinct words than dimensions."""
        counts = np.full(self._dimensions, 1e-6)
        for word in text.lower().replace("?", " ").split():
            place = self._place.setdefault(word, len(self._place))
            if place >= self._dimensions:
                raise AdapterError("too many words", where="embedding", given=word, allowed=f"{self._dimensions} words")
            counts[place] += 1.0
        vector: list[float] = (counts / np.linalg.norm(counts)).tolist()
        return vector
