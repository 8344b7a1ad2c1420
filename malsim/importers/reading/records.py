"""What an importer hands on: cells and edges by key, and counts of what came and what did not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.importers.reading.dates import milliseconds
from malsim.importers.reading.put import EDGES, ROW

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["EXTRAS", "RELATION", "Options", "Records", "day_of", "days_of", "edges_of", "key_of", "text_of"]

EXTRAS: dict[str, pl.DataType | type[pl.DataType]] = {"cell": pl.String, "name": pl.String, "value": pl.String}
RELATION = "relation"  # the extra that tells a claim that was a relation apart
_DAY = 86_400.0
_LATEST_SECONDS = 1e11  # a larger number counts milliseconds


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the user says that a file cannot: see `malsim import --help`."""

    confidence: float | None = None
    payload: Any = None
    writer_segment: int | None = None
    contradict: bool = False


@dataclass(kw_only=True)
class Records:
    """What a source holds: cells and edges by key, with days counted from 1970.

    `form` names the source's format. `cells` has columns of `put.ROW`, `key` at least; what is left out is absent.
    `counts` are lines of the report, in order; `extras` are values that malsim has no column for: cell (its key), name,
    value as JSON.
    """

    form: str
    cells: pl.DataFrame
    edges: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EDGES))
    extras: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EXTRAS))
    counts: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        form: str,
        columns: Mapping[str, Sequence[Any]],
        *,
        edges: pl.DataFrame | None = None,
        extras: Sequence[tuple[str, str, str]] = (),
        counts: Mapping[str, int] | None = None,
    ) -> Records:
        """Records from columns of cells as lists."""
        cells = pl.DataFrame([_series(name, held) for name, held in columns.items()])
        return cls(
            form=form,
            cells=cells,
            edges=pl.DataFrame(schema=EDGES) if edges is None else edges,
            extras=pl.DataFrame(list(extras), schema=EXTRAS, orient="row"),
            counts=dict(counts or {}),
        )


def _series(name: str, held: Sequence[Any]) -> pl.Series:
    """A column; lists are put together from their items, which is many times as fast as one by one."""
    if not isinstance(ROW[name], pl.List):
        return pl.Series(name, held, ROW[name])
    counts = [len(one) if one else 0 for one in held]
    rows = pl.DataFrame({"row": pl.int_range(len(held), eager=True), "times": pl.Series(counts, dtype=pl.UInt32)})
    flat = rows.select(pl.col("row").repeat_by("times")).filter(pl.col("row").list.len() > 0).explode("row")
    flat = flat.with_columns(pl.Series(name, [item for one in held for item in one or ()], pl.String))
    joined = rows.join(flat.group_by("row").agg(name), on="row", how="left", maintain_order="left")
    return joined[name].fill_null([])


def edges_of(edges: Iterable[tuple[str, str, str, float]]) -> pl.DataFrame:
    """Edges from rows (source, relation, target, weight)."""
    return pl.DataFrame(list(edges), schema=EDGES, orient="row")


def day_of(value: object, *, local: bool = False) -> float | None:
    """A date, or a count of seconds or milliseconds since 1970, as days after 1970; None for what is neither.

    A date without a zone is UTC, or under `local` of this machine's zone.

    >>> day_of("1970-01-02T12:00:00+00:00"), day_of(86_400), day_of(1767225600000), day_of("soon"), day_of(None)
    (1.5, 1.0, 20454.0, None, None)
    """
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            found = milliseconds(value) if any(map(str.isdigit, value)) and not value.isdigit() else None
            return None if found is None else found / _DAY / 1000.0
        try:
            at = (at.astimezone() if local else at.replace(tzinfo=UTC)) if at.tzinfo is None else at
            return at.timestamp() / _DAY
        except (OverflowError, OSError):
            return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e15:  # noqa: PLR2004  # the year 33658
        return value / _DAY / (1000.0 if value > _LATEST_SECONDS else 1.0)
    return None


def days_of(values: Iterable[object], *, local: bool = False) -> list[float | None]:
    """`day_of` each."""
    return [day_of(value, local=local) for value in values]


def key_of(*parts: str) -> str:
    """A key for what bears none: a hash of what makes it that very claim, the same whenever the file is read again."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def text_of(value: object) -> str | None:
    """A text that is not blank, without halves of letters that UTF-8 cannot hold; None for anything else."""
    if not isinstance(value, str) or not value.strip():
        return None
    return value if value.isascii() else value.encode("utf-8", "replace").decode()
