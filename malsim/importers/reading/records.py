"""Output of an importer: cells and edges identified by key, and counts of what was imported and left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

import polars as pl

from malsim.base.finite import is_number
from malsim.importers.reading.dates import date_of
from malsim.importers.reading.put import EDGES, ROW
from malsim.memory.tables.stored_wires import Standing

EXTRAS: dict[str, pl.DataType | type[pl.DataType]] = {"cell": pl.String, "name": pl.String, "value": pl.String}
RELATION = "relation"  # name of the extra that marks a claim imported from a relation
_DAY = 86_400.0
_LATEST_SECONDS = 1e11  # larger numbers are taken as milliseconds


@dataclass(frozen=True, kw_only=True)
class Options:
    """Import settings that the user supplies because the source does not contain them. See `malsim import --help`.

    `scopes` numbers the source's scopes in order of appearance; each becomes a replication. If None, every cell is public.
    """

    confidence: float | None = None
    payload: Any = None
    writer_segment: int | None = None
    contradict: bool = False
    scopes: dict[str, int] | None = None


@dataclass(kw_only=True)
class Records:
    """Content read from a source: cells and edges identified by key, with days counted from 1970.

    `form` names the source's format. `cells` has `key` and any other columns of `put.ROW`. `counts` holds report lines
    in order. `extras` (key of the cell, name, value as JSON) holds values for which malsim has no column. `wiring` is a
    netlist that runs at a store's ticks. `programs` has the keys of prg cells whose program is not in the body.
    """

    form: str
    cells: pl.DataFrame
    edges: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EDGES))
    extras: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=EXTRAS))
    counts: dict[str, int] = field(default_factory=dict)
    wiring: Standing | None = None
    programs: frozenset[str] = frozenset()


def day_of(value: object, *, local: bool = False) -> float | None:
    """Convert a date, or a number of seconds or milliseconds since 1970, to days since 1970. Return None for other values.

    A date without a time zone is in UTC, or in this machine's time zone if `local` is true.

    >>> day_of("1970-01-02T12:00:00+00:00"), day_of(86_400), day_of(1767225600000), day_of("soon"), day_of(None)
    (1.5, 1.0, 20454.0, None, None)
    """
    if isinstance(value, str):
        at = date_of(value)
        if at is None:
            return None
        try:
            at = (at.astimezone() if local else at.replace(tzinfo=UTC)) if at.tzinfo is None else at
            return at.timestamp() / _DAY
        except (OverflowError, OSError):
            return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e15:  # noqa: PLR2004  # the year 33658
        return value / _DAY / (1000.0 if value > _LATEST_SECONDS else 1.0)
    return None


def texts(name: str, items: Iterable[object]) -> pl.Series:
    """Return a string column. Numbers become strings, and values of other types become null."""
    values = list(items)
    try:
        return pl.Series(name, values, pl.String)
    except (TypeError, pl.exceptions.PolarsError):
        strings = [str(value) if isinstance(value, (int, float)) else value for value in values]
        return pl.Series(name, [value if isinstance(value, str) else None for value in strings], pl.String)


def null_if_blank(name: str) -> pl.Expr:
    """Return a column expression that replaces blank strings with null."""
    return pl.when(pl.col(name).str.strip_chars() != "").then(pl.col(name)).alias(name)


def lists(name: str, items: Iterable[list[str] | None]) -> pl.Series:
    """Return a column of string lists, built from the flat items, which is eight times faster than row by row."""
    values = list(items)
    counts = [len(entry) if entry else 0 for entry in values]
    rows = pl.DataFrame({"row": pl.int_range(len(values), eager=True), "times": pl.Series(counts, dtype=pl.UInt32)})
    flat = rows.select(pl.col("row").repeat_by("times")).filter(pl.col("row").list.len() > 0).explode("row")
    flat = flat.with_columns(pl.Series(name, [item for entry in values for item in entry or ()], pl.String))
    return rows.join(flat.group_by("row").agg(name), on="row", how="left", maintain_order="left")[name].fill_null([])


def key_of(*parts: str) -> str:
    """Return a key for a claim without one: a hash of its content, so that importing the file again gives the same key."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def text_of(value: object) -> str | None:
    """Return the value if it is a non-blank string, otherwise None.

    Lone surrogates are replaced, because UTF-8 cannot encode them.
    """
    if not isinstance(value, str) or not value.strip():
        return None
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


