"""Netlist of a store: its scan at each tick, its inputs, and its signal values."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError, nearest
from malsim.base.plain_text import one_line
from malsim.memory.schema import KINDS
from malsim.memory.tables.stored_wires import EVENTS
from malsim.netlist.engine import Engine
from malsim.netlist.engine.rows import Rows
from malsim.netlist.engine.saved_state import restored, saved
from malsim.netlist.evaluate import Frames
from malsim.netlist.graph.gather import gather
from malsim.netlist.language.facts import facts
from malsim.netlist.language.faults import NetlistError
from malsim.netlist.language.lexicon import LOOP_WRITES
from malsim.netlist.language.parse import parse
from malsim.netlist.language.render import text_of
from malsim.netlist.language.statements import Blank, Body, Cell, Document, Edges, Prop
from malsim.netlist.language.values import bit, number
from malsim.netlist.load import load
from malsim.netlist.shipped.surfaced import surfaced_of, surfaced_on
from malsim.netlist.wiring import link, linked
from malsim.netlist.wiring.blocks import inlined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.memory import Memory, Rules
    from malsim.memory.graph.arrays import Array
    from malsim.memory.tables.stored_wires import Standing
    from malsim.netlist.engine import Scan
    from malsim.netlist.engine.engine import State
    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Net


_GRAPH = (Cell, Edges, Body, Prop)
FILES = (".malnet", ".hal")
WORDS = ("kind", "subject", "detail", "cause")


def load_all(memory: Memory, standing: Standing, documents: Iterable[Document], rules: Rules) -> tuple[Memory, Standing]:
    """Load netlists into a store. Cells and edges are added to the memory, and wiring to the existing wiring.

    A netlist replaces an earlier one from a file of the same name, or one with which it shares at least half of the
    instances. Instances that remain keep their state; existing cells are not changed. If there are faults, raises
    `NetlistError` with all of them and loads nothing.
    """
    files = standing.files or ((("", standing.text),) if standing.text else ())
    for document in documents:
        whole_document = inlined(document)[0] if document.blocks else document
        text = text_of(line for line in whole_document.statements if not isinstance(line, (*_GRAPH, Blank)))
        name = PurePath(document.name).name if document.name.endswith(FILES) else ""
        stay = [file for file in files if not text or not _is_replaced(file, name, text)]
        before = "".join(file_text for _, file_text in stay)
        new = Document(_without_existing(memory, document.statements), document.name, document.blocks)
        memory = load(new, memory, rules=rules).memory
        whole = parse(before + text, file=STANDING)
        if faults := [*linked(whole)[1], *gather(whole.statements).faults]:
            raise NetlistError(faults)
        files = (*stay, (name, text)) if text else files
    return memory, replace(standing, text="".join(file_text for _, file_text in files), files=tuple(files))


def _is_replaced(file: tuple[str, str], name: str, text: str) -> bool:
    old = facts(parse(file[1], file=STANDING).statements)["instance"].keys()
    new = facts(parse(text, file=STANDING).statements)["instance"].keys()
    return bool((name and name == file[0]) or (old and 2 * len(old & new) >= len(old)))


def _without_existing(memory: Memory, statements: Iterable[Statement]) -> tuple[Statement, ...]:
    existing = set(memory.cells.filter(pl.col("rep") == 0).select("handle", "title").iter_rows())
    new, keep = [], True
    for statement in statements:
        if isinstance(statement, Cell):
            keep = (statement.handle, statement.title) not in existing
        elif not (isinstance(statement, (Body, Prop)) or (isinstance(statement, Edges) and not statement.source)):
            keep = True
        if keep:
            new.append(statement)
    return tuple(new)


def changes(before: str, after: str) -> list[str]:
    """Return one line per kind of change, listing the instances that a changed netlist adds, removes or resets.

    All other instances keep their state.
    """
    old, new = (read_text(text)[1].instances if text else {} for text in (before, after))
    other = {name for name in old.keys() & new.keys() if old[name].sheet.name != new[name].sheet.name}
    parts = {"added": new.keys() - old.keys(), "removed": old.keys() - new.keys(), "reset": other}
    return [f"{word}: {' '.join(sorted(names))}" for word, names in parts.items() if names]


def scan(memory: Memory, standing: Standing, now: float, rules: Rules) -> tuple[Memory, Standing]:
    """Run the netlist and programs of a store on a memory that has just ticked at day `now`.

    Events are changes of alarms and flags, tripped programs, and new prg cells. Raises `NetlistError` for an unknown op or
    block; the store is then unchanged.
    """
    if not standing.text and not (memory.column("kind") == KINDS.index("prg")).any():
        return memory, standing
    engine, state = engine_of(memory, standing, rules)
    result = engine.scan(state, memory, standing.inputs, now=now)
    lines = dict[int, tuple[str, ...]]()
    if surfaced := surfaced_of(read_text(standing.text)[0], engine.net):
        rows = Rows(memory, engine.replications, result.state.topics, first=engine.first)
        lines_by_row = surfaced_on(surfaced, result.state.signals, engine.net, rows)
        indices = range(engine.replications)
        lines = {engine.first + index: texts for index in indices if (texts := tuple(lines_by_row.of(index)))}
    moved = {**standing.moved, **moved_at(state.signals, result.state.signals, engine.net, now)}
    events = _events(result, now, engine.first)
    return result.memory, replace(standing, state=saved(result.state, engine), lines=lines, moved=moved, events=events)


def _events(result: Scan, now: float, first: int) -> pl.DataFrame:
    frames = [result.events]
    for ran in result.ran:
        indices = np.flatnonzero(ran.output.values.get("tripped", False))
        if indices.size:
            program = ran.program
            cause = program.operation if program.indices is None else program.handle
            words = ("tripped", program.handle or program.operation, program.title, cause)
            frame = pl.DataFrame({"rep": indices.astype(np.int32)})
            frames.append(frame.with_columns(pl.lit(word).alias(name) for name, word in zip(WORDS, words, strict=True)))
    events = pl.concat(frames).with_columns(pl.lit(now, pl.Float64).alias("t"), pl.col("rep") + first)
    return events.select(pl.col(name).cast(kind) for name, kind in EVENTS.items())


def event_lines(events: pl.DataFrame) -> list[str]:
    """Format each event on one line, such as `tripped alarm: alarm, by severity.out`."""
    rows = events.select(WORDS).rows()
    return [one_line(f"{kind} {about}: {detail}" + f", by {by}" * (by != about)) for kind, about, detail, by in rows]


STANDING = "the netlist of the store"
COLUMNS = {"signal": pl.String, "rep": pl.Int32, "row": pl.String, "value": pl.Float64, "changed": pl.Float64}


@lru_cache(maxsize=8)
def read_text(text: str) -> tuple[Document, Net]:
    document = parse(text, file=STANDING)
    return document, link(document)


def engine_of(memory: Memory, standing: Standing, rules: Rules | None = None) -> tuple[Engine, State]:
    reps = memory.column("rep")
    first, last = int(reps.min(initial=0)), int(reps.max(initial=0))
    engine = Engine(read_text(standing.text)[1], replications=last - first + 1, first=first, rules=rules)
    return engine, restored(standing.state, engine, memory, first=first)


def inputs_of(standing: Standing) -> dict[str, str]:
    """Map each input of a store's netlist, that is, each loop pin and free signal, to its type."""
    net = read_text(standing.text)[1]
    writers = {str(signal.writer.address) for signal in net.signals.values() if signal.writer}
    free = {name: signal.type for name, signal in net.signals.items() if signal.writer is None and signal.domain == "run"}
    return {name: kind for name, (kind, _) in LOOP_WRITES.items() if name in writers} | free


