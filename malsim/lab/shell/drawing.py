"""Functions that draw all or part of a netlist as a figure or a Mermaid chart, optionally with signal values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError
from malsim.base.files.outputs import drawable, save_text
from malsim.lab.shell.files import document
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from malsim.netlist.shipped.store_wires import wire_signals
from malsim.netlist.wiring import link
from malsim.netlist.wiring.diagram import Diagram, around, diagram, mermaid
from malsim.scenario.rerun import one_replication
from malsim.showing.plots.wiring.netlist import netlist
from malsim.sim.why.signal_cause import all_signals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.netlist import Document

MERMAID = ".mmd"


def draw_net(
    net_document: Document,
    output: Path,
    *,
    title: str = "",
    hal: bool = False,
    pin: str | None = None,
    depth: int = 1,
    values: Mapping[str, str] | None = None,
) -> Diagram:
    """Draw a netlist as a figure (`.png`, `.svg`, `.pdf`) or a Mermaid chart (`.mmd`), and return the diagram.

    With `pin`, draw only the boxes within `depth` wires of this pin, instance or signal. With `hal`, add LinuxCNC's names.
    `values` maps signals to the values to print. Raises `UsageError` for any other file format.
    """
    if output.suffix != MERMAID:
        drawable(str(output), more=MERMAID)
    net = link(net_document)
    laid = diagram(net, hal=hal)
    if pin:
        laid = around(laid, net, pin, depth)
    if output.suffix == MERMAID:
        save_text(output, mermaid(laid))
    else:
        netlist(laid.boxes, laid.wires, title=title, values=values).savefig(output)
    return laid


def values_of(path: str, rep: int | None, day: float | None) -> dict[str, str]:
    """Return each signal's value as text. A run is read on day `day` (by default the last), a store at its last tick."""
    if is_store(Path(path)):
        with Store(path, write=False) as store:
            kinds = {name: signal.type for name, signal in link(document(path)[0]).signals.items()}
            rows = wire_signals(store.recorded, store.standing).filter(pl.col("row").is_null())
        return {name: _value_text(value, kinds.get(name, "")) for name, value in rows.select("signal", "value").rows()}
    if not Path(path).is_dir() and not path.endswith(".json"):
        hint = "record a run with malsim run SCENARIO, which writes out/NAME"
        raise UsageError("neither a recorded run nor a store", given=path, hint=hint)
    run = one_replication(path, rep)
    samples, kinds = all_signals(run, run.scenario.first)
    samples = samples if day is None else samples.filter(pl.col("t") <= day)
    last = samples.group_by("channel", maintain_order=True).last()
    return {name: _value_text(value, kinds[name]) for name, value in last.select("channel", "value").rows()}


def _value_text(value: float, kind: str) -> str:
    return ("TRUE" if value else "FALSE") if kind == "bit" else f"{value:.3g}"
