"""The netlist of a store: its scan at each tick, its inputs, and the values of its signals."""

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
from malsim.memory.tables.standing_parts import EVENTS
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
    from malsim.memory.tables.standing_parts import Standing
    from malsim.netlist.engine import Scan
    from malsim.netlist.engine.engine import State
    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Net


_GRAPH = (Cell, Edges, Body, Prop)
FILES = (".malnet", ".hal")
WORDS = ("kind", "subject", "detail", "cause")


def wiring_text(document: Document) -> str:
    if document.blocks:
        document = inlined(document)[0]
    wiring = [statement for statement in document.statements if not isinstance(statement, (*_GRAPH, Blank))]
    return text_of(wiring)


def load_all(memory: Memory, standing: Standing, documents: Iterable[Document], rules: Rules) -> tuple[Memory, Standing]:
    """Load netlists into a store: cells and edges into the memory, wiring next to the existing wiring.

    A netlist replaces one from a file of the same name, or one with which it shares half of the instances: it is the
    same one, changed. Instances that stay keep their state. Cells that stand already are left as they are. Raises
    `NetlistError` with all that is wrong; nothing is loaded then.
    """
    files = standing.files or ((("", standing.text),) if standing.text else ())
    for document in documents:
        text = wiring_text(document)
        name = PurePath(document.name).name if document.name.endswith(FILES) else ""
        stay = [file for file in files if not text or not _is_changed(file, name, text)]
        before = "".join(own for _, own in stay)
        new = Document(_without_standing(memory, document.statements), document.name, document.blocks)
        memory = load(new, memory, rules=rules).memory
        whole = parse(before + text, file=STANDING)
        if faults := [*linked(whole)[1], *gather(whole.statements).faults]:
            raise NetlistError(faults)
        files = (*stay, (name, text)) if text else files
    return memory, replace(standing, text="".join(own for _, own in files), files=tuple(files))


def _is_changed(file: tuple[str, str], name: str, text: str) -> bool:
    old = facts(parse(file[1], file=STANDING).statements)["instance"].keys()
    new = facts(parse(text, file=STANDING).statements)["instance"].keys()
    return bool((name and name == file[0]) or (old and 2 * len(old & new) >= len(old)))


def _without_standing(memory: Memory, statements: Iterable[Statement]) -> tuple[Statement, ...]:
    stand = set(memory.cells.filter(pl.col("rep") == 0).select("handle", "title").iter_rows())
    left, keep = [], True
    for statement in statements:
        if isinstance(statement, Cell):
            keep = (statement.handle, statement.title) not in stand
        elif not (isinstance(statement, (Body, Prop)) or (isinstance(statement, Edges) and not statement.source)):
            keep = True
        if keep:
            left.append(statement)
    return tuple(left)


def changes(before: str, after: str) -> list[str]:
    """Return what a changed netlist adds, removes and resets, a line each: instances that stay keep their state."""
    old, new = (read_text(text)[1].instances if text else {} for text in (before, after))
    other = {name for name in old.keys() & new.keys() if old[name].sheet.name != new[name].sheet.name}
    parts = {"added": new.keys() - old.keys(), "removed": old.keys() - new.keys(), "reset": other}
    return [f"{word}: {' '.join(sorted(names))}" for word, names in parts.items() if names]


def scan(memory: Memory, standing: Standing, now: float, rules: Rules) -> tuple[Memory, Standing]:
    """Run what stands on a memory that has just ticked at `now` days, with its inputs as they were set.

    The wires' alarms and flags, programs that tripped, prg cells that came in or cannot run are its events. Raises
    `NetlistError` for an op or a block that is not known here; the store is then as it was.
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
        lines = {engine.first + index: own for index in indices if (own := tuple(lines_by_row.of(index)))}
    moved = {**standing.moved, **moved_at(state.signals, result.state.signals, engine.net, now)}
    events = _events(result, now, engine.first)
    return result.memory, replace(standing, state=saved(result.state, engine), lines=lines, moved=moved, events=events)


def _events(result: Scan, now: float, first: int) -> pl.DataFrame:
    frames = [result.events]
    for ran in result.ran:
        indices = np.flatnonzero(ran.output.values.get("tripped", False))
        if indices.size:
            program = ran.program
            cause = program.operation if program.places is None else program.handle
            words = ("tripped", program.handle or program.operation, program.title, cause)
            frame = pl.DataFrame({"rep": indices.astype(np.int32)})
            frames.append(frame.with_columns(pl.lit(word).alias(name) for name, word in zip(WORDS, words, strict=True)))
    events = pl.concat(frames).with_columns(pl.lit(now, pl.Float64).alias("t"), pl.col("rep") + first)
    return events.select(pl.col(name).cast(kind) for name, kind in EVENTS.items())


def event_lines(events: pl.DataFrame) -> list[str]:
    """Return a line per event: `tripped alarm: alarm, by severity.out`."""
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
    """Return the inputs of a store's netlist, each with its type: pins of the loop, and free signals."""
    net = read_text(standing.text)[1]
    writers = {str(signal.writer.address) for signal in net.signals.values() if signal.writer}
    free = {name: signal.type for name, signal in net.signals.items() if signal.writer is None and signal.domain == "run"}
    return {name: kind for name, (kind, _) in LOOP_WRITES.items() if name in writers} | free


