"""The history of any memory that logs a JSON line an event: t, event, item, object, value, writer, rank, belief."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import DataError
from malsim.base.finite import FARTHEST, is_number
from malsim.base.limits import Limits
from malsim.scenario.history.history_frames import CHANGES, CLAIMS, STATE, History, about_objects, as_columns
from malsim.sim.record.recorder import EVENTS
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.sim.settings.scenario import Scenario

LINES = {
    "line": pl.Int64, "t": pl.Float64, "event": pl.String, "item": pl.String, "object": pl.String, "value": pl.String,
    "writer": pl.String, "rank": pl.Float64, "belief": pl.Float64,
}  # fmt: skip
ENDS = "delete"
LONGEST = 1 << 20


@dataclass(frozen=True)
class LogLines:
    """The events of a log, one row a line (columns of LINES), and how many lines were cut short at its end."""

    lines: pl.DataFrame
    cut: int


def read_log(path: Path) -> LogLines:
    """Read a log; a last line that is not finished is counted and left for later.

    `t` is a number of days, `event` a word: `write`, `tick`, `read`, `peek` and `delete` mean what they say, any other is an
    event of the memory's own. A line tells what its item is *after* the event; what it leaves out stays as it was.

    Raises
    ------
    DataError
        For a file that is missing, a line that is no such event, a time that runs backwards, or two items whose names
        come to one address.
    """
    if not path.is_file():
        raise DataError("no such log", where=str(path))
    rows, names, cut, last = list[tuple[Any, ...]](), dict[str, str](), 0, -math.inf
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST), b""), 1):
            if not line.endswith(b"\n") and _value(line) is None:
                cut += 1
                break
            if not line.strip():
                continue
            row = _row(line, f"{path}:{number}")
            if row["t"] < last:
                where, allowed = f"{path}:{number}", f"{last:g} or later"
                raise DataError("time runs backwards", where=where, given=row["t"], allowed=allowed)
            last = row["t"]
            if row["item"] is not None:
                row["item"] = _address(row["item"], names, f"{path}:{number}")
            rows.append((number, *(row[name] for name in list(LINES)[1:])))
    return LogLines(pl.DataFrame(rows, schema=LINES, orient="row"), cut)


def _value(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _row(line: bytes, where: str) -> dict[str, Any]:
    entry = _value(line)
    if not isinstance(entry, dict):
        raise DataError("not a JSON object", where=where, hint='write {"t": 0.5, "event": "write", "item": "m1", …} a line')
    row = {name: entry.get(name) for name in list(LINES)[1:]}
    for name in ("t", "rank", "belief"):
        number = row[name]
        if number is None and name != "t":
            continue
        if not is_number(number) or (name == "t" and abs(number) > FARTHEST):
            allowed = f"t: days, to {FARTHEST:g}; rank; belief: 0 to 1"
            raise DataError(f"{name} is no finite number", where=where, given=number, allowed=allowed)
        row[name] = float(number)
    if not isinstance(row["event"], str) or not row["event"]:
        allowed = "write, tick, read, peek, delete, …"
        raise DataError("no word for the event", where=where, given=row["event"], allowed=allowed)
    for name in ("item", "object", "value", "writer"):
        if isinstance(row[name], dict | list):
            raise DataError(f"{name} is no text or number", where=where, given=row[name])
        row[name] = None if row[name] is None else str(row[name])
    return row


def _address(item: str, names: dict[str, str], where: str) -> str:
    """An item's name as an address can have it: `550e-84` is read as `m_550e_84`."""
    name = re.sub(r"\W", "_", item)
    name = name if name[:1].isalpha() else f"m_{name.lstrip('_')}"
    if names.setdefault(name, item) != item:
        raise DataError("two items of one address", where=where, given=item, allowed=f"{names[name]} is {name} already")
    return name


def log_history(
    path: Path,
    scenario: Scenario,
    *,
    cells: frozenset[str] | None = None,
    objects: bool = False,
    limits: Limits | None = None,
) -> History:
    """Read what a memory logged; see `read_log` for its errors.

    `cells` are the items that are asked about, None for all; with `objects` the signals `belief(OBJECT)` and
    `rivals(OBJECT)` are made.
    """
    log = read_log(path)
    lines = log.lines.with_columns(pl.lit(0, pl.Int32).alias("rep"))
    columns = pl.col("object", "value", "writer", "rank", "belief")
    items = lines.filter(pl.col("item").is_not_null()).with_columns(columns.forward_fill().over("item"))
    selection = items if cells is None or objects else items.filter(pl.col("item").is_in(list(cells)))
    at = (pl.col("t") * DAY).round()
    instants = lines.select("t").group_by(at.alias("at"), maintain_order=True).last().drop("at")
    states = instants.height * selection["item"].n_unique()
    (limits or Limits()).check({"cells": states, "memory": states * STATE}, where=str(path))
    frame = _states(selection, instants)
    kind, subject = pl.col("event").alias("kind"), pl.coalesce("item", "object").alias("subject")
    events = lines.select("t", "rep", kind, subject, pl.format("by {}", pl.col("writer").fill_null("?")).alias("detail"),
                        pl.format("line {}", "line").alias("cause"))  # fmt: skip
    claims = items.filter(pl.col("event") == "write").select("t", "rep", "object", pl.col("value").alias("says"))
    cut = f"{path}: {log.cut} line cut short at its end was left out" if log.cut else ""
    return History(
        scenario=scenario.replace(first=0, replications=1), cells=frame, events=as_columns(events, EVENTS),
        changes=_changes(items), claims=as_columns(claims, CLAIMS), left_out=cut,
        signals=about_objects(frame if objects else frame.clear()),
    )  # fmt: skip


def _states(lines: pl.DataFrame, instants: pl.DataFrame) -> pl.DataFrame:
    """Each item at every instant from its first line on."""
    last = lines.with_columns((pl.col("t") * DAY).round().alias("at")).group_by("item", "at", maintain_order=True).last()
    items = lines.select("item").unique(maintain_order=True)
    grid = instants.with_columns((pl.col("t") * DAY).round().alias("at")).join(items, how="cross").sort("at")
    states = grid.join_asof(last.drop("t").sort("at"), on="at", by="item", check_sortedness=False)
    status = pl.when(pl.col("event") == ENDS).then(pl.lit("superseded")).otherwise(pl.lit("active")).alias("status")
    return states.filter(pl.col("line").is_not_null()).select(
        "t", "rep", pl.col("item").alias("cell"), "object", pl.col("value").alias("says"), "value", "writer", "rank",
        pl.col("belief").alias("effective"), pl.coalesce("belief", "rank").alias("score"),
        pl.col("belief").is_not_null().alias("score_is_belief"), status,
    )  # fmt: skip


def _changes(items: pl.DataFrame) -> pl.DataFrame:
    """Each score of each item before and after each of its lines; a write is a row of lines of one event and instant."""
    begins = (pl.col("t") != pl.col("t").shift(1)) | (pl.col("event") != pl.col("event").shift(1))
    again = pl.int_range(pl.len()).over("t", "event", "item")
    write = begins.fill_null(value=True).cum_sum() * 1_000_000 + again
    parts = [
        items.select(
            "t", "rep", pl.col("item").alias("cell"), pl.col("event").alias("deed"), write.alias("write"),
            pl.lit(score).alias("score"), pl.col(name).shift(1).over("item").alias("before"), pl.col(name).alias("after"),
        ).filter(pl.col("after").is_not_null())
        for name, score in (("belief", "effective"), ("rank", "rank"))
    ]  # fmt: skip
    return as_columns(pl.concat(parts), CHANGES)
