"""The state of a memory that a law of items runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from malsim.laws.engine.buffers import Buffer
    from malsim.memory.graph.arrays import Ints
    from malsim.memory.port import Vocabulary

__all__ = ["ItemState"]


@dataclass(frozen=True)
class ItemState:
    """The items of every replication, one row each in order of creation, dead ones too."""

    vocabulary: Vocabulary
    columns: Mapping[str, Buffer]
    counts: Ints  # of items so far, by replication
    names: pl.Series

    def __len__(self) -> int:
        return self.columns["rep"].height

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name].values

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Every column."""
        return {name: column.values for name, column in self.columns.items()}
