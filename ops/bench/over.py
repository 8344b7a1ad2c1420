"""Function that runs an op over a recorded frame, tick by tick and separately for each group of rows."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ops.bench.sweep import slot_of, sweep
from ops.pin.errors import OpError
from ops.pin.palette import load
from ops.pin.sheet import spell
from ops.pin.state import start
from ops.pin.units import MILLISECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.pin.declare import Array, Pin
    from ops.pin.sheet import Sheet

__all__ = ["over"]


def over(
    frame: pl.DataFrame,
    name: str,
    *,
    x: str,
    by: str | Sequence[str] = (),
    t: str = "t",
    tick: object = None,
    outs: Sequence[str] | None = None,
    **settings: object,
) -> pl.DataFrame:
    """Run an op over a frame. Return the frame with the outputs of the op added as columns.

    Parameters
    ----------
    x
        Column that feeds the first input of the op.
    by
        Columns that separate the groups, such as `["rep", "cell"]`; each group starts from the initial state.
    t
        Column of times by which the rows of each group are sorted, if the frame has this column.
    tick
        Tick length (`"10min"`); by default the spacing of `t`, in days or dates.
    outs
        Output pins; all of them by default.
    settings
        Sizes, parameters and constant inputs by name; an input can read a column: `feedback=pl.col("seen")`.

    Raises
    ------
    OpError
        If a column is missing, has nulls or the wrong type, a group has two rows for one time, or a setting is invalid.

    >>> frame = pl.DataFrame({"cell": ["a", "a", "b"], "eff": [1.0, 1.0, 2.0]})
    >>> over(frame, "smooth", x="eff", by="cell", gain=0.5)["out"].to_list()
    [0.5, 0.75, 1.0]
    """
    keys = [by] if isinstance(by, str) else list(by)
    has_times = t in frame.columns
    _exist(frame, [x, *keys], name)
    columns, constant = _split(frame, settings)
    sheet = _for_column(load(name), constant, frame[x])
    first = next(iter(sheet.slots))
    inputs = {pin: _column(sheet, pin, column) for pin, column in {first: frame[x], **columns}.items()}
    order, counts, spacing = _layout(frame, keys, t if has_times else None, sheet.name)
    length = 0.0 if sheet.tick is None else sheet.length(_tick(tick, spacing, sheet.name))
    state = start(sheet, counts[0] if counts else 0, constant)
    rows = {pin: array[order] for pin, array in inputs.items()}
    _, results = sweep(sheet, state, rows, counts, tick=length, outs=outs)
    if clash := [pin for pin in results if pin in frame.columns]:
        raise OpError("the frame already has a column of this name", where=sheet.name, given=clash, hint="rename the column")
    return frame.with_columns(_back(pin, array, order) for pin, array in results.items())


def _split(frame: pl.DataFrame, settings: Mapping[str, object]) -> tuple[dict[str, pl.Series], dict[str, object]]:
    columns = {spell(key): given for key, given in settings.items() if isinstance(given, pl.Expr)}
    constant = {key: given for key, given in settings.items() if not isinstance(given, pl.Expr)}
    return {pin: frame.select(column).to_series() for pin, column in columns.items()}, constant


def _for_column(sheet: Sheet, constant: dict[str, object], column: pl.Series) -> Sheet:
    """Return the op with the sizes given in the settings, and with the type of the column for its `any` pins."""
    sizes = {key: constant.pop(key) for key in list(constant) if key in sheet.sizes or key == "type"}
    kind = "bit" if column.dtype == pl.Boolean else "int" if column.dtype.is_integer() else "float"
    return sheet.sized(**{"type": kind, **sizes})


def _column(sheet: Sheet, pin: str, column: pl.Series) -> Array:
    slot = slot_of(sheet, pin, output=False)
    where = f"{sheet.name}.{pin}, column {column.name}"
    if column.null_count():
        raise OpError("the column contains nulls", where=where, given=column.null_count(), hint="fill or drop them first")
    if not _fits(slot.pin, column.dtype):
        raise OpError("the column has the wrong type", where=where, given=str(column.dtype), allowed=slot.pin.type)
    return column.to_numpy().astype(slot.pin.dtype)


def _fits(pin: Pin, kind: pl.DataType) -> bool:
    if pin.type == "bit":
        return kind == pl.Boolean
    return (kind.is_integer() and kind != pl.Int128) or (kind.is_float() and pin.type == "float")


def _layout(frame: pl.DataFrame, keys: Sequence[str], t: str | None, name: str) -> tuple[Array, list[int], pl.Series]:
    """Return the frame rows in call order, the number of rows per step (longest groups first), and the gaps in t, in ms."""
    groups = {f"key{n}": frame[key] for n, key in enumerate(keys)} or {"key0": pl.repeat(0, frame.height, eager=True)}
    group = list(groups)
    work = pl.DataFrame({**groups, **({"t": frame[t]} if t else {})}).with_row_index("row")
    spacing = pl.Series([], dtype=pl.Float64)
    if t:
        work = work.sort("t", maintain_order=True)
        spacing = _spacing(work, group, f"{name}, column {t}")
    work = work.with_columns(
        step=pl.int_range(pl.len()).over(group), size=pl.len().over(group), group=pl.col("row").first().over(group)
    ).sort("step", "size", "group", descending=[False, True, False])
    counts = work.group_by("step", maintain_order=True).len()["len"].to_list()
    return work["row"].to_numpy(), counts, spacing


def _spacing(work: pl.DataFrame, group: Sequence[str], where: str) -> pl.Series:
    kind = work["t"].dtype
    if not (kind.is_numeric() or kind.is_temporal()) or work["t"].null_count():
        raise OpError("not a time column", where=where, given=str(kind), allowed="days or dates, without nulls")
    if kind.is_float() and work["t"].is_nan().any():
        raise OpError("not a time column", where=where, given="NaN", allowed="days or dates")
    gap = pl.col("t").diff().over(group)
    gaps = gap.dt.total_microseconds() / 1e3 if kind.is_temporal() else (gap * MILLISECONDS["d"]).round()
    spacing = work.select(gaps.alias("gap"))["gap"].drop_nulls()
    if (spacing <= 0).any():
        raise OpError("two rows in a group have the same time", where=where, hint="add a key to `by`, such as rep")
    return spacing


def _tick(given: object, spacing: pl.Series, name: str) -> object:
    if given is not None:
        return given
    if spacing.n_unique() != 1:
        spacings = spacing.unique().sort().head(3).to_list()
        raise OpError("the spacing of t is not constant", where=name, given=spacings, hint="set the tick: tick='10min'")
    return f"{spacing[0]!r}ms"


def _exist(frame: pl.DataFrame, names: Sequence[str], name: str) -> None:
    for column in names:
        if column not in frame.columns:
            near = get_close_matches(column, frame.columns, n=1)
            hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(frame.columns[:20])}"
            raise OpError("no such column", where=name, given=column, hint=hint)


def _back(pin: str, array: Array, order: Array) -> pl.Series:
    values = np.empty_like(array)
    values[order] = array
    return pl.Series(pin, values)
