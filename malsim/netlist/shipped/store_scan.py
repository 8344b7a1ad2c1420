"""The tick of a store that holds programs and wires: they run on what has just ticked, and what they do is kept."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.schema import KINDS
from malsim.memory.tables.standing_parts import EVENTS, Standing
from malsim.netlist.engine import Engine
from malsim.netlist.engine.rows import Rows
from malsim.netlist.engine.saved_state import restored, saved
from malsim.netlist.graph.gather import gather
from malsim.netlist.language.faults import NetlistError
from malsim.netlist.language.parse import parse
from malsim.netlist.language.render import text_of
from malsim.netlist.language.statements import Blank, Body, Cell, Edges, Prop
from malsim.netlist.load import load
from malsim.netlist.shipped.surfaced import surfaced_of, surfaced_on
from malsim.netlist.wiring import link, linked
from malsim.netlist.wiring.blocks import inlined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.memory import Memory, Rules
    from malsim.netlist.engine import Scan
    from malsim.netlist.language.statements import Document
    from malsim.netlist.wiring import Net

_GRAPH = (Cell, Edges, Body, Prop)
WORDS = ("kind", "subject", "detail", "cause")
STANDING = "what stands in the store"


def wiring_text(document: Document) -> str:
    """A netlist without its cells and edges, the blocks beside it put in their places."""
    if document.blocks:
        document = inlined(document)[0]
    wiring = [statement for statement in document.statements if not isinstance(statement, (*_GRAPH, Blank))]
    return text_of(wiring)


def load_all(memory: Memory, standing: Standing, documents: Iterable[Document], rules: Rules) -> tuple[Memory, Standing]:
    """Netlists into what a store holds: cells and edges into the memory, wiring beside what stands there already.

    Raises `NetlistError` with all that is wrong; nothing is loaded then.
    """
    text = standing.text
    for document in documents:
        memory, text = load(document, memory, rules=rules).memory, text + wiring_text(document)
    whole = parse(text, file=STANDING)
    faults = [*linked(whole)[1], *gather(whole.statements).faults]
    if faults:
        raise NetlistError(faults)
    return memory, Standing(text=text, state=standing.state, lines=standing.lines)


def scan(memory: Memory, standing: Standing, now: float, rules: Rules) -> tuple[Memory, Standing]:
    """One scan of what stands on a memory that has just ticked at `now` days.

    The wires' alarms and flags, programs that tripped, prg cells that came in or cannot run are its events. Raises
    `NetlistError` for an op or a block that is not known here; the store is then as it was.
    """
    if not standing.text and not (memory.column("kind") == KINDS.index("prg")).any():
        return memory, standing
    document, net = _read(standing.text)
    reps = memory.column("rep")
    first, last = int(reps.min(initial=0)), int(reps.max(initial=0))
    engine = Engine(net, replications=last - first + 1, first=first, rules=rules)
    state = restored(standing.state, engine, memory, first=first)
    result = engine.scan(state, memory, now=now)
    lines = dict[int, tuple[str, ...]]()
    if surfaced := surfaced_of(document, engine.net):
        rows = Rows(memory, engine.replications, result.state.topics, first=first)
        lines_by_row = surfaced_on(surfaced, result.state.signals, engine.net, rows)
        lines = {first + place: own for place in range(engine.replications) if (own := tuple(lines_by_row.of(place)))}
    after = Standing(text=standing.text, state=saved(result.state, engine), lines=lines, events=_events(result, now, first))
    return result.memory, after


@lru_cache(maxsize=8)
def _read(text: str) -> tuple[Document, Net]:
    document = parse(text, file=STANDING)
    return document, link(document)


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
    """What happened, a line each: `tripped alarm: alarm, by severity.out`."""
    rows = events.select(WORDS).rows()
    return [f"{kind} {about}: {detail}" + f", by {by}" * (by != about) for kind, about, detail, by in rows]