def input_of(standing: Standing, name: str, value: object) -> float:
    """Convert a value for an input to a number.

    Raise `UsageError` for an unknown input or a value of the wrong type.
    """
    inputs = inputs_of(standing)
    if name not in inputs:
        allowed = ", ".join(inputs) or "none, because this netlist has no inputs"
        raise UsageError("no such input", given=name, allowed=allowed, hint=nearest(name, inputs) or None)
    text = f"{value + 0:g}" if isinstance(value, int | float) else str(value)
    parsed = bit(text) if inputs[name] == "bit" else number(text)
    if parsed is None or not np.isfinite(float(parsed)):
        is_bit = inputs[name] == "bit"
        problem = "not a bit" if is_bit else "not a number"
        raise UsageError(problem, where=name, given=value, allowed="true or false" if is_bit else "a number")
    return float(parsed)


def moved_at(before: Mapping[str, Any], after: Mapping[str, Any], net: Net, now: float) -> dict[str, float]:
    """Map each signal that a scan changed to the day of the scan. New rows with the value 0 do not count as changes."""
    moved = {}
    for name in net.signals.keys() & after.keys():
        if name not in before and net.signals[name].domain != "run":
            continue  # signals read from the memory are not saved, so their earlier values are unknown
        old, new = (_numbers(values.get(name)) for values in (before, after))
        count = min(len(old), len(new))
        if not np.array_equal(old[:count], new[:count], equal_nan=True) or np.nan_to_num(new[count:]).any():
            moved[name] = now
    return moved


