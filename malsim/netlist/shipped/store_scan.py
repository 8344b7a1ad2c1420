"""The tick of a store that holds programs and wires: they run on what has just ticked, and what they do is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.plain_text import one_line
from malsim.memory.schema import KINDS
from malsim.memory.tables.standing_parts import EVENTS
from malsim.netlist.engine.rows import Rows
from malsim.netlist.engine.saved_state import saved
from malsim.netlist.graph.gather import gather
from malsim.netlist.language.facts import facts
from malsim.netlist.language.faults import NetlistError
from malsim.netlist.language.parse import parse
from malsim.netlist.language.render import text_of
from malsim.netlist.language.statements import Blank, Body, Cell, Document, Edges, Prop
from malsim.netlist.load import load
from malsim.netlist.shipped.store_wires import STANDING, engine_of, moved_at, read_text
from malsim.netlist.shipped.surfaced import surfaced_of, surfaced_on
from malsim.netlist.wiring import linked
from malsim.netlist.wiring.blocks import inlined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.memory import Memory, Rules
    from malsim.memory.tables.standing_parts import Standing
    from malsim.netlist.engine import Scan
    from malsim.netlist.language.statements import Statement

_GRAPH = (Cell, Edges, Body, Prop)
FILES = (".malnet", ".hal")
WORDS = ("kind", "subject", "detail", "cause")


def wiring_text(document: Document) -> str:
    if document.blocks:
        document = inlined(document)[0]
    wiring = [statement for statement in document.statements if not isinstance(statement, (*_GRAPH, Blank))]
    return text_of(wiring)


def load_all(memory: Memory, standing: Standing, documents: Iterable[Document], rules: Rules) -> tuple[Memory, Standing]:
    """Load netlists into what a store holds: cells and edges into the memory, wiring beside what stands there already.

    A netlist takes the place of one that came from a file of the same name, or half of whose instances it has: it is the
    same one, changed. Instances that stay keep their state. Cells that stand already are left as they are. Raises
    `NetlistError` with all that is wrong; nothing is loaded then.
    """
    files = standing.files or ((("", standing.text),) if standing.text else ())
    for document in documents:
        text = wiring_text(document)
        name = PurePath(document.name).name if document.name.endswith(FILES) else ""
        stay = [one for one in files if not text or not _is_changed(one, name, text)]
        before = "".join(own for _, own in stay)
        new = Document(_without_standing(memory, document.statements), document.name, document.blocks)
        memory = load(new, memory, rules=rules).memory
        whole = parse(before + text, file=STANDING)
        if faults := [*linked(whole)[1], *gather(whole.statements).faults]:
            raise NetlistError(faults)
        files = (*stay, (name, text)) if text else files
    return memory, replace(standing, text="".join(own for _, own in files), files=tuple(files))


def _is_changed(file: tuple[str, str], name: str, text: str) -> bool:
    """Return whether a text is a changed version of what a file brought: by its name, or by half of its instances."""
    old = facts(parse(file[1], file=STANDING).statements).values["instance"].keys()
    new = facts(parse(text, file=STANDING).statements).values["instance"].keys()
    return bool((name and name == file[0]) or (old and 2 * len(old & new) >= len(old)))


def _without_standing(memory: Memory, statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return the statements but those of cells whose handle and title stand in the memory, with what belongs to them."""
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
        places = range(engine.replications)
        lines = {engine.first + place: own for place in places if (own := tuple(lines_by_row.of(place)))}
    moved = {**standing.moved, **moved_at(state.signals, result.state.signals, engine.net, now)}
    events = _events(result, now, engine.first)
    return result.memory, replace(standing, state=saved(result.state, engine), lines=lines, moved=moved, events=events)


def _events(result: Scan, now: float, first: int) -> pl.DataFrame:
    frames = [result.events]
    for ran in result.ran:
        places = np.flatnonzero(ran.output.values.get("tripped", False))
        if places.size:
            program = ran.program
            cause = program.operation if program.places is None else program.handle
            words = ("tripped", program.handle or program.operation, program.title, cause)
            frame = pl.DataFrame({"rep": places.astype(np.int32)})
            frames.append(frame.with_columns(pl.lit(word).alias(name) for name, word in zip(WORDS, words, strict=True)))
    events = pl.concat(frames).with_columns(pl.lit(now, pl.Float64).alias("t"), pl.col("rep") + first)
    return events.select(pl.col(name).cast(kind) for name, kind in EVENTS.items())


def event_lines(events: pl.DataFrame) -> list[str]:
    """Return a line per event: `tripped alarm: alarm, by severity.out`."""
    rows = events.select(WORDS).rows()
    return [one_line(f"{kind} {about}: {detail}" + f", by {by}" * (by != about)) for kind, about, detail, by in rows]
