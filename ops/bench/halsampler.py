"""Reader for files recorded by LinuxCNC's halsampler. The frame that it returns can be passed to `over`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ops.pin.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["read_samples"]

_TYPES = {"b": pl.Boolean, "f": pl.Float64, "s": pl.Int64, "u": pl.Int64}


def read_samples(path: str | Path, cfg: str, names: Sequence[str] = (), *, tagged: bool = False) -> pl.DataFrame:
    r"""Read a file written by halsampler into a frame with one row per sample.

    Parameters
    ----------
    path
        Text file with one row per sample and values separated by blanks.
    cfg
        One letter per pin, as in sampler's cfg: b (bit), f (float), s (s32) or u (u32).
    names
        Column names, one per pin; by default pin-0, pin-1, …
    tagged
        True if each line begins with its sample number (option `-t`); otherwise rows are numbered from 0. The numbers
        are in the column `sample`.

    Raises
    ------
    OpError
        If a letter, a row or a value is not valid, or if samples were lost (a line `overrun`) and there are no tags,
        because later rows would be numbered wrongly.

    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("0 1.500000 1 \n1 2.500000 0 \n")
    ...     file.flush()
    ...     frame = read_samples(file.name, "fb", ["pos", "on"], tagged=True)
    >>> frame.rows()
    [(0, 1.5, True), (1, 2.5, False)]
    """
    columns = list(names) or [f"pin-{position}" for position in range(len(cfg))]
    if not cfg or set(cfg) - set(_TYPES) or len(columns) != len(cfg):
        allowed = f"one of b f s u for each of {columns}"
        raise OpError("the types do not match the pins", where=str(path), given=cfg, allowed=allowed)
    lines = [line.split() for line in Path(path).read_text(encoding="utf-8-sig").splitlines()]
    if not tagged and ["overrun"] in lines:
        line = lines.index(["overrun"]) + 1
        hint = "record with halsampler -t and read with tagged=True"
        raise OpError("samples were lost", where=f"{path}:{line}", given="overrun", hint=hint)
    rows = [
        _row(words, cfg, f"{path}:{number}", tagged=tagged)
        for number, words in enumerate(lines, 1)
        if words and words != ["overrun"]
    ]
    schema = {"sample": pl.Int64, **{name: _TYPES[letter] for name, letter in zip(columns, cfg, strict=True)}}
    numbered = rows if tagged else [(index, *row) for index, row in enumerate(rows)]
    return pl.DataFrame(numbered, schema=schema, orient="row")


def _row(words: list[str], cfg: str, where: str, *, tagged: bool) -> tuple[float | bool, ...]:
    letters = f"s{cfg}" if tagged else cfg
    if len(words) != len(letters):
        raise OpError("wrong number of values in the row", where=where, given=len(words), allowed=str(len(letters)))
    try:
        return tuple(_value(word, letter) for word, letter in zip(words, letters, strict=True))
    except ValueError:
        raise OpError("a value has the wrong type", where=where, given=" ".join(words), allowed=f"types {cfg}") from None


def _value(word: str, letter: str) -> float | bool:
    if letter == "f":
        return float(word)
    if letter == "b" and word not in {"0", "1"}:
        raise ValueError(word)
    return word == "1" if letter == "b" else int(word)
