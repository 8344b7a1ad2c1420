"""Export of a run that refutes a property: as a figure, or as a scenario file that is verified to fail in the same way."""

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
    """Draw the refuting run: numbers as steps, bits as lanes. The last tick, which breaks the property, is shaded."""
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
    """Return the text of a scenario that reproduces a refutation, with the refuted property as its check.

    The inputs of the refuting run replace the cells and the loop.

    Raises `UsageError` if a run of the scenario does not fail as the trace does.
    """
    trace = _trace(proof)
    sources = {entry.source: entry.name for entry in proof.inputs if entry.source}
    statements = _without(inlined(document)[0].statements, {source for source in sources if source not in LOOP_WRITES})
    table = {
        "why": f"A refutation of: {proof.text}",
        "seed": 0,
        "run": {"days": trace["t"][-1], "turn_every": f"{tick / DAY:.17g}d"},
        "rules": {"calibration": "none"},
        "netlist": {"text": text_of(list(statements)), "input": list(_changes(proof, trace))},
        "check": [{"name": "refuted", "property": render(_renamed(parse(proof.text), sources))}],
    }
    text = toml_text(table)
    outcomes = judge(parse_scenario(text)).outcomes
    if [outcome.status for outcome in outcomes] != ["fail"]:
        given = ", ".join(outcome.message for outcome in outcomes)
        raise UsageError("the scenario does not fail in the same way as the trace", given=given)
    return text


def _trace(proof: Proof) -> pl.DataFrame:
    if proof.trace is None:
        raise UsageError("only a refuted property has a run that can be shown", given=proof.verdict)
    return proof.trace


def _without(statements: tuple[Statement, ...], sources: set[str]) -> Iterator[Statement]:
    """Yield the statements, with the wires to all cells and to `sources` removed."""
    for statement in statements:
        if isinstance(statement, Wire):
            ends = [end for end in statement.ends if end.address not in sources]
            ends = [end for end in ends if not isinstance(address(end.address), Path)]
            if ends:
                yield replace(statement, ends=tuple(ends))
        else:
            yield replace(statement, domain="") if isinstance(statement, Load) else statement


def _changes(proof: Proof, trace: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield one `[[netlist.input]]` table for each change of an input."""
    times = trace["t"].to_list()
    for entry in proof.inputs:
        values = trace[entry.name].to_list()
        signal = entry.source if entry.source in LOOP_WRITES else entry.name
        for index, value in enumerate(values):
            if not index or value != values[index - 1]:
                yield {"signal": signal, "at": f"{times[index] - 0.5 * times[0]:.17g}d", "value": value}


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """Return a formula in which addresses are replaced by signal names."""
    if isinstance(part, Read):
        return Read(names.get(part.address, part.address))
    if isinstance(part, tuple):
        return tuple(_renamed(inner, names) for inner in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    return replace(part, **{field.name: _renamed(getattr(part, field.name), names) for field in fields(part)})
