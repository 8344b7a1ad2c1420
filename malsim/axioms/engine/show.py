"""Verdicts on a terminal: one memory axiom by axiom, or laws × axioms."""

from __future__ import annotations

import os
import sys
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING

from malsim.axioms.engine.axiom import BROKEN, ERROR, HOLDS, N_A, find_axiom
from malsim.axioms.engine.events import event_table

if TYPE_CHECKING:
    from malsim.axioms.engine.axiom import AxiomVerdict
    from malsim.axioms.engine.events import Event
    from malsim.axioms.engine.matrix import Matrix

__all__ = ["coloured", "replayed"]

COLOURS = {HOLDS: "32", BROKEN: "1;31", N_A: "2", ERROR: "1;35"}
SIGNS = {HOLDS: "+", BROKEN: "X", N_A: ".", ERROR: "!"}


def coloured(found: Matrix) -> str:
    """The verdicts; in colour on a terminal."""
    paint = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return _one(found, paint=paint) if len(found.laws) == 1 else _table(found, paint=paint)


def _one(found: Matrix, *, paint: bool) -> str:
    lines = []
    for one in found.verdicts:
        said = "" if one.verdict == HOLDS else f": {one.said}"
        lines.append(f"{one.axiom:<22} {_painted(one.verdict, one.verdict, paint=paint)}{said}")
        if one.verdict == BROKEN:
            lines += [
                f"    {find_axiom(one.axiom).sentence}",
                *(f"    {line}" for line in event_table(one.witness).splitlines()),
            ]
    shown = found.broken[:1]
    return "\n".join([*lines, *(["", "to see the first again:", *map(replayed, shown)] if shown else [])])


def _table(found: Matrix, *, paint: bool) -> str:
    """A line a law, a column an axiom; the axioms' names stand upright above."""
    width, height = max(map(len, found.laws)), max(map(len, found.axioms))
    heads = [" " * (width + 1) + " ".join(axiom.rjust(height)[row] for axiom in found.axioms) for row in range(height)]
    rows = []
    for law in found.laws:
        signs = (found.at(law, axiom).verdict for axiom in found.axioms)
        rows.append(f"{law:<{width}} " + " ".join(_painted(SIGNS[each], each, paint=paint) for each in signs))
    counts = f"{len(found.broken)} broken of {len(found.verdicts)}"
    errors = [f"{one.law} under {one.axiom}: {one.said}" for one in found.errors]
    legend = "   ".join(f"{SIGNS[each]} {each}" for each in (HOLDS, BROKEN, N_A, ERROR))
    return "\n".join([*heads, *rows, "", f"{legend}   ({counts}; `malsim axioms LAW` shows the witnesses)", *errors])


def _painted(text: str, verdict: str, *, paint: bool) -> str:
    return f"\033[{COLOURS[verdict]}m{text}\033[0m" if paint else text


def replayed(one: AxiomVerdict) -> str:
    """Lines of Python that show a witness again."""
    events = "".join(f"    {_written(event)},\n" for event in one.witness)
    return (
        "from malsim.adapters import Edge\n"
        * any(event.edges for event in one.witness)
        + "from malsim.axioms.engine.axiom import find_axiom\nfrom malsim.axioms.engine.events import Event\n"
        "from malsim.axioms.engine.subjects import subject_of\n"
        + "from malsim.memory import Rules\n"
        * one.made.startswith("Rules(")
        + f"\nevents = [\n{events}]\n"
        f"print(find_axiom({one.axiom!r}).module.broken(subject_of({one.made or repr(one.law)}), events))"
    )


def _written(event: Event) -> str:
    """An event as Python, without what is as by default."""
    changed = [each for each in fields(event) if each.default is MISSING or getattr(event, each.name) != each.default]
    named = [f"{each.name}={getattr(event, each.name)!r}" for each in changed if each.default is not MISSING]
    return f"Event({', '.join([repr(event.t), repr(event.do), *named])})"
