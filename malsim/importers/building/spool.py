"""Frames kept in files of a folder, to be gone through again without holding more than one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from malsim.outputs import writing

__all__ = ["Spool"]


class Spool:
    """Frames of the same columns in a folder, in the order in which they came; it goes when the folder does."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._files: list[Path] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Keep a frame; of empty ones only the first. Raises `UsageError` where the disk is full."""
        if frame.is_empty() and self._files:
            return
        file = self._folder / f"{self._name}-{len(self._files)}.arrow"
        with writing(file):
            frame.write_ipc(file)
        self._files.append(file)

    def frames(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Each frame, or these columns of it."""
        for file in self._files:
            yield pl.read_ipc(file, columns=list(columns) if columns else None)
