"""Evaluation of addresses in recorded frames, used by checks, plots, reports and queries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import polars as pl

from malsim.base.errors import AddressError, nearest
from malsim.memory.graph.texts import handle_with_prefix
from malsim.memory.law_steps import present
from malsim.netlist.graph.handle_lookup import at_version
from malsim.netlist.language.address import Call, Name, Path, Reduced, Row, address, column_of
from malsim.netlist.language.lexicon import DOMAINS
from malsim.netlist.wiring.net import leaves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory import Memory
    from malsim.netlist.language.address import Address, Hop, Pin

FEW = 12
_OF_ROW = re.compile(r"([^()]+)\(([^()]+)\)")
_INSTANT = ("t", "rep")


@dataclass(frozen=True, slots=True)
class SignalRow:
    """Reference to a recorded signal, such as `right`, or to one row of a signal, such as `right(pump)`."""

    signal: str
    row: str = ""

    def __str__(self) -> str:
        return f"{self.signal}({self.row})" if self.row else self.signal


@dataclass(frozen=True)
class Frames:
    """Frames in which addresses are looked up, recorded by a run or taken from one memory.

    `cells` has a row per t, rep and cell (its handle), `writers` per t, rep and writer, `signals` per t, rep, signal
    and row. `edges` has source and target (handles), relation, weight, time written, and rep if replications differ;
    None if edges were not recorded. `pins` maps pins to signals.
    """

    cells: pl.DataFrame
    edges: pl.DataFrame | None = None
    writers: pl.DataFrame | None = None
    signals: pl.DataFrame | None = None
    pins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: Memory, *, t: float = 0.0) -> Frames:
        """Return the frames of one memory as a reader sees it at time `t` (see `malsim.memory.law_steps.present`)."""
        memory = present(memory).memory
        handle = memory.cells["handle"]
        cells = memory.cells.with_columns(
            pl.lit(t, pl.Float64).alias("t"),
            handle.alias("cell"),
            handle.gather(memory.cells["successor"]).alias("successor"),
        )
        return cls(cells, edges_by_handle(memory), memory.writers.with_columns(pl.lit(t, pl.Float64).alias("t")))


def edges_by_handle(memory: Memory) -> pl.DataFrame:
    handle, source, target = memory.cells["handle"], memory.edges["source"], memory.edges["target"]
    rep = memory.cells["rep"].gather(source).alias("rep")
    return memory.edges.with_columns(rep, handle.gather(source).alias("source"), handle.gather(target).alias("target"))


def read(text: str, frames: Frames) -> Address | SignalRow:
    """Parse text as a signal name, a pin, a row of a signal, or an address. Raise `AddressError` if nothing matches."""
    if frames.signals is not None:
        row = _OF_ROW.fullmatch(text)
        for name, label in ((text, ""), *(((row[1], row[2]),) if row else ())):
            signal = frames.pins.get(name, name)
            if (frames.signals["signal"] == signal).any():
                return SignalRow(signal, label)
    point = address(text)
    head, _, fields = text.partition("-")
    if fields and isinstance(point, Name) and (frames.cells["cell"].cast(pl.String) == head).any():
        return Row("cell", tuple(fields.split("-")), head)  # the text names an item of a law, and items have no handles
    return point


def crosses(text: str) -> bool:
    """Return True if an address can read cells other than the one it names: by following edges, by version or by reduction.

    >>> crosses("mean(dec_a3ee.~supports.*-scores-eff)"), crosses("dec_a3ee@v2-scores-eff"), crosses("dec_a3ee-scores-eff")
    (True, True, False)
    """
    try:
        point = address(text)
    except AddressError:  # the text is not an address but, for example, a row of a signal or a metric
        return False
    return isinstance(point, Reduced | Call) or (isinstance(point, Path) and needs_edges(point))


def needs_edges(point: Path) -> bool:
    return bool(point.hops) or point.version is not None


def one_value(where: Address | SignalRow | str, frames: Frames) -> pl.DataFrame:
    """Evaluate an address to one value per instant, as columns t, rep and value.

    Raise `AddressError` if there are several values at one instant.
    """
    values = evaluate(where, frames)
    if values["value"].dtype == pl.List or "row" in values.columns:
        rows = values["row"].drop_nulls().unique().sort().head(6).to_list() if "row" in values.columns else []
        allowed, hint = ", ".join(map(str, rows)) or None, "reduce them: mean(…), max(…), share(…)"
        if rows:
            head, dash, fields = str(where).partition("-")
            example = f"{head}({rows[0]}){dash}{fields}" if head in DOMAINS else f"{rows[0]}{dash}{fields}"
            example = f"{where}({rows[0]})" if isinstance(read(str(where), frames), SignalRow) else example
            hint = f"name one row, such as {example}, or {hint}"
        raise AddressError("this address has several values", given=str(where), allowed=allowed, hint=hint)
    return values


def evaluate(where: Address | SignalRow | str, frames: Frames | Memory, *, at: float | None = None) -> pl.DataFrame:
    """Evaluate an address, or its text, in recorded frames or in the current state of a memory.

    Returns `t`, `rep` and `value`, one row per instant, and `row` if there are several values; with `at` (days), only
    the last tick up to `at`. Hops and reducers over cells use active cells only. Raises `AddressError` for unknown
    names.

    >>> cells = pl.DataFrame({"t": [0.0], "rep": [0], "cell": ["dec_a3ee"], "effective": [0.6]})
    >>> edges = pl.DataFrame(schema={"source": str, "relation": str, "target": str, "weight": float, "t": float})
    >>> evaluate("dec_a3ee-scores-eff", Frames(cells, edges))["value"].to_list()
    [0.6]
    """
    frames = frames if isinstance(frames, Frames) else Frames.of(frames)
    point = read(where, frames) if isinstance(where, str) else where
    if isinstance(point, SignalRow):
        values = _signal(point, frames)
    elif isinstance(getattr(point, "inner", point), Call) or any(
        isinstance(leaf, Row) and leaf.hops for leaf in leaves(point)
    ):
        hint = "write net NAME op.in < ADDRESS, and read the signal NAME"
        raise AddressError("only a net can evaluate functions and hops from rows", given=str(point), hint=hint)
    elif isinstance(point, Path):
        values = _path(point, frames)
        if point.hops and not any(hop.every for hop in point.hops):
            if values.select(pl.struct(_INSTANT).is_duplicated().any()).item():
                hint = "write .* after the hop, or reduce the values: mean(…)"
                raise AddressError("this address reaches more than one cell", given=str(point), hint=hint)
            values = values.drop("row")
        values = values if point.hops else values.drop("row")
    elif isinstance(point, Reduced):
        values = _reduce(point, frames)
    else:
        values = _rows(point, frames) if isinstance(point, Row) else _signal(point, frames)
    return values if at is None else values.filter(pl.col("t") == pl.col("t").filter(pl.col("t") <= at).max())


def cells_read(where: Address | str, frames: Frames) -> pl.DataFrame:
    """Return the cells that an address reads, as columns t, rep and cell.

    The frame is empty if the address reads signals or writers.

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
        cells = cells.filter(pl.col("cell") == _full_handle(point, frames))
    column = column_of(point.fields, cells.columns, point) if point.fields else "cell"
    return cells.select(*_INSTANT, pl.col("cell").alias("row"), pl.col(column).alias("value"))


