"""A plot as lines of Python that play it by hand, to the memory alone."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from malsim.conformance.engine.draw import TICKS
from malsim.conformance.engine.playing import vocabulary
from malsim.conformance.references import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.axioms.engine.subject import Subject
    from malsim.conformance.engine.step import Step

MANY = 1000


def witness_code(subject: Subject, steps: Sequence[Step]) -> str:
    """Lines that make the memory and call it; a comment after each look says what it is to show."""
    names = [name for name in ("Claim", "Edge", "Query") if any(f"{name}(" in line for line in _lines(subject, steps))]
    return "\n".join(
        [f"from malsim.adapters import {', '.join(names)}", *_making(subject, steps), "", *_lines(subject, steps)]
    )


def _making(subject: Subject, steps: Sequence[Step]) -> list[str]:
    if subject.name in REFERENCES:
        reference = REFERENCES[subject.name].__name__
        return [f"from malsim.conformance.references import {reference}", "", f"memory = {reference}()"]
    if subject.user:
        if ":" in subject.name:
            return ["from malsim.adapters.load import load_factory", "", f"memory = load_factory({subject.name!r})()"]
        return ["", f"memory = {subject.name}()"]
    words = vocabulary(steps)
    return [
        "from malsim.axioms.engine.subjects import subject_of",
        "from malsim.memory import Rules\n" * subject.code.startswith("Rules(")
        + "from malsim.memory.port import Vocabulary",
        "",
        f"words = Vocabulary({words.writers!r}, {words.objects!r}, {words.values!r})",
        f"memory = subject_of({subject.code or repr(subject.name)}).fresh(words)",
    ]


def _lines(subject: Subject, steps: Sequence[Step]) -> Iterator[str]:
    now = 0.0
    for step in steps:
        before, now = now, max(now, step.t)
        wanted = f"  # {step.value or step.by} {step.want}{'; the twin' * step.twin}"
        if step.do == "write":
            yield f"memory.write([{_code(step.claim)}], {now!r})"
        elif step.do == "ask":
            limit = f", {MANY}" if subject.user else ""
            yield f"print(memory.peek({_code(step.query)}, {now!r}{limit})){wanted}"
        elif step.do in ("texts", "log"):
            yield f"print(memory.{step.do}()){wanted}"
        elif step.do in subject.offers:
            given = ", ".join(repr(value) for value in (step.arguments | {"now": now}).values())
            yield f"memory.{step.do}({given})"
        elif step.do == "settle":
            yield f"for day in range({int(TICKS)}):"
            yield f"    memory.tick(max({before!r}, {step.t - TICKS + 1.0!r} + day))"


def _code(record: Any) -> str:
    """A claim or a question as Python, without what is as by default."""
    parts = []
    for each in fields(record):
        value = getattr(record, each.name)
        if each.default is MISSING:
            parts.append(repr(value))
        elif value != each.default:
            parts.append(f"{each.name}={value!r}")
    return f"{type(record).__name__}({', '.join(parts)})"
