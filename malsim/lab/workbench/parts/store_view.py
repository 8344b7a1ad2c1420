"""Read-only page for a live store: past ticks as traces, current signals, and new ticks as they are written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import panel as pn
import polars as pl

from malsim.base.errors import MalsimError
from malsim.base.plain_text import plain_text
from malsim.lab.workbench.trace_lines import SHOWN, most_moved, title_of, traces_of
from malsim.lab.workbench.view.components import Legend, PageHead, RowTable, card, html, wrap
from malsim.lab.workbench.view.figures import Looks, Stack
from malsim.memory.store import Store
from malsim.netlist.shipped import catalogue, readings
from malsim.scenario.history.store_history import store_history
from malsim.sim.record.bands import BANDS
from malsim.sim.settings.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

INTERVAL = 1_000  # milliseconds between two checks of the store file


def read_store(path: Path) -> SimpleNamespace:
    """Return the history of a store as the frames of a run. Raise `StoreError` if the file is not a store."""
    history = store_history(path, Scenario(name=path.name, why=f"The store {path.name}, read only."))
    first = history.scenario.first
    frames = (history.cells, history.events, history.signals)
    cells, events, signals = (frame.filter(pl.col("rep") == first) for frame in frames)
    day = float(cells["t"].max() or 1.0)  # type: ignore[arg-type]  # days
    labels = pl.DataFrame(schema={"cell": pl.String, "object": pl.String, "title": pl.String})
    if history.memory is not None:
        labels = history.memory.cells.select(pl.col("handle").alias("cell"), "object", "title")
    scenario = history.scenario.replace(days=max(day, 1.0), replications=1)
    return SimpleNamespace(scenario=scenario, cells=cells, events=events, labels=labels, signals=signals, score="effective",
                           bands=pl.DataFrame(schema=BANDS))  # fmt: skip


class StoreView:
    """Read-only page for one store. `refresh` updates the page after the store has been written to."""

    def __init__(self, path: Path) -> None:
        self.path, self.key, self.looks = path, uuid4().hex, Looks()
        self.head: Any = PageHead(sizing_mode="stretch_width")
        self.legend: Any = Legend(key=self.key, sizing_mode="stretch_width")
        heads = ["signal", "fires on", "highest", "asks"]
        self.table: Any = RowTable(heads=heads, empty="No standing signal reads this store.", sizing_mode="stretch_width")
        self.plots: Any = pn.Column(sizing_mode="stretch_width", margin=0)
        self.stack: Stack | None = None
        self._stamp: tuple[int, ...] = ()
        plots, legend = card(self.plots, css_classes=["wb-plots"]), card(self.legend, css_classes=["wb-legend"])
        table = card(html("<h2>Standing signals now</h2>"), self.table, css_classes=["wb-half"])
        self.view: Any = pn.Column(
            self.head, wrap(plots, legend), table, sizing_mode="stretch_width", styles={"gap": "16px"}
        )
        self.refresh()

    def follow(self) -> None:
        """Refresh the page every second."""
        pn.state.add_periodic_callback(self.refresh, period=INTERVAL)

    def refresh(self) -> None:
        """Read the store again if it has been written to. On an error, show the message and keep the last figures."""
        try:
            stamp = _stamp(self.path)
            if stamp != self._stamp:
                self._show(read_store(self.path))
                self._list_signals()
                self._stamp = stamp
                self.head.error = ""
        except (MalsimError, OSError) as problem:
            self.head.error = plain_text(str(problem))

    def _show(self, record: SimpleNamespace) -> None:
        traces = {panel: most_moved(lines, SHOWN) for panel, lines in traces_of(record).items()}
        panels, days = tuple(traces), float(record.scenario.days)
        if self.stack is None or self.stack.panels != panels:
            self.stack = Stack(panels, self.key, days, lambda *_: None)
            self.plots.objects = self.stack.panes
        self.stack.show(traces, record.events, (), self.looks, days)
        panels_shown = []
        for panel, lines in traces.items():
            rows = []
            for trace in lines:
                colour, dash = self.looks.of(trace.name)
                look = {"name": trace.name, "label": trace.label, "colour": colour, "dash": dash, "shown": True}
                rows.append(look | {"same": trace.same_as, "t": trace.t, "v": trace.values})
            panels_shown.append({"name": panel, "title": title_of(panel), "traces": rows})
        self.legend.panels = panels_shown
        self.legend.day = days
        cells = record.cells["cell"].n_unique()
        about = f"{cells} cells, day {days:g}, read only. New ticks appear as they are written."
        self.head.param.update(title=plain_text(self.path.name), about=about)

    def _list_signals(self) -> None:
        with Store(self.path, write=False) as store:
            memory, now = store.within(store.memory), store.day or 0.0
        signals = sorted(readings(memory, list(catalogue()), now=now), key=lambda reading: -reading.firing)
        rows = [
            [reading.signal.name, f"{reading.firing} of {reading.rows} {reading.domain}s",
             plain_text(", ".join(f"{label} {value:.3g}" for label, value in reading.highest)), reading.signal.asks]
            for reading in signals if reading.firing
        ]  # fmt: skip
        silent = sum(not reading.firing for reading in signals)
        rows.append([f"{silent} others are silent", "", "", ""])
        self.table.rows = [{"cells": cells, "click": False} for cells in rows]


def _stamp(path: Path) -> tuple[int, ...]:
    """Return the modification times and sizes of a store file and its write-ahead log."""
    files = [path, path.with_name(f"{path.name}-wal")]
    return tuple(number for file in files if file.exists() for number in (file.stat().st_mtime_ns, file.stat().st_size))
