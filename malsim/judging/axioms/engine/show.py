"""Verdicts on a terminal: one memory axiom by axiom, or laws × axioms."""

from __future__ import annotations

import os
import sys
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING

from malsim.judging.axioms.engine.axiom import BROKEN, ERROR, HOLDS, N_A, find_axiom
from malsim.judging.axioms.engine.events import event_table

if TYPE_CHECKING:
    from malsim.judging.axioms.engine.axiom import AxiomVerdict
    from malsim.judging.axioms.engine.events import Event
    from malsim.judging.axioms.engine.matrix import Matrix

COLOURS = {HOLDS: "32", BROKEN: "1;31", N_A: "2", ERROR: "1;35"}
SIGNS = {HOLDS: "+", BROKEN: "X", N_A: ".", ERROR: "!"}


def verdict_text(verdicts: Matrix) -> str:
    """The verdicts; in colour on a terminal."""
    paint = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return _one(verdicts, paint=paint) if len(verdicts.laws) == 1 else _table(verdicts, paint=paint)


def _one(verdicts: Matrix, *, paint: bool) -> str:
    lines = list(verdicts.tolerances)
    for one in verdicts.verdicts:
        why = "" if one.verdict == HOLDS else f": {one.why}"
        lines.append(f"{one.axiom:<22} {_paint(one.verdict, one.verdict, paint=paint)}{why}")
        if one.verdict == BROKEN:
            lines += [
                f"    {find_axiom(one.axiom).sentence}",
                *(f"    {line}" for line in event_table(one.witness).splitlines()),
            ]
    first = verdicts.broken[:1]
    again = (["", "to see the first again:", replay_code(one)] for one in first)
    return "\n".join([*lines, *(line for part in again for line in part)])


def _table(verdicts: Matrix, *, paint: bool) -> str:
    """A line a law, a column an axiom; the axioms' names stand upright above."""
    width, height = max(map(len, verdicts.laws)), max(map(len, verdicts.axioms))
    heads = [" " * (width + 1) + " ".join(axiom.rjust(height)[row] for axiom in verdicts.axioms) for row in range(height)]
    rows = []
    for law in verdicts.laws:
        signs = (verdicts.at(law, axiom).verdict for axiom in verdicts.axioms)
        rows.append(f"{law:<{width}} " + " ".join(_paint(SIGNS[each], each, paint=paint) for each in signs))
    counts = f"{len(verdicts.broken)} broken of {len(verdicts.verdicts)}"
    errors = [f"{one.law} under {one.axiom}: {one.why}" for one in verdicts.errors]
    legend = "   ".join(f"{SIGNS[each]} {each}" for each in (HOLDS, BROKEN, N_A, ERROR))
    return "\n".join(
        [*heads, *rows, "", f"{legend}   ({counts}; `malsim axioms LAW` shows the witnesses)", *verdicts.tolerances, *errors]
    )


def _paint(text: str, verdict: str, *, paint: bool) -> str:
    return f"\033[{COLOURS[verdict]}m{text}\033[0m" if paint else text


def replay_code(one: AxiomVerdict) -> str:
    """Lines of Python that show a witness again."""
    events = "".join(f"    {_event_code(event)},\n" for event in one.witness)
    return (
        "from malsim.adapters import Edge\n"
        * any(event.edges for event in one.witness)
        + "from malsim.judging.axioms.engine.axiom import find_axiom\n"
        "from malsim.judging.axioms.engine.events import Event\n"
        "from malsim.judging.axioms.engine.subjects import subject_of\n"
        + "from malsim.memory import Rules\n"
        * one.code.startswith("Rules(")
        + f"\nevents = [\n{events}]\n"
        f"print(find_axiom({one.axiom!r}).module.broken(subject_of({one.code or repr(one.law)}), events))"
    )


def _event_code(event: Event) -> str:
    """An event as Python, without what is as by default."""
    settings = [each for each in fields(event) if each.default is MISSING or getattr(event, each.name) != each.default]
    keywords = [f"{each.name}={getattr(event, each.name)!r}" for each in settings if each.default is not MISSING]
    return f"Event({', '.join([repr(event.t), repr(event.do), *keywords])})"