def _numbers(values: object) -> Array:
    return values.astype(np.float64) if isinstance(values, np.ndarray) else np.zeros(0)


def wire_signals(memory: Memory, standing: Standing) -> pl.DataFrame:
    """Return the signal values of a store's netlist after the last tick, one row per signal and member of its domain.

    Columns: signal, rep, row (null for the run), value, and changed (day of the last change, or null).
    """
    if not standing.text:
        return pl.DataFrame(schema=COLUMNS)
    engine, state = engine_of(memory, standing)
    rows = Rows(memory, engine.replications, state.topics, first=engine.first)
    # Inputs from the loop are 0 before the first tick.
    signals: dict[str, Any] = {name: np.zeros(engine.replications) for name in engine.loop_reads}
    signals |= {**state.signals, **{name: read(rows) for name, read in engine.readers.items()}}
    frames = [pl.DataFrame(schema=COLUMNS)]
    for name, signal in engine.net.signals.items():
        values = _numbers(signals.get(name))
        count = len(values)
        reps = pl.Series(rows.rep_of(signal.domain)[:count] + engine.first, dtype=pl.Int32)
        frame = pl.DataFrame({"rep": reps, "row": rows.labels(signal.domain).head(count), "value": values})
        frame = frame.with_columns(signal=pl.lit(name), changed=pl.lit(standing.moved.get(name), pl.Float64))
        frames.append(frame.select(list(COLUMNS)))
    return pl.concat(frames)


def frames_of(memory: Memory, standing: Standing) -> Frames:
    """Return the frames in which addresses of a store are evaluated: its cells as a reader sees them, and its signals."""
    if not standing.text:
        return Frames.of(memory)
    signals = wire_signals(memory.recorded, standing).with_columns(t=pl.lit(0.0))
    return replace(Frames.of(memory), signals=signals, pins=read_text(standing.text)[1].pins)


def wire_lines(memory: Memory, standing: Standing) -> list[str]:
    """Return one line for each signal and input of a store's netlist, with its name, value and day of the last change."""
    lines = []
    for (name,), rows in wire_signals(memory, standing).group_by("signal", maintain_order=True):
        values, day = rows["value"].to_list(), rows["changed"][0]
        of_run = rows["row"].null_count() == rows.height
        value = f"{values[0]:g}" if of_run and len(values) == 1 else f"{np.count_nonzero(values)} of {len(values)} not 0"
        lines.append(f"{name:<24} {value:<16} " + ("never changed" if day is None else f"changed on day {day:g}"))
    inputs = standing.inputs
    for name, kind in inputs_of(standing).items():
        lines.append(f"{name:<24} {inputs.get(name, 0.0):<16g} an input ({kind})" + ", set" * (name in inputs))
    return lines or ["this store has no netlist; malsim netlist load FILE -o STORE loads one"]
