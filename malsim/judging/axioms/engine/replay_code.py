"""Python code that reproduces a witness: its events, and the axiom applied to them."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.judging.axioms.engine.events import Event


def replay_code(axiom: str, subject: str, events: Sequence[Event]) -> str:
    """Return lines of Python that print the sentence of a broken axiom again; `subject` is Python for `subject_of`."""
    lines = "".join(f"    {_event_code(event)},\n" for event in events)
    return (
        "from malsim.adapters import Edge\n"
        * any(event.edges for event in events)
        + "from malsim.judging.axioms.engine.axiom import find_axiom\n"
        "from malsim.judging.axioms.engine.events import Event\n"
        "from malsim.judging.axioms.engine.subjects import subject_of\n"
        + "from malsim.memory import Rules\n"
        * subject.startswith("Rules(")
        + f"\nevents = [\n{lines}]\n"
        f"print(find_axiom({axiom!r}).module.broken(subject_of({subject}), events))"
    )


def _event_code(event: Event) -> str:
    settings = [each for each in fields(event) if each.default is MISSING or getattr(event, each.name) != each.default]
    keywords = [f"{each.name}={getattr(event, each.name)!r}" for each in settings if each.default is not MISSING]
    return f"Event({', '.join([repr(event.t), repr(event.do), *keywords])})"