def input_of(standing: Standing, name: str, value: object) -> float:
    """Return a value of an input as a number. Raises `UsageError` for no such input, or a value of another type."""
    inputs = inputs_of(standing)
    if name not in inputs:
        allowed = ", ".join(inputs) or "none: no wire here waits for one"
        raise UsageError("no such input", given=name, allowed=allowed, hint=nearest(name, inputs) or None)
    text = f"{value + 0:g}" if isinstance(value, int | float) else str(value)
    read = bit(text) if inputs[name] == "bit" else number(text)
    if read is None or not np.isfinite(float(read)):
        allowed = "true or false" if inputs[name] == "bit" else "a number"
        raise UsageError("a value of another type", where=name, given=value, allowed=allowed)
    return float(read)


def moved_at(before: Mapping[str, Any], after: Mapping[str, Any], net: Net, now: float) -> dict[str, float]:
    """Return the signals of a net whose values a scan at `now` changed, with that day; new rows of 0 change nothing."""
    moved = {}
    for name in net.signals.keys() & after.keys():
        if name not in before and net.signals[name].domain != "run":
            continue  # it is read off the memory, and nothing keeps what it was
        old, new = (_numbers(values.get(name)) for values in (before, after))
        count = min(len(old), len(new))
        if not np.array_equal(old[:count], new[:count], equal_nan=True) or np.nan_to_num(new[count:]).any():
            moved[name] = now
    return moved


def _numbers(values: object) -> Array:
    return values.astype(np.float64) if isinstance(values, np.ndarray) else np.zeros(0)


def wire_signals(memory: Memory, standing: Standing) -> pl.DataFrame:
    """Return the signals of the wires of a store as the last tick left them: one row a signal and row of its domain.

    Columns signal, rep, row (null of a signal of the run), value, and changed: the day on which the signal last changed,
    null for one that never did.
    """
    if not standing.text:
        return pl.DataFrame(schema=COLUMNS)
    engine, state = engine_of(memory, standing)
    rows = Rows(memory, engine.replications, state.topics, first=engine.first)
    signals: dict[str, Any] = {name: np.zeros(engine.replications) for name in engine.loop_reads}  # before the first tick
    signals |= {**state.signals, **{name: read(rows) for name, read in engine.readers.items()}}
    frames = [pl.DataFrame(schema=COLUMNS)]
    for name, signal in engine.net.signals.items():
        values = _numbers(signals.get(name))
        count = len(values)
        label = pl.Series([None] * count, dtype=pl.String)
        label = label if signal.domain == "run" else rows.labels(signal.domain).head(count)
        reps = rows.rep_of(signal.domain)[:count] + engine.first
        own = pl.DataFrame({"rep": pl.Series(reps, dtype=pl.Int32), "row": label, "value": values})
        own = own.with_columns(signal=pl.lit(name), changed=pl.lit(standing.moved.get(name), pl.Float64))
        frames.append(own.select(list(COLUMNS)))
    return pl.concat(frames)


def frames_of(memory: Memory, standing: Standing) -> Frames:
    """Return what addresses of a store are looked up in: its cells as a reader sees them, and the signals of its wires."""
    signals = wire_signals(memory.recorded, standing).with_columns(t=pl.lit(0.0))
    pins = read_text(standing.text)[1].pins if standing.text else {}
    return replace(Frames.of(memory), signals=signals, pins=pins) if standing.text else Frames.of(memory)


def wire_lines(memory: Memory, standing: Standing) -> list[str]:
    """Return the signals and inputs of the wires of a store, a line each: name, value, when it last changed."""
    lines = []
    for (name,), own in wire_signals(memory, standing).group_by("signal", maintain_order=True):
        values, day = own["value"].to_list(), own["changed"][0]
        of_run = own["row"].null_count() == own.height
        value = f"{values[0]:g}" if of_run and len(values) == 1 else f"{np.count_nonzero(values)} of {len(values)} not 0"
        lines.append(f"{name:<24} {value:<16} " + ("never changed" if day is None else f"changed on day {day:g}"))
    inputs = standing.inputs
    for name, kind in inputs_of(standing).items():
        lines.append(f"{name:<24} {inputs.get(name, 0.0):<16g} an input ({kind})" + ", set" * (name in inputs))
    return lines or ["this store has no wires; malsim netlist load FILE -o STORE loads some"]
