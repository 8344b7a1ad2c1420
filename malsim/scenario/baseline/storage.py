"""Baselines: recorded frames in files a reviewer can read in a diff."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from malsim.base.errors import ScenarioError
from malsim.base.files.outputs import whole_file
from malsim.base.limits import VARIABLE, Limits
from malsim.scenario.checks.band import KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VERSION = "1"
LARGEST_TEXT = 2**20
_HEAD = re.compile(r"# malsim baseline (\w+): (\w+=\w+(?: \w+=\w+)*)\n")
_MARK = "malsim.baseline"
_INTEGERS = (pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt64, pl.UInt32, pl.UInt16, pl.UInt8)
_TYPES = {str(kind): kind for kind in (pl.Float64, pl.Float32, *_INTEGERS, pl.Boolean, pl.String)}


def write(folder: Path, name: str, frames: Mapping[str, pl.DataFrame]) -> list[Path]:
    """Record frames as `<name>.<frame>.csv`, numbers with nine significant digits; above 1 MB as Parquet, in full.

    Parameters
    ----------
    folder, name
        Where, and the scenario's name; what was recorded there before is replaced.
    frames
        By name: cells, signals, writers, events. Rows are put in the order of time and key.

    Raises
    ------
    ScenarioError
        For a column of lists or structures, or NaN.
    """
    paths = []
    for frame, given in frames.items():
        rows = _plain(frame, given)
        text = _text(rows) if 2 * rows.height * rows.width <= LARGEST_TEXT else None
        fits = text is not None and len(text) <= LARGEST_TEXT
        path = folder / f"{name}.{frame}.{'csv' if fits else 'parquet'}"
        if fits and text is not None:
            with whole_file(path) as place:
                place.write_bytes(text)
        else:
            with whole_file(path) as place:
                rows.write_parquet(place, metadata={_MARK: VERSION})
        (folder / f"{name}.{frame}.{'parquet' if fits else 'csv'}").unlink(missing_ok=True)
        paths.append(path)
    return paths


def read(folder: Path, name: str) -> dict[str, pl.DataFrame]:
    """Return the frames recorded under a name; a file or a frame above the limits is refused unread.

    Raises
    ------
    ScenarioError
        If there is none, or one is too large, broken, a link, or of another version.
    """
    frames = {}
    for frame in KEYS:
        paths = [path for path in (folder / f"{name}.{frame}.csv", folder / f"{name}.{frame}.parquet") if path.exists()]
        if len(paths) > 1:
            raise ScenarioError("two baselines of one frame", given=str(paths[0]), hint=f"delete it or {paths[1].name}")
        if paths:
            frames[frame] = _read(paths[0])
    if not frames:
        raise ScenarioError("no baseline is recorded", given=str(folder / f"{name}.cells.csv"), hint="record one first")
    return frames


def _plain(frame: str, rows: pl.DataFrame) -> pl.DataFrame:
    words = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Enum | pl.Categorical)]
    rows = rows.with_columns(pl.col(words).cast(pl.String))
    for name, kind in rows.schema.items():
        if str(kind) not in _TYPES:
            problem = "a baseline holds numbers, truth values and words only"
            raise ScenarioError(problem, where=f"{frame}.{name}", given=str(kind))
        if kind.is_float() and rows[name].is_nan().any():
            raise ScenarioError("a baseline holds no NaN", where=f"{frame}.{name}", hint="mend what gives NaN")
    return rows.sort("t", *KEYS[frame], nulls_last=True, maintain_order=True)


def _text(rows: pl.DataFrame) -> bytes:
    digits = {
        name: pl.Series(np.char.mod("%.9g", rows[name].fill_null(0.0).to_numpy())).set(rows[name].is_null(), None)
        for name, kind in rows.schema.items()
        if kind.is_float()
    }
    head = f"# malsim baseline {VERSION}: " + " ".join(f"{name}={kind}" for name, kind in rows.schema.items())
    return f"{head}\n{rows.with_columns(**digits).write_csv()}".encode()


def _read(path: Path) -> pl.DataFrame:
    size = path.stat().st_size
    if path.is_symlink() or not path.is_file():
        raise ScenarioError("a baseline is a plain file", given=str(path), hint="record it again")
    if size > Limits.current().baseline:
        raise _too_large(path, size)
    try:
        return _from_text(path) if path.suffix == ".csv" else _from_parquet(path)
    except (PolarsError, UnicodeDecodeError, OSError) as error:
        raise ScenarioError("this baseline cannot be read", where=str(path), hint="record it again") from error


def _from_text(path: Path) -> pl.DataFrame:
    text = path.read_text(encoding="utf-8")
    head = _HEAD.match(text)
    if head is None or head[1] != VERSION:
        raise ScenarioError("a baseline of another version", where=f"{path}:1", given=text[:60], hint="record it again")
    kinds = dict(each.split("=") for each in head[2].split())
    unknown = sorted(set(kinds.values()) - _TYPES.keys())
    if unknown:
        raise ScenarioError("a baseline of another version", where=f"{path}:1", given=unknown[0], allowed=", ".join(_TYPES))
    schema = {name: _TYPES[kind] for name, kind in kinds.items()}
    rows = pl.read_csv(io.StringIO(text[head.end() :]), schema_overrides=schema)
    if rows.columns != list(kinds):
        problem = "its columns differ from those that its first line names"
        raise ScenarioError(problem, where=f"{path}:2", given=rows.columns, hint="record it again")
    return rows


def _from_parquet(path: Path) -> pl.DataFrame:
    if pl.read_parquet_metadata(path).get(_MARK) != VERSION:
        raise ScenarioError("a baseline of another version", where=str(path), hint="record it again")
    lazy = pl.scan_parquet(path)
    values = lazy.select(pl.len()).collect().item() * len(lazy.collect_schema())
    if values > Limits.current().baseline:
        raise _too_large(path, values)
    return pl.read_parquet(path)


def _too_large(path: Path, size: int) -> ScenarioError:
    hint = f"record fewer columns or days, or allow it: {VARIABLE}=baseline={size}"
    problem = "this baseline has too many bytes or values"
    return ScenarioError(problem, where=str(path), given=size, allowed=f"{Limits.current().baseline}", hint=hint)