def _cells_at(point: Path, frames: Frames) -> pl.DataFrame:
    cells = _start_cells(point, frames)
    for hop in point.hops:
        cells = _cross_edges(cells, hop, frames, _edges(point, frames))
    return cells


def _start_cells(point: Path, frames: Frames) -> pl.DataFrame:
    cells, handle = frames.cells.select(*_INSTANT, "cell"), _full_handle(point, frames)
    if point.version is None:
        return cells.filter(pl.col("cell") == handle)
    versions = at_version(handle, point.version, frames.cells, _edges(point, frames))
    columns = {"rep": list(versions), "cell": list(versions.values())}
    version_cells = pl.DataFrame(columns, schema_overrides={"rep": cells["rep"].dtype})
    return cells.join(version_cells, on=["rep", "cell"], how="semi")


def _full_handle(point: Path, frames: Frames) -> str:
    names = frames.cells["cell"].cast(pl.String)
    if (names == point.handle).any():
        return point.handle
    if (longer := handle_with_prefix(point.handle, names)) is None:
        raise _unknown("no such cell", point.handle, names)
    return longer


def _unknown(problem: str, name: str, names: pl.Series) -> AddressError:
    every = sorted(names.drop_nulls().unique().to_list())
    more = f" … ({len(every)} in all)" if len(every) > FEW else ""
    allowed = " ".join(every[:FEW]) + more or None
    return AddressError(problem, given=name, allowed=allowed, hint=nearest(name, every) or None)


def _edges(point: Path, frames: Frames) -> pl.DataFrame:
    if frames.edges is None:
        hint = "read the address through a netlist signal, or from the run itself"
        raise AddressError("edges were not recorded", given=str(point), hint=hint)
    return frames.edges


def _cross_edges(cells: pl.DataFrame, hop: Hop, frames: Frames, edges: pl.DataFrame) -> pl.DataFrame:
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


def _reduce(point: Reduced, frames: Frames) -> pl.DataFrame:
    inner = point.inner
    if isinstance(inner, Path):
        many = _path(inner, frames)
    elif isinstance(inner, Row):
        many = _rows(inner, replace(frames, cells=_active(frames.cells)))
    else:
        many = _signal(cast("Pin", inner), frames)
    kind = many.schema["value"]
    if not (point.reducer == "count" or kind.is_numeric() or kind in {pl.Boolean, pl.Null}):
        hint = "name a numeric field, such as scores-eff, or count the cells"
        raise AddressError("a reducer needs numbers, but these values are text", given=str(point), hint=hint)
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
        raise AddressError("rows of this domain were not recorded", given=str(point), allowed="cell or writer")
    column = column_of(point.fields, frame.columns, point)
    values = frame.select(*_INSTANT, pl.col(key).alias("row"), pl.col(column).alias("value"))
    if not point.name:
        return values
    named = values.filter(pl.col("row") == point.name)
    if named.is_empty():
        raise _unknown(f"no such {point.domain}", point.name, values["row"])
    return named.drop("row")


def _signal(point: Address | SignalRow, frames: Frames) -> pl.DataFrame:
    if frames.signals is None:
        raise AddressError("signals were not recorded", given=str(point), hint="run a scenario with a netlist")
    name, row = (point.signal, point.row) if isinstance(point, SignalRow) else (str(point), "")
    values = frames.signals.filter(pl.col("signal") == frames.pins.get(name, name))
    if values.is_empty():
        raise _unknown("no such signal", name, frames.signals["signal"])
    values = values.select(*_INSTANT, "row", "value")
    if row:
        named = values.filter(pl.col("row").cast(pl.String) == row)
        if named.is_empty():
            raise _unknown(f"no such row of {name}", row, values["row"].cast(pl.String))
        return named.drop("row")
    return values.drop("row") if values["row"].is_null().all() else values
