"""Functions that run a net on a recorded stream, one stream row per tick, and compare the results of two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.errors import DataError
from malsim.memory import Memory
from malsim.netlist.engine.engine import DAY, Engine
from malsim.netlist.language.lexicon import LOOP_WRITES

if TYPE_CHECKING:
    from malsim.netlist.wiring import Net


def run(net: Net, stream: pl.DataFrame, *, memory: Memory | None = None, tick: float = DAY) -> pl.DataFrame:
    """Run a net once per row of a stream. Return a frame with the column `t` and one column per signal of the `run` domain.

    Parameters
    ----------
    net
        Linked net.
    stream
        Columns for signals without a writer and for loop pins (`reviewer.ack`), and optionally `t`, in days.
    memory
        Cells that the net reads. The memory itself is not ticked.
    tick
        Milliseconds between rows.

    Raises
    ------
    DataError
        If the net does not read one of the columns, or a column has the wrong type.
    """
    engine = Engine(net, tick=tick)
    current = memory or Memory.empty()
    columns = {name: _as_values(stream[name], name, net, engine) for name in stream.columns if name != "t"}
    names = [name for name, signal in net.signals.items() if signal.domain == "run" and name not in engine.series]
    even = pl.Series([tick / DAY * n for n in range(1, stream.height + 1)], dtype=pl.Float64)
    days = (stream["t"].cast(pl.Float64) if "t" in stream.columns else even).to_list()
    outputs: dict[str, list[object]] = {"t": days, **{name: [] for name in names}}
    state = engine.start(current)
    for row, day in enumerate(days):
        scan = engine.scan(state, current, {name: values[row] for name, values in columns.items()}, now=day)
        state, current = scan.state, scan.memory
        for name in names:
            outputs[name].append(state.signals[name][0].item())
    kinds = {"float": pl.Float64, "int": pl.Int64, "bit": pl.Boolean}
    return pl.DataFrame(outputs, schema={"t": pl.Float64, **{name: kinds[net.signals[name].type] for name in names}})


def _as_values(values: pl.Series, name: str, net: Net, engine: Engine) -> list[object]:
    kind = net.signals[name].type if name in engine.free else LOOP_WRITES[name][0] if name in LOOP_WRITES else ""
    if not kind:
        free = " ".join([*sorted(engine.free), *LOOP_WRITES])
        raise DataError("the netlist does not read this column", given=name, allowed=free)
    bad = values.null_count() or values.dtype == pl.String
    if bad or (kind != "float" and values.dtype.is_float() and not (values.is_finite() & (values == values.round())).all()):
        allowed = f"a {kind} in every row"
        raise DataError("the column has the wrong type for its signal", where=name, given=str(values.dtype), allowed=allowed)
    return values.cast({"float": pl.Float64, "int": pl.Int64, "bit": pl.Boolean}[kind]).to_list()


def difference(ours: pl.DataFrame, theirs: pl.DataFrame, *, tolerance: float = 1e-9) -> pl.DataFrame:
    """Return the rows in which two runs differ, with columns row, column, ours and theirs.

    Only columns of the second run are compared.
    """
    if unknown := [name for name in theirs.columns if name not in ours.columns]:
        raise DataError("no such signal in the run", given=unknown[0], allowed=" ".join(ours.columns))
    height = min(ours.height, theirs.height)
    frames = [pl.DataFrame(schema={"row": pl.Int64, "column": pl.String, "ours": pl.Float64, "theirs": pl.Float64})]
    for name in theirs.columns:
        mine, other = (frame[name].cast(pl.Float64).to_numpy()[:height] for frame in (ours, theirs))
        rows = np.flatnonzero(~np.isclose(mine, other, rtol=tolerance, atol=tolerance, equal_nan=True))
        column = pl.Series([name] * len(rows), dtype=pl.String)
        frames.append(pl.DataFrame({"row": rows, "column": column, "ours": mine[rows], "theirs": other[rows]}))
    if ours.height != theirs.height:
        lengths = {"ours": [float(ours.height)], "theirs": [float(theirs.height)]}
        frames.append(pl.DataFrame({"row": [height], "column": ["length"], **lengths}))
    return pl.concat(frames).sort("row", maintain_order=True)
