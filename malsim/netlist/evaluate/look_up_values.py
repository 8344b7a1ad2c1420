"""The value of an address, at every tick and in every replication that the frames hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

import polars as pl

from malsim.base.errors import AddressError, nearest
from malsim.memory.graph.handles import beginning_so
from malsim.netlist.evaluate.look_up_names import Frames, SignalRow, needs_edges, read
from malsim.netlist.graph.handle_lookup import at_version
from malsim.netlist.language.address import Call, Name, Path, Pin, Reduced, Row, address, column_of
from malsim.netlist.language.lexicon import DOMAINS
from malsim.netlist.wiring.net import leaves

if TYPE_CHECKING:
    from malsim.memory import Memory
    from malsim.netlist.language.address import Address, Hop

_INSTANT = ("t", "rep")


Plain: TypeAlias = Path | Row | Reduced | Pin | Name | SignalRow


def one_value(where: Address | SignalRow | str, frames: Frames) -> pl.DataFrame:
    """Evaluate an address with a value per instant: t, rep, value; raise `AddressError` if there are several."""
    values = evaluate(where, frames)
    if values["value"].dtype == pl.List or "row" in values.columns:
        rows = values["row"].drop_nulls().unique().sort().head(6).to_list() if "row" in values.columns else []
        hint = f"name one, as {_of_one(str(where), str(rows[0]), frames)}, or reduce them: " if rows else "reduce them: "
        allowed = ", ".join(map(str, rows)) or None
        raise AddressError(
            "this address has several values", given=str(where), allowed=allowed, hint=f"{hint}mean(…), max(…), share(…)"
        )
    return values


def _of_one(text: str, row: str, frames: Frames) -> str:
    head, dash, fields = text.partition("-")
    if isinstance(read(text, frames), SignalRow):
        return f"{text}({row})"
    return f"{head}({row}){dash}{fields}" if head in DOMAINS else f"{row}{dash}{fields}"


def evaluate(where: Address | SignalRow | str, frames: Frames | Memory, *, at: float | None = None) -> pl.DataFrame:
    """Evaluate an address.

    Parameters
    ----------
    where
        The address, or its text.
    frames
        Where to look; a memory is read in its current state.
    at
        Only the last tick at or before this time, in days; else every tick.

    Returns
    -------
    pl.DataFrame
        `t`, `rep`, `value`, one row an instant; with many values a column `row` says whose each one is. A hop reaches
        the active cells that an edge written by then leads to; a reducer over cells takes the active ones.

    Raises
    ------
    AddressError
        For a name that none of the frames knows, or an address that reads many cells as one.

    >>> cells = pl.DataFrame({"t": [0.0], "rep": [0], "cell": ["dec_a3ee"], "effective": [0.6]})
    >>> edges = pl.DataFrame(schema={"source": str, "relation": str, "target": str, "weight": float, "t": float})
    >>> evaluate("dec_a3ee-scores-eff", Frames(cells, edges))["value"].to_list()
    [0.6]
    """
    frames = frames if isinstance(frames, Frames) else Frames.of(frames)
    point = _plain(read(where, frames) if isinstance(where, str) else where)
    if isinstance(point, Path):
        values = _path(point, frames)
        if not point.hops:
            values = values.drop("row")
        elif not any(hop.every for hop in point.hops):
            values = _one(values, point)
    elif isinstance(point, Reduced):
        values = _reduce(point, frames)
    elif isinstance(point, Row):
        values = _rows(point, frames)
    else:
        values = _signal(point, frames)
    return values if at is None else values.filter(pl.col("t") == pl.col("t").filter(pl.col("t") <= at).max())


def _plain(point: Address | SignalRow) -> Plain:
    if isinstance(point, SignalRow):
        return point
    hops = any(isinstance(leaf, Row) and leaf.hops for leaf in leaves(point))
    if isinstance(point, Call) or (isinstance(point, Reduced) and isinstance(point.inner, Call)) or hops:
        hint = "net NAME op.in < THIS, and ask for the signal NAME"
        raise AddressError("functions, and neighbours of a row, are worked out on wires", given=str(point), hint=hint)
    return point


def cells_read(where: Address | str, frames: Frames) -> pl.DataFrame:
    """Return the cells whose values an address reads: t, rep, cell; none for one that reads signals or writers.

    Raises `AddressError` for a cell that the frames do not know.

    >>> cells = pl.DataFrame({"t": [0.0, 0.0], "rep": [0, 0], "cell": ["dec_a3ee", "obs_b0b1"], "status": ["active"] * 2})
    >>> edges = pl.DataFrame({"source": ["obs_b0b1"], "relation": ["supports"], "target": ["dec_a3ee"], "t": [0.0]})
    >>> cells_read("mean(dec_a3ee.~supports.*-scores-eff)", Frames(cells, edges))["cell"].to_list()
    ['obs_b0b1']
    """
    point = address(where) if isinstance(where, str) else where
    inner = point.inner if isinstance(point, Reduced) else point
    if isinstance(inner, Path):
        return _cells_at(inner, frames)
    cells = (_active(frames.cells) if isinstance(point, Reduced) else frames.cells).select(*_INSTANT, "cell")
    if not isinstance(inner, Row) or inner.domain != "cell":
        return cells.clear()
    return cells.filter(pl.col("cell") == inner.name) if inner.name else cells


def _path(point: Path, frames: Frames) -> pl.DataFrame:
    cells = frames.cells
    if needs_edges(point):
        cells = cells.join(_cells_at(point, frames), on=[*_INSTANT, "cell"], how="semi")
    else:
        cells = cells.filter(pl.col("cell") == _whole(point, frames))
    column = column_of(point.fields, cells.columns, point) if point.fields else "cell"
    return cells.select(*_INSTANT, pl.col("cell").alias("row"), pl.col(column).alias("value"))


def _cells_at(point: Path, frames: Frames) -> pl.DataFrame:
    cells = _start(point, frames)
    for hop in point.hops:
        cells = _across(cells, hop, frames, _edges(point, frames))
    return cells


def _start(point: Path, frames: Frames) -> pl.DataFrame:
    cells, handle = frames.cells.select(*_INSTANT, "cell"), _whole(point, frames)
    if point.version is None:
        return cells.filter(pl.col("cell") == handle)
    versions = at_version(handle, point.version, frames.cells, _edges(point, frames))
    own = pl.DataFrame(
        {"rep": list(versions), "cell": list(versions.values())}, schema_overrides={"rep": cells["rep"].dtype}
    )
    return cells.join(own, on=["rep", "cell"], how="semi")


def _whole(point: Path, frames: Frames) -> str:
    names = frames.cells["cell"].cast(pl.String)
    if (names == point.handle).any():
        return point.handle
    if (longer := beginning_so(point.handle, names)) is None:
        raise _no_such("cell", point.handle, names)
    return longer


def _no_such(what: str, name: str, names: pl.Series) -> AddressError:
    every = sorted(names.drop_nulls().unique().to_list())
    more = f" … ({len(every)} in all)" if len(every) > FEW else ""
    allowed = " ".join(every[:FEW]) + more or None
    return AddressError(f"no such {what}", given=name, allowed=allowed, hint=nearest(name, every) or None)


FEW = 12


def _edges(point: Path, frames: Frames) -> pl.DataFrame:
    if frames.edges is None:
        hint = "read it through a netlist signal, or from the run itself"
        raise AddressError("these frames hold no edges to follow", given=str(point), hint=hint)
    return frames.edges


def _across(cells: pl.DataFrame, hop: Hop, frames: Frames, edges: pl.DataFrame) -> pl.DataFrame:
    near, far = ("target", "source") if hop.incoming else ("source", "target")
    rep = ["rep"] if "rep" in edges.columns else []
    edges = edges.select(
        pl.col(near).alias("cell"), pl.col(far).alias("other"), "relation", pl.col("t").alias("written"), *rep
    )
    if hop.relation != "*":
        edges = edges.filter(pl.col("relation").cast(pl.String) == hop.relation)
    pairs = cells.join(edges, on=["cell", *rep]).filter(pl.col("written") <= pl.col("t"))
    ends = pairs.select(*_INSTANT, pl.col("other").alias("cell")).unique()
    return _active(frames.cells).select(*_INSTANT, "cell").join(ends, on=[*_INSTANT, "cell"], how="semi")


def _active(cells: pl.DataFrame) -> pl.DataFrame:
    return cells.filter(pl.col("status").cast(pl.String) == "active") if "status" in cells.columns else cells


def _one(rows: pl.DataFrame, point: Path) -> pl.DataFrame:
    if rows.select(pl.struct(_INSTANT).is_duplicated().any()).item():
        hint = "write .* after the hop, in a reducer where one value is wanted: mean(…)"
        raise AddressError("this address reaches more than one cell", given=str(point), hint=hint)
    return rows.drop("row")


def _reduce(point: Reduced, frames: Frames) -> pl.DataFrame:
    inner = point.inner
    if isinstance(inner, Pin):
        many = _signal(inner, frames)
    else:
        live = replace(frames, cells=_active(frames.cells))
        many = _path(inner, frames) if isinstance(inner, Path) else _rows(cast("Row", inner), live)
    kind = many.schema["value"]
    if not (point.reducer == "count" or kind.is_numeric() or kind in {pl.Boolean, pl.Null}):
        hint = "name a field of numbers, such as scores-eff, or count them"
        raise AddressError("a reducer takes numbers, and these are words", given=str(point), hint=hint)
    number = pl.col("value").cast(pl.Float64)
    how = {
        "mean": number.mean(), "sum": number.sum(), "max": number.max(), "min": number.min(),
        "count": pl.col("value").count().cast(pl.Int64), "share": (number != 0).mean(), "series": number,
        "median": number.median(), "distinct": pl.col("value").n_unique(),
    }[point.reducer]  # fmt: skip
    instants = frames.cells.select(_INSTANT).unique(maintain_order=True)
    values = instants.join(many.group_by(_INSTANT, maintain_order=True).agg(how.alias("value")), on=_INSTANT, how="left")
    return values.with_columns(pl.col("value").fill_null(0)) if point.reducer in {"count", "sum"} else values


def _rows(point: Row, frames: Frames) -> pl.DataFrame:
    frame, key = {"cell": (frames.cells, "cell"), "writer": (frames.writers, "writer")}.get(point.domain, (None, ""))
    if frame is None:
        raise AddressError("these frames hold no rows of this domain", given=str(point), allowed="cell or writer")
    column = column_of(point.fields, frame.columns, point)
    values = frame.select(*_INSTANT, pl.col(key).alias("row"), pl.col(column).alias("value"))
    if not point.name:
        return values
    own = values.filter(pl.col("row") == point.name)
    if own.is_empty():
        raise _no_such(point.domain, point.name, values["row"])
    return own.drop("row")


def _signal(point: Pin | Name | SignalRow, frames: Frames) -> pl.DataFrame:
    if frames.signals is None:
        raise AddressError("nothing here has signals", given=str(point), hint="run a scenario with a netlist")
    name, row = (point.signal, point.row) if isinstance(point, SignalRow) else (str(point), "")
    values = frames.signals.filter(pl.col("signal") == frames.pins.get(name, name))
    if values.is_empty():
        raise _no_such("signal", name, frames.signals["signal"])
    values = values.select(*_INSTANT, "row", "value")
    if row and not (own := values.filter(pl.col("row").cast(pl.String) == row)).is_empty():
        return own.drop("row")
    if row:
        raise _no_such(f"row of {name}", row, values["row"].cast(pl.String))
    return values.drop("row") if values["row"].is_null().all() else values