class Collector:
    """Dictionary of cells by key, filled one cell at a time. Each cell has some of the columns in `put.ROW`.

    `edges` holds (source, relation, target, weight), `extras` holds (key, name, value as JSON).
    """

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._index: dict[str, int] = {}
        self.edges: list[tuple[str, str, str, float]] = []
        self.extras: list[tuple[str, str, str]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._index

    def __getitem__(self, key: str) -> dict[str, Any]:
        return self._rows[self._index[key]]

    def add(self, key: str, **values: Any) -> None:
        self._index[key] = len(self._rows)
        self._rows.append(values | {"key": key})

    def supersede(self, old: str, new: str) -> None:
        self.edges.append((new, "supersedes", old, 0.0))
        self[old]["status"] = "superseded"

    def annex(self, key: str) -> None:
        self[key].update(status="annexed", annexed=True)

    def add_extras(self, key: str, record: Mapping[str, Any], names: Iterable[str]) -> None:
        self.extras += [(key, name, to_json(record[name])) for name in names if record.get(name) is not None]

    def records(self, form: str, counts: Mapping[str, int]) -> Records:
        names = dict.fromkeys(name for row in self._rows for name in row) or {"key": None}
        columns = {name: [row.get(name) for row in self._rows] for name in names}
        return Records(
            form=form,
            cells=pl.DataFrame(
                [
                    lists(name, values) if isinstance(ROW[name], pl.List) else pl.Series(name, values, ROW[name])
                    for name, values in columns.items()
                ]
            ),
            edges=pl.DataFrame(self.edges, schema=EDGES, orient="row"),
            extras=pl.DataFrame(self.extras, schema=EXTRAS, orient="row"),
            counts=dict(counts),
        )


_RELATIONS = {
    "supports": ("supports", 1.0), "support": ("supports", 1.0), "confirms": ("supports", 1.0),
    "contradicts": ("contradicts", -1.0), "conflicts_with": ("contradicts", -1.0), "contradict": ("contradicts", -1.0),
    "supersedes": ("supersedes", 0.0), "replaces": ("supersedes", 0.0), "corrects": ("supersedes", 0.0),
    "updates": ("supersedes", 0.0), "derived_from": ("derived_from", 0.0), "depends_on": ("depends_on", 0.0),
    "concerns": ("concerns", -0.5),
}  # fmt: skip


def relation_of(word: object) -> tuple[str, float]:
    """Return the relation that another memory's word stands for, and its weight. An unknown word becomes `concerns`."""
    name = word.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(word, str) else ""
    return _RELATIONS.get(name, ("concerns", -0.5))


def share_of(value: object) -> float | None:
    """Return the value as a float if it is a number from 0 to 1, otherwise None."""
    return float(value) if is_number(value) and 0.0 <= value <= 1.0 else None


def texts_of(value: object) -> list[str]:
    """Return the strings in a list, a JSON list or a comma-separated string. An object contributes its name."""
    value = from_json(value) if isinstance(value, str) and value[:1] == "[" else value
    if isinstance(value, str):
        return [text for part in value.split(",") if (text := text_of(part.strip()))]
    return [text for item in value if (text := text_of(_label(item)))] if isinstance(value, list) else []


def _label(item: object) -> object:
    return next((item[name] for name in ("name", "text", "id") if name in item), None) if isinstance(item, dict) else item


def from_json(value: object) -> Any:
    """Decode JSON text. Return None for invalid JSON; return a value that is neither text nor bytes unchanged."""
    if isinstance(value, (bytes, str)):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def first_text(record: Mapping[str, Any], *names: str) -> str | None:
    return next((text for name in names if (text := text_of(record.get(name)))), None)
