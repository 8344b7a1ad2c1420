"""Tables of a session's items in halcmd's layout, and export of recorded signals as samples, figures and files."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from malsim.base.errors import AddressError, UsageError, nearest
from malsim.base.files.outputs import save_table, save_text
from malsim.base.files.vcd import vcd_text
from malsim.base.plain_text import quoted
from malsim.lab.shell.session import signals_by_pin
from malsim.memory.graph.texts import handle_with_prefix
from malsim.netlist.evaluate import Frames, evaluate
from malsim.netlist.language.address import spelled
from malsim.netlist.language.lexicon import LOOP_WRITES
from ops.pin import In, Param

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from malsim.lab.shell.session import Session
    from malsim.showing.plots.style import Sheet

KINDS = {
    "comp": "instances of ops", "pin": "pins of the instances", "param": "parameters of the instances",
    "sig": "signals and their pins", "funct": "functions and their threads", "thread": "threads and their functions",
    "cell": "cells of the graph",
}  # fmt: skip
MOST_VALUES = 8
_CELL = re.compile(r"[-.@]")  # characters that end the cell handle at the beginning of an address
_TYPES = {bool: "bit", int: "int", float: "float"}


class _Pin(NamedTuple):
    name: str
    owner: str
    type: str
    direction: str


def names(session: Session, kind: str, pattern: str = "") -> list[str]:
    """Return the names of all items of one kind that match a pattern, which is a glob (`weak*`) or a prefix."""
    net = session.net
    if kind not in KINDS:
        raise UsageError("no such kind of item", given=kind, allowed=" ".join(KINDS), hint=nearest(kind, KINDS))
    threads = net.threads
    pins = _pins(session)
    names_ = {
        "comp": list(net.instances), "funct": list(net.instances), "sig": sorted(net.signals),
        "cell": session.memory.cells.filter(rep=0)["handle"].to_list() if kind == "cell" else [],
        "thread": [thread.name for thread in threads if thread.functions or thread.name != "tick" or len(threads) == 1],
        "pin": [pin.name for pin in pins if pin.direction != "RW"],
        "param": [pin.name for pin in pins if pin.direction == "RW"],
    }[kind]  # fmt: skip
    spellings = ((name, {name, session.pin_names.get(name, name)}) for name in names_)
    return [name for name, words in spellings if any(word.startswith(pattern) or fnmatch(word, pattern) for word in words)]


def display_names(session: Session, selection: Iterable[str]) -> list[str]:
    return [session.pin_names.get(name, name) for name in selection]


def show(session: Session, kind: str, pattern: str = "") -> str:
    """Return a table of all items of one kind that match a pattern."""
    selection = names(session, kind, pattern)
    if kind == "cell":
        return "\n".join(_cell_line(session, name) for name in selection)
    instances, threads = session.net.instances, session.net.threads
    if kind in {"pin", "param"}:
        rows = _pin_rows(session, selection)
    elif kind == "sig":
        rows = _sig_rows(session, selection)
    elif kind == "comp":
        sheets = {name: instances[name].sheet for name in selection}
        rows = [[name, sheet.name, instances[name].domain, sheet.summary] for name, sheet in sheets.items()]
    elif kind == "funct":
        positions = {
            name: f"{thread.name} {number}" for thread in threads for number, name in enumerate(thread.functions, 1)
        }
        rows = [[name, positions.get(name, "on no thread, never runs")] for name in selection]
    else:
        chosen_threads = [thread for thread in threads if thread.name in selection]
        rows = [[thread.name, str(thread.every), " ".join(thread.functions)] for thread in chosen_threads]
    heads = _HEADS[kind]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    aligned = (map(str.ljust, row, widths) for row in [heads, *rows])
    return "\n".join("  ".join(words).rstrip() for words in aligned)


def read(session: Session, name: str) -> str:
    """Return the value of a pin, parameter, signal or address as text."""
    if name in session.net.signals or name in {pin.name for pin in _pins(session)}:
        return value_text(session.values(name))
    if name in LOOP_WRITES:
        return one_value(session.loop_pins.get(name, 0), LOOP_WRITES[name][0])
    return " ".join(one_value(value) for value in _graph_values(session, name).head(MOST_VALUES).to_list())


def type_of(session: Session, name: str) -> str:
    """Return the type of a pin, parameter, signal or address: bit, int, float or text."""
    if name in session.net.signals:
        return session.net.signals[name].type
    kinds = {pin.name: pin.type for pin in _pins(session)}
    if name in kinds:
        return kinds[name]
    return _TYPES.get(type(next(iter(_graph_values(session, name)), 0.0)), "text")


def _graph_values(session: Session, name: str) -> pl.Series:
    cell = _CELL.split(spelled(name), 1)[0]
    handles = session.memory.cells["handle"]
    if cell not in handles and not handle_with_prefix(cell, handles) and "(" not in name:
        hint = nearest(name, [*session.net.signals, *(pin.name for pin in _pins(session))])
        raise AddressError("no such pin, parameter, signal or cell", given=name, hint=hint or None)
    return evaluate(name, Frames.of(session.memory, t=session.day))["value"]


def value_text(values: np.ndarray[Any, Any]) -> str:
    """Format values as halcmd does. A long list is truncated and ends with the number of values."""
    text = " ".join(one_value(value) for value in values[:MOST_VALUES].tolist())
    more = f" … {len(values)} values" if len(values) > MOST_VALUES else ""
    return (text or "no value yet") + more


def one_value(value: object, kind: str = "") -> str:
    """Format a number with seven significant digits, or a bit as TRUE or FALSE."""
    if isinstance(value, bool) or kind == "bit":
        return "TRUE" if value else "FALSE"
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _pins(session: Session) -> list[_Pin]:
    pins = []
    for name, instance in session.net.instances.items():
        for pin, (_, _, declared) in instance.sheet.slots.items():
            direction = "RW" if isinstance(declared, Param) else "IN" if isinstance(declared, In) else "OUT"
            pins.append(_Pin(f"{name}.{pin}", name, declared.type, direction))
    return pins


def _pin_rows(session: Session, selection: list[str]) -> list[list[str]]:
    signals, pins = signals_by_pin(session.net), {pin.name: pin for pin in _pins(session)}
    rows = []
    for name in selection:
        pin, signal = pins[name], signals.get(name)
        arrow = "" if signal is None else f"{'==>' if pin.direction == 'OUT' else '<=='} {signal.name}"
        value, label = value_text(session.values(name)), session.pin_names.get(name, name)
        rows.append([pin.owner, pin.type, pin.direction, value, label, arrow])
    return rows


def _sig_rows(session: Session, selection: list[str]) -> list[list[str]]:
    rows = []
    for name in selection:
        signal = session.net.signals[name]
        pins = display_names(session, [str(link.address) for link in signal.links])
        ends = [f"{'<==' if link.writes else '==>'} {pin}" for link, pin in zip(signal.links, pins, strict=True)]
        rows.append([signal.type, value_text(session.values(name)), name, "  ".join(ends)])
    return rows


def _cell_line(session: Session, name: str) -> str:
    row = session.memory.cells.row(session.memory.row(name), named=True)
    flags = " ".join(flag for flag in ("annexed", "locked", "pinned", "requires_review") if row[flag])
    scores = f"eff({row['effective']:.3f}) curr({row['currency']:.3f}) sal({row['salience']:.3f})"
    return f"{name} {quoted(row['title'])} conf({row['stated']:.2f}) {scores} {row['status']} {flags}".rstrip()


_HEADS = {
    "pin": ["Owner", "Type", "Dir", "Value", "Name", ""], "param": ["Owner", "Type", "Dir", "Value", "Name", ""],
    "sig": ["Type", "Value", "Name", "Linked to"], "comp": ["Name", "Op", "Domain", "Summary"],
    "funct": ["Function", "Thread"], "thread": ["Thread", "Every", "Functions in order"],
}  # fmt: skip

TRACE_FILES = (".png", ".svg", ".vcd", ".csv")


def save_traces(session: Session, words: list[str]) -> str:
    """Write the named signals (by default all) to the file given as `out=FILE`, and return its path."""
    names = [word for word in words if not word.startswith("out=")]
    out = next((word.removeprefix("out=") for word in words if word.startswith("out=")), "")
    if not out.endswith(TRACE_FILES):
        allowed, hint = " ".join(TRACE_FILES), "run `malsim workbench FILE` to show the signals in a live page"
        raise UsageError("scope needs an output file: scope out=FILE", given=out or None, allowed=allowed, hint=hint)
    samples, bits = samples_of(session, names)
    if out.endswith(".csv"):
        save_table(out, samples)
    elif out.endswith(".vcd"):
        save_text(out, vcd_text(samples, bits, tick=session.tick))
    else:
        figure_of(samples, bits).savefig(out)
    return out


def samples_of(session: Session, names: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the samples (t, channel, value) of the named signals, by default all, and the names of all bit signals."""
    if not session.past:
        raise UsageError("not recorded yet", hint="run some ticks first, for example step 20")
    signals = session.net.signals
    for name in names:
        if name not in signals:
            raise UsageError("no such signal", given=name, hint=nearest(name, signals, "enter show sig to list the signals"))
    samples = session.frames()[1].select("t", pl.col("signal").alias("channel"), "value")
    bits = [name for name, signal in signals.items() if signal.type == "bit"]
    return samples.filter(pl.col("channel").is_in(list(names))) if names else samples, bits


def figure_of(
    samples: pl.DataFrame, bits: Sequence[str], title: str = "Signals of the session", unit: str = "days"
) -> Sheet:
    """Plot samples (t, channel, value), numbers as steps and bits as lanes."""
    from malsim.showing.plots.runs.signal_lanes import signal_lanes

    channel = samples["channel"].unique(maintain_order=True)
    channels = pl.DataFrame({"channel": channel, "address": channel, "digital": channel.is_in(list(bits))})
    return signal_lanes(samples, channels, pl.DataFrame(schema={"t": pl.Float64, "kind": pl.String}), title=title, unit=unit)
