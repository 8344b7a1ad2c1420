"""Functions that convert claims, given as mappings or as a frame, to one row per claim. The values are checked later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from malsim.base.errors import DataError, nearest
from malsim.base.screen import holds_secret
from malsim.memory import schema
from malsim.memory.graph.frames import LazyRows, lists, to_array, with_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

Claims = pl.DataFrame | Mapping[str, Any] | Sequence[Any]

_DEFAULTS: dict[str, object] = {
    "rep": 0,
    "t": 0.0,
    "body": "",
    "stability": "stable",
    "verification": "unverified",
    "origin": "llm",
    "sensitivity": "private",
    **dict.fromkeys(schema.FLAGS, False),
    "allow_background_use": True,
}
_LEFT_OUT = {name: pl.Series(name, [_DEFAULTS.get(name)], dtype=kind) for name, kind in schema.CLAIMS.items()}
_FILLS = {name: value for name, value in _DEFAULTS.items() if name != "body"} | {"sequence": 0}
_WITHOUT_DEFAULT = frozenset(schema.CLAIMS) - {*_DEFAULTS, "sequence"}
_ORDERED_BY = {name: schema.CLAIMS[name] for name in ("t", "writer", "sequence")}
_NUMBERS: dict[Any, Any] = {pl.Float64: np.float64, pl.Int32: np.int64, pl.Int64: np.int64, pl.Boolean: np.bool_}
_ARRAYS = {name: _NUMBERS.get(kind, object) for name, kind in schema.CLAIMS.items()}  # null numbers become NaN


def as_claims(claims: Claims) -> pl.DataFrame:
    """Return claims with every column of `schema.CLAIMS`, in gate order: sorted by time, writer and sequence number.

    An absent column gets its default, as does a null in `rep`, `t`, a flag or an enumerated field. The default `kind` is
    that of the handle. Raises `DataError` for a column that is unknown or has the wrong type.
    """
    if not isinstance(claims, pl.DataFrame):
        return read_claims(claims).frame()
    for name in claims.columns:
        if name not in schema.CLAIMS:
            hint = nearest(name, schema.CLAIMS, f"choose one of {', '.join(schema.CLAIMS)}")
            raise DataError("unknown column", where="claims", given=_safe_name(name), hint=hint)
    if claims.schema != schema.CLAIMS or any(claims[name].null_count() for name in _FILLS):
        claims = pl.DataFrame([_column(claims, name, kind) for name, kind in schema.CLAIMS.items()])
    order = gate_order(claims) if claims.height > 1 else None
    return claims if order is None else claims[order]


def read_claims(claims: Claims) -> LazyRows:
    """Return the claims as `as_claims` does, but as rows whose data frame is built only on demand."""
    if isinstance(claims, pl.DataFrame):
        return rows_of_claims(as_claims(claims))
    read = _read(claims, null_is_absent=True)
    if len(read) > 1:
        sequence = [row.get("sequence") for row in read]
        if None in sequence:
            read = [row | {"sequence": index} for index, row in enumerate(read)]
        keys = [(row.get("t") or 0.0, row.get("writer"), row["sequence"]) for row in read]
        order = gate_order(pl.DataFrame(keys, schema=_ORDERED_BY, orient="row"))
        read = read if order is None else [read[index] for index in order.tolist()]
    given = {name for row in read for name in row}

    def values(name: str) -> list[Any]:
        if (default := _FILLS.get(name)) is None:
            return [row.get(name) for row in read]
        return [default if row.get(name) is None else row[name] for row in read]

    def make(name: str) -> NDArray[Any]:
        kind = _ARRAYS[name]
        return lists(values(name)) if kind is object else np.array(values(name), dtype=kind)

    def series(name: str) -> pl.Series:
        return pl.Series(name, values(name), dtype=schema.CLAIMS[name])

    return LazyRows(len(read), None, {}, _WITHOUT_DEFAULT - given, make, schema.CLAIMS, series)


def rows_of_claims(frame: pl.DataFrame) -> LazyRows:
    """Return a frame of claims as `LazyRows`. The kind and other enumerated fields remain strings."""

    def make(name: str) -> NDArray[Any]:
        return frame[name].to_numpy() if name in schema.WORDS else to_array(frame[name])

    blank = {name for name in _WITHOUT_DEFAULT & {*frame.columns} if frame[name].null_count() == frame.height}
    return LazyRows(frame.height, frame, {}, frozenset(blank), make, series=frame.get_column)


def gate_order(claims: pl.DataFrame) -> NDArray[np.int64] | None:
    """Return the row indices in order of time, writer and sequence number, or None if the times already increase."""
    if (np.diff(claims["t"].to_numpy()) > 0.0).all():
        return None
    by = pl.arg_sort_by("t", "writer", "sequence", nulls_last=True, maintain_order=True)
    return claims.select(by).to_series().to_numpy().astype(np.int64)


def _column(frame: pl.DataFrame, name: str, kind: Any) -> pl.Series:
    height = frame.height
    if name == "sequence" and (name not in frame.columns or frame[name].null_count()):
        return pl.int_range(height, eager=True, dtype=pl.Int64).alias(name)
    if name not in frame.columns:
        return _LEFT_OUT[name].new_from_index(0, height) if height else _LEFT_OUT[name].clear()
    column = frame[name] if frame[name].dtype == kind else _cast(frame[name], kind)
    return column.fill_null(_FILLS[name]) if name in _FILLS and column.null_count() else column


def _cast(column: pl.Series, kind: Any) -> pl.Series:
    if column.dtype == pl.Null:
        return column.cast(kind)
    where, given = f"claims.{column.name}", str(column.dtype)
    refusal = DataError("the column has the wrong type", where=where, given=given, allowed=str(kind))
    not_numeric = kind in (pl.Float64, pl.Int32, pl.Int64) and not column.dtype.is_numeric()
    not_text = kind == pl.String and not isinstance(column.dtype, (pl.Enum, pl.Categorical))
    if not_numeric or not_text or column.dtype == pl.Object:
        raise refusal
    try:
        if column.dtype.is_nested() and isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct):
            return _cast_edges(column, kind)
        return column.cast(kind)
    except pl.exceptions.PolarsError as error:
        raise refusal from error


def _cast_edges(column: pl.Series, kind: pl.List) -> pl.Series:
    fields = {part.name: part.dtype for part in kind.inner.fields}  # type: ignore[union-attr]
    inner = column.dtype.inner  # type: ignore[attr-defined]
    if not isinstance(inner, (pl.Struct, pl.Null)):
        raise DataError("the column has the wrong type", where="claims.edges", given=str(column.dtype), allowed=str(kind))
    names = [part.name for part in inner.fields] if isinstance(inner, pl.Struct) else []
    if unknown := set(names) - set(fields):
        raise DataError("an edge has an unknown field", where="claims.edges", given=min(unknown), allowed=", ".join(fields))
    parts = [
        (pl.element().struct.field(name) if name in names else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in fields.items()
    ]
    return column.list.eval(pl.struct(parts)).cast(kind)


def _safe_name(name: object) -> str:
    is_name = isinstance(name, str) and len(name) <= LONGEST_NAME and name.replace(".", "_").isidentifier()
    return name if isinstance(name, str) and is_name and not holds_secret(name) else "(not a field name)"


LONGEST_NAME = 40


def from_mappings(rows: Mapping[str, Any] | Sequence[Any], *, null_is_absent: bool = True) -> pl.DataFrame:
    """Read claims from mappings as loaded from JSON or TOML.

    A value of the wrong type becomes null and is listed as an issue. A row that is not a mapping counts as empty. Flags may
    be in a table `flags`. A null counts as an absent field if `null_is_absent`, otherwise as a value of the wrong type.

    >>> from_mappings([{"title": 3, "writer": "ann"}])["issues"].to_list()
    [[{'path': 'title', 'message': 'must be text'}]]
    """
    read = _read(rows, null_is_absent=null_is_absent)
    names = {name for row in read for name in row} | {"issues"}
    frame_schema = {name: kind for name, kind in schema.CLAIMS.items() if name in names}
    return pl.DataFrame([{name: row.get(name) for name in frame_schema} for row in read], schema=frame_schema)


def _read(rows: Mapping[str, Any] | Sequence[Any], *, null_is_absent: bool) -> list[dict[str, Any]]:
    listed = [rows] if isinstance(rows, Mapping) else list(rows)
    return [_row(row if isinstance(row, Mapping) else {}, null_is_absent=null_is_absent) for row in listed]


def _row(mapping: Mapping[str, Any], *, null_is_absent: bool) -> dict[str, Any]:
    row: dict[str, Any] = {}
    issues: list[dict[str, str]] = []
    flat = {key: value for key, value in mapping.items() if key != "flags" and not (null_is_absent and value is None)}
    flags = mapping.get("flags", {})
    if isinstance(flags, Mapping):
        flat |= {f"flags.{name}": value for name, value in flags.items() if name in schema.FLAGS}
    else:
        issues.append({"path": "flags", "message": "must be a table of flags"})
    for path, value in flat.items():
        name = str(path).removeprefix("flags.")
        if name not in schema.CLAIMS or name == "issues":
            near = nearest(name, schema.CLAIMS, "run `malsim docs --schema` to list them")
            issues.append({"path": _safe_name(name), "message": f"unknown field; {near}"})
        else:
            row[name] = _value(path, value, schema.CLAIMS[name], issues)
    return {"body": ""} | row | {"issues": issues}


def _value(path: str, value: Any, kind: Any, issues: list[dict[str, str]]) -> Any:
    if kind == schema.CLAIMS["edges"]:
        return _edges(path, value, issues)
    if kind == schema.CLAIMS["topics"]:
        if not isinstance(value, (list, tuple)):
            issues.append({"path": path, "message": "must be a list of texts"})
            return None
        return [_value(f"{path}[{i}]", item, pl.String, issues) for i, item in enumerate(value)]
    allowed, phrase = _PYTHON[kind]
    if isinstance(value, allowed) and isinstance(value, bool) == (kind == pl.Boolean):
        try:
            if isinstance(value, str):
                value.encode()  # raises an error for a lone surrogate, which polars cannot store
            return _CONVERT[kind](value) if kind in _CONVERT else value
        except (OverflowError, UnicodeEncodeError):
            phrase = f"{phrase} that a column can hold"
    if not (value is None and path in ("expires", "reverify")):
        issues.append({"path": path, "message": f"must be {phrase}"})
    return None


_CONVERT: dict[Any, Callable[[Any], Any]] = {
    pl.Float64: float,
    pl.Int32: lambda number: int(np.int32(number)),
    pl.Int64: lambda number: int(np.int64(number)),
}
_PYTHON: dict[Any, tuple[tuple[type, ...], str]] = {
    pl.String: ((str,), "text"),
    pl.Float64: ((int, float), "a number"),
    pl.Int32: ((int,), "a whole number"),
    pl.Int64: ((int,), "a whole number"),
    pl.Boolean: ((bool,), "true or false"),
}
_EDGE_FIELDS = {"relation": pl.String, "target": pl.String, "weight": pl.Float64, "mutual": pl.Boolean}


def _edges(path: str, value: Any, issues: list[dict[str, str]]) -> list[dict[str, Any]] | None:
    if not isinstance(value, (list, tuple)):
        issues.append({"path": path, "message": "must be a list of edges"})
        return None
    read = []
    for i, item in enumerate(value):
        edge = item if isinstance(item, Mapping) else {}
        issues += [
            {"path": f"{path}[{i}].{_safe_name(key)}", "message": f"unknown field; allowed: {', '.join(_EDGE_FIELDS)}"}
            for key in edge
            if key not in _EDGE_FIELDS
        ]
        read.append(
            {
                key: _value(f"{path}[{i}].{key}", edge[key], kind, issues) if key in edge else None
                for key, kind in _EDGE_FIELDS.items()
            }
        )
    return read


Issue: TypeAlias = tuple[int, str, str]  # claim index, path of the field, message
Note: TypeAlias = tuple[int, str]  # claim index, text


@dataclass(frozen=True)
class Validated:
    """Checked claims with their features, edges, issues and notes.

    `claims` has the columns of `schema.CLAIMS` except edges and issues, the number `claim`, and the features folded (title),
    content (hash), marked (locked or immutable), backed (by a source or verification) and the codes of its words; in a run
    also `author`, the row of the writer (NONE if unknown). `edges` has claim (row of claims), place (index in the claim),
    target, row (of the target cell, NONE if its name must be looked up), weight, mutual and code (of the relation, -1 if
    unknown). `new` claims are known to repeat neither a cell nor each other, so their contents are not compared.
    """

    claims: LazyRows
    edges: LazyRows
    issues: Sequence[Issue] = ()
    notes: Sequence[Note] = ()
    new: bool = False

    @classmethod
    def joined(cls, first: Validated, second: Validated) -> tuple[Validated, NDArray[np.int64]]:
        """Merge two batches in gate order. Return the merged batch and the index of each row in `first` + `second`."""
        names, count = first.claims.frame().columns, first.claims.height
        before, after = (batch.edges.frame() for batch in (first, second))
        edges = pl.concat([before, after.with_columns(pl.col("claim") + count).select(before.columns)])
        claims = pl.concat([first.claims.frame(), second.claims.frame().select(names)])
        issues = [*first.issues, *((count + claim, path, message) for claim, path, message in second.issues)]
        notes = [*first.notes, *((count + claim, text) for claim, text in second.notes)]
        both = cls(LazyRows.of(claims), LazyRows.of(edges), issues, notes)
        order = gate_order(claims)
        order = np.arange(claims.height) if order is None else order
        return both.rows(order), order

    def rows(self, order: NDArray[np.integer[Any]]) -> Validated:
        numbers = np.arange(len(order), dtype=np.uint32)
        claims = with_columns(self.claims.frame()[order], {"claim": numbers})
        new = pl.DataFrame([pl.Series("claim", order, dtype=pl.UInt32), pl.Series("new", numbers)])
        edges = new.join(self.edges.frame(), on="claim", maintain_order="left_right").drop("claim").rename({"new": "claim"})
        index = {claim: number for number, claim in enumerate(order.tolist())} if self.issues or self.notes else {}
        issues = [(index[claim], path, message) for claim, path, message in self.issues if claim in index]
        notes = [(index[claim], text) for claim, text in self.notes if claim in index]
        issues, notes = sorted(issues, key=itemgetter(0)), sorted(notes, key=itemgetter(0))
        return Validated(LazyRows.of(claims), LazyRows.of(edges), issues, notes)
