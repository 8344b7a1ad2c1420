"""Reader of CSV, Parquet and NDJSON tables, optionally gzipped, within the limits in force."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from codecs import BOM_UTF8
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.errors import DataError
from malsim.base.files.text_files import IS_UTF16, is_utf16, without_mark
from malsim.base.limits import Limits, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

KINDS = (".csv", ".parquet", ".ndjson", ".jsonl")
DEFLATED = 1032  # maximum compression ratio of gzip
WIDTH = 8  # assumed number of bytes per value
STDERR = 2


def kind_of(path: str | Path, *, default: str = "") -> str:
    """Return the suffix that indicates a file's format, ignoring .gz.

    >>> kind_of("claims.CSV.gz"), kind_of("a.txt", default=".csv")
    ('.csv', '.csv')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    return suffixes[-1] if suffixes and suffixes[-1] in KINDS else default


def read_table(path: str | Path, *, default: str = "", texts: bool = False) -> pl.DataFrame:
    """Read a table from a file in the format that its suffix indicates.

    `default` is the suffix assumed for files with another suffix, or empty to refuse such files. If `texts` is true,
    the columns of a CSV file stay text. Raises `DataError` for a missing file, another format or an unreadable table,
    and `ScenarioError` for a file larger than the limits in force, packed or unpacked.
    """
    import polars as pl

    path, kind = Path(path), kind_of(path, default=default)
    if not kind:
        raise DataError("unsupported file type", given=str(path), allowed=f"{', '.join(KINDS)}, also gzipped")
    if not path.is_file():
        raise DataError("no such file", given=str(path), hint="check the path")
    unreadable = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, EOFError, zlib.error, UnicodeDecodeError)
    try:
        source = _within_limits(path)
        if kind == ".parquet":
            with _no_backtrace():
                rows, width = pl.scan_parquet(source).select(pl.len()).collect().item(), len(pl.read_parquet_schema(source))
                within({"input": rows * width * WIDTH}, where=str(path))
                return pl.read_parquet(source)
        with _unpacked(path) as file:
            head = file.read(len(BOM_UTF8))
        if is_utf16(head):
            raise DataError(IS_UTF16, where=str(path), hint="save the file as UTF-8")
        if kind == ".csv":
            return pl.read_csv(source, infer_schema=not texts)
        if head == BOM_UTF8:
            with _unpacked(path) as file:
                source = without_mark(file.read())
        return pl.read_ndjson(source, infer_schema_length=None)
    except unreadable as error:
        why = str(error).split("\n", 1)[0]
        raise DataError(f"cannot be read: {why}", where=str(path), allowed="CSV, Parquet or NDJSON, also gzipped") from error


def _within_limits(path: Path) -> Any:
    """Return the path, or the unpacked bytes of a large gzip file. Raises `ScenarioError` for a file above the limits."""
    size, limits = path.stat().st_size, Limits.in_force()
    within({"input": size}, where=str(path))
    if path.suffix.lower() != ".gz" or limits is None or size * DEFLATED <= limits.input:
        return path
    with _unpacked(path) as file:
        data = file.read(limits.input + 1)
    within({"input": len(data)}, where=str(path))
    return io.BytesIO(data)


def _unpacked(path: Path) -> Any:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


@contextmanager
def _no_backtrace() -> Iterator[None]:
    """Discard stderr in the block, because polars prints a 30-line backtrace before it raises for a damaged file."""
    before = os.dup(STDERR)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), STDERR)
        yield
    finally:
        os.dup2(before, STDERR)
        os.close(before)
