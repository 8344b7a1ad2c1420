"""Run that refutes a property, as a figure, or as a scenario file that was read back, run, and failed again."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.ticker import MaxNLocator

from malsim.base.errors import UsageError
from malsim.base.files.toml_text import toml_text
from malsim.netlist.engine.engine import DAY
from malsim.netlist.language.address import Path, address
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.language.render import text_of
from malsim.netlist.language.statements import Load, Wire
from malsim.netlist.wiring.blocks import inlined
from malsim.scenario.file.scenario_file import parse as parse_scenario
from malsim.scenario.judge.judge import judge
from malsim.scenario.properties.formula import Read
from malsim.scenario.properties.parse import parse
from malsim.scenario.properties.render import render
from malsim.showing.plots.runs.signal_lanes import signal_lanes
from malsim.showing.plots.style import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.netlist import Document
    from malsim.netlist.language.statements import Statement
    from malsim.scenario.proof.proof import Proof
    from malsim.showing.plots.style import Sheet


def drawing(proof: Proof) -> Sheet:
    """Draw the refuting run, numbers as steps and bits as lanes; its last tick, which breaks the property, is shaded."""
    trace = _trace(proof).with_columns(t=pl.int_range(1, pl.len() + 1).cast(pl.Float64))
    names = [name for name in trace.columns if name != "t"]
    samples = trace.with_columns(pl.col(names).cast(pl.Float64)).unpivot(names, index="t", variable_name="channel")
    bits = [trace[name].dtype == pl.Boolean for name in names]
    channels = pl.DataFrame({"channel": names, "address": names, "digital": bits})
    events = pl.DataFrame(schema={"t": pl.Float64, "kind": pl.String})
    last = trace.height
    figure = signal_lanes(samples, channels, events, title=f"{proof.verdict}: {proof.text}", unit="ticks", until=last + 1)
    for axes in figure.axes:
        axes.axvspan(last, last + 1, color=COLOURS[5], alpha=0.15, linewidth=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def scenario_text(proof: Proof, document: Document, *, tick: float = DAY) -> str:
    """Return a scenario file in which the refuting inputs replace the cells and the loop, with the property as its check.

    Raises `UsageError` if the scenario's run does not fail as the trace did.
    """
    trace = _trace(proof)
    sources = {item.source: item.name for item in proof.inputs if item.source}
    table = {
        "why": f"It breaks: {proof.text}",
        "seed": 0,
        "run": {"days": trace["t"][-1], "turn_every": f"{tick / DAY:.17g}d"},
        "rules": {"calibration": "none"},
        "netlist": {"text": _open(document, sources), "input": list(_changes(proof, trace))},
        "check": [{"name": "refuted", "property": render(_renamed(parse(proof.text), sources))}],
    }
    text = toml_text(table)
    outcomes = judge(parse_scenario(text)).outcomes
    if [outcome.status for outcome in outcomes] != ["fail"]:
        raise UsageError(
            "the scenario does not fail as the trace did", given=", ".join(outcome.message for outcome in outcomes)
        )
    return text


def _trace(proof: Proof) -> pl.DataFrame:
    if proof.trace is None:
        raise UsageError("only a refutation has a run to show", given=proof.verdict)
    return proof.trace


def _open(document: Document, sources: Mapping[str, str]) -> str:
    statements, _ = inlined(document)
    return text_of(list(_without(statements.statements, {source for source in sources if source not in LOOP_WRITES})))


def _without(statements: tuple[Statement, ...], sources: set[str]) -> Iterator[Statement]:
    for statement in statements:
        if isinstance(statement, Wire):
            ends = tuple(end for end in statement.ends if end.address not in sources and not _of_cells(end.address))
            if ends:
                yield replace(statement, ends=ends)
        else:
            yield replace(statement, domain="") if isinstance(statement, Load) else statement


def _of_cells(text: str) -> bool:
    return isinstance(address(text), Path)


def _changes(proof: Proof, trace: pl.DataFrame) -> Iterator[dict[str, Any]]:
    times = trace["t"].to_list()
    for item in proof.inputs:
        values = trace[item.name].to_list()
        signal = item.source if item.source in LOOP_WRITES else item.name
        for index, value in enumerate(values):
            if not index or value != values[index - 1]:
                at = times[index] - 0.5 * times[0]
                yield {"signal": signal, "at": f"{at:.17g}d", "value": value}


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    if isinstance(part, Read):
        return Read(names.get(part.address, part.address))
    if isinstance(part, tuple):
        return tuple(_renamed(item, names) for item in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    return replace(part, **{item.name: _renamed(getattr(part, item.name), names) for item in fields(part)})
