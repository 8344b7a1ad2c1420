"""Self-contained HTML page for a run, with lines over time and a reason for every change of a value."""

from __future__ import annotations

import json
import math
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import MalsimError
from malsim.base.plain_text import plain_text
from malsim.showing.pages.page_parts import filled, page, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.sim.run import Run

MOST_LINES = 150  # maximum number of lines per panel; the lines that moved most are kept
MOST_VALUES = 300_000  # maximum number of values in all panels; above it, ticks are thinned out evenly
MOST_REASONS = 1_000  # limited because each reason takes a few milliseconds to compute
MOST_EVENTS = 5_000
DIGITS = 5
STILL = 1e-9

Lines = dict[str, list[float | None]]


def run_page(run: Run, *, changed: str = "") -> str:
    """Return the HTML page for a run. It shows the first recorded replication or, with bands, means over replications.

    `changed` lists the settings that differ from their defaults. The page states what it omits: more than 150 lines per
    panel, ticks beyond 300,000 values, and more than 1,000 reasons.
    """
    notes: list[str] = []
    rep = run.scenario.first
    panels = _panels(run, rep, notes)
    times = _times(panels, notes)
    events = run.events.filter(pl.col("rep") == rep).select("t", "kind", "subject", "detail", "cause")
    if events.height > MOST_EVENTS:
        notes.append(f"the first {MOST_EVENTS:,} of {events.height:,} events")
    shapes = [_panel(title, family, frame, times, notes) for title, family, frame in panels]
    labels = {}
    for row in run.labels.filter(pl.col("rep") == rep).to_dicts() if run.cells.height else ():
        labels[row["cell"]] = plain_text(" · ".join(filter(None, (row["object"], row["title"]))))
    data = {
        "times": times,
        "panels": shapes,
        "labels": labels,
        "reasons": _reasons(run, rep, times, shapes, notes),
        "events": events.head(MOST_EVENTS).rows(),
    }
    script = resources.files("malsim.showing.pages").joinpath("run.js").read_text(encoding="utf-8")
    facts = f"{run.scenario.days:g} days, seed {run.scenario.seed}, " + (
        f"replication {rep}" if run.cells.height or run.signals.height else f"{run.scenario.replications} replications"
    )
    body = filled(
        "run",
        name=text(run.scenario.name),
        why=text(run.scenario.why),
        facts=text("; ".join(filter(None, [facts, changed, *notes]))),
        data=json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        script=script,
    )
    return page(run.scenario.name, body)


def _panels(run: Run, rep: int, notes: list[str]) -> list[tuple[str, str, pl.DataFrame]]:
    """Return each panel's title, family and frame. The frame has t, name, value and, for bands, low and high."""
    columns = [name for name in dict.fromkeys((run.score, "currency")) if name in run.cells.columns]
    cells = run.cells.filter(pl.col("rep") == rep)
    parts: dict[str, tuple[str, list[pl.DataFrame]]] = {}
    for column in columns:
        lines = cells.select("t", pl.col("cell").alias("name"), pl.col(column).alias("value")).drop_nulls("value")
        parts[column] = ("claims", [lines])
    frame = run.signals.filter(pl.col("rep") == rep).select("t", _name(), "signal", "value")
    if not run.cells.height and not run.signals.height and run.bands.height:
        frame = run.bands.select("t", _name(), "signal", value="mean", low="q05", high="q95")
        notes.append("means, with bands from the 5th to the 95th percentile")
    frame = frame.filter(pl.col("value").is_finite())
    for (signal,), lines in frame.group_by("signal", maintain_order=True):
        lowest, highest = lines["value"].min(), lines["value"].max()
        unit = isinstance(lowest, float) and isinstance(highest, float) and 0.0 <= lowest <= highest <= 1.0
        title = "signals from 0 to 1" if unit and "low" not in frame.columns else str(signal)
        parts.setdefault(title, ("signals", []))[1].append(lines)
    panels = [(title, family, pl.concat(frames)) for title, (family, frames) in parts.items()]
    return [panel for panel in panels if panel[2].height]


