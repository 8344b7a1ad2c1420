"""Drawings of a net as a file: a figure or a Mermaid chart, of all of it or of a neighbourhood, with values of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import UsageError
from malsim.base.files.outputs import drawable, save_text
from malsim.netlist.wiring import link
from malsim.netlist.wiring.drawing.diagram import Diagram, diagram
from malsim.netlist.wiring.drawing.mermaid import mermaid
from malsim.netlist.wiring.drawing.neighbourhood import around
from malsim.scenario.rerun import one_replication
from malsim.showing.plots.wiring.netlist import netlist
from malsim.sim.why.wired_signals import all_signals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.netlist import Document

MERMAID = ".mmd"


def draw_net(
    document: Document,
    output: Path,
    *,
    title: str = "",
    hal: bool = False,
    pin: str | None = None,
    depth: int = 1,
    values: Mapping[str, str] | None = None,
) -> Diagram:
    """Draw a netlist into a file, and return what was drawn.

    Parameters
    ----------
    output
        A figure (`.png`, `.svg`, `.pdf`) or a Mermaid chart (`.mmd`).
    hal
        Add LinuxCNC's names of the components.
    pin, depth
        Draw only the boxes within `depth` wires of this pin, instance or signal.
    values
        Text of the value of each signal.

    Raises
    ------
    UsageError
        The file's name ends in another format.
    """
    if output.suffix != MERMAID:
        drawable(str(output), more=MERMAID)
    net = link(document)
    laid = diagram(net, hal=hal)
    if pin:
        laid = around(laid, net, pin, depth)
    if output.suffix == MERMAID:
        save_text(output, mermaid(laid))
    else:
        netlist(laid.boxes, laid.wires, title=title, values=values).savefig(output)
    return laid


def values_of_run(path: str, rep: int | None, day: float | None) -> dict[str, str]:
    """Return the text of each signal's value in a recorded run, on a day or at its end.

    Raises
    ------
    UsageError
        The path is not a run's folder or manifest.
    """
    if not Path(path).is_dir() and not path.endswith(".json"):
        raise UsageError("values are drawn from a recorded run", given=path, hint="malsim run SCENARIO writes out/NAME")
    run = one_replication(path, rep)
    samples, kinds = all_signals(run, run.scenario.first)
    samples = samples if day is None else samples.filter(pl.col("t") <= day)
    last = samples.group_by("channel", maintain_order=True).last()
    return {
        name: ("TRUE" if value else "FALSE") if kinds[name] == "bit" else f"{value:.3g}"
        for name, value in last.select("channel", "value").rows()
    }