def _name() -> pl.Expr:
    with_row = pl.format("{}({})", "signal", "row")
    return pl.when(pl.col("row").is_null()).then("signal").otherwise(with_row).alias("name")


def _times(panels: Sequence[tuple[str, str, pl.DataFrame]], notes: list[str]) -> list[float]:
    if not panels:
        return []
    times = np.unique(np.concatenate([frame["t"].to_numpy() for _, _, frame in panels]))
    lines = sum(min(MOST_LINES, frame["name"].n_unique()) for _, _, frame in panels)
    every = math.ceil(len(times) * lines / MOST_VALUES)
    if every > 1:
        notes.append(f"one tick in {every} of {len(times):,}")
    return [float(t) for t in times[::-1][:: max(every, 1)][::-1]]


def _panel(title: str, family: str, frame: pl.DataFrame, times: list[float], notes: list[str]) -> dict[str, Any]:
    spread = frame.group_by("name", maintain_order=True).agg(moved=pl.col("value").max() - pl.col("value").min())
    names = spread.sort("moved", descending=True, maintain_order=True)["name"].head(MOST_LINES)
    if spread.height > MOST_LINES:
        notes.append(f"{title}: {MOST_LINES} of {spread.height:,} lines, those that moved most")
    shape: dict[str, Any] = {"title": title, "family": family, "lines": _values(frame, names, "value", times)}
    if "low" in frame.columns:
        shape |= {bound: _values(frame, names, bound, times) for bound in ("low", "high")}
    return shape


def _values(frame: pl.DataFrame, names: pl.Series, column: str, times: list[float]) -> Lines:
    values = frame.filter(pl.col("name").is_in(names.implode())).pivot(
        on="name", index="t", values=column, aggregate_function="last"
    )
    ticks = pl.DataFrame({"t": times}, schema={"t": pl.Float64})
    table = ticks.join(values, on="t", how="left", maintain_order="left")
    return {name: table[name].round(DIGITS).to_list() for name in names}


def _reasons(
    run: Run, rep: int, times: list[float], panels: list[dict[str, Any]], notes: list[str]
) -> dict[str, list[tuple[int, str]]]:
    """Return the reasons for each line's changes, as pairs of a time index and a sentence."""
    lines: Lines = {
        name: values for panel in reversed(panels) if "low" not in panel for name, values in panel["lines"].items()
    }
    moves, reasons = dict[str, list[int]](), dict[str, list[tuple[int, str]]]()
    for name, values in lines.items():
        try:
            moved_at = _moves(values)
            run.why(name, times[moved_at[0]], rep)
            moves[name] = moved_at
        except MalsimError as error:  # some laws and signals cannot be explained
            reasons[name] = [(0, f"No explanation: {plain_text(str(error))}")]
    counts = [len(moved_at) for moved_at in moves.values()]
    limits = range(max(counts, default=1), 0, -1)
    most = next((limit for limit in limits if sum(min(limit, count) for count in counts) <= MOST_REASONS), 1)
    if any(len(moved_at) > most for moved_at in moves.values()):
        notes.append(f"at most {most} reasons per line, spread evenly over its moves")
    for name, moved_at in moves.items():
        picks = np.linspace(0, len(moved_at) - 1, min(most, len(moved_at)))
        some = sorted({moved_at[round(pick)] for pick in picks})
        reasons[name] = [(tick, plain_text(run.why(name, times[tick], rep))) for tick in some]
    return reasons


def _moves(values: list[float | None]) -> list[int]:
    """Return the time indexes at which a line's value changes, including the first value."""
    moved_at, last = list[int](), math.inf
    for tick, value in enumerate(values):
        if value is not None and abs(value - last) > STILL:
            moved_at.append(tick)
            last = value
    return moved_at
