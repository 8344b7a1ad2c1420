"""A plot as a script that plays it by hand: to the package alone, or, where that cannot be, to the memory in the bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.adapters.witness.own_lines import OwnLines, forms_of
from malsim.adapters.witness.script import BENCH_ONLY, package_script, script_of
from malsim.judging.duties.engine.playing import vocabulary
from malsim.judging.duties.references import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.judging.axioms.engine.subject import Subject
    from malsim.judging.duties.engine.step import Step


def witness_code(subject: Subject, steps: Sequence[Step]) -> str:
    """Lines that make the memory and call it; a comment after each look says what it is to show."""
    plays = [(list(steps), False)]
    alone = package_script(subject.source, plays) if subject.source else None
    return alone or f"# {BENCH_ONLY}\n{script_of(_bench_lines(subject, steps), plays)}"


def _bench_lines(subject: Subject, steps: Sequence[Step]) -> OwnLines:
    """The same calls of what only malsim can make."""
    records = "from malsim.adapters import Claim, Edge, Query"
    if subject.name in REFERENCES:
        factory = REFERENCES[subject.name]
        heading = f"from malsim.judging.duties.references import {factory.__name__}"
        return OwnLines(heading, f"memory = {factory.__name__}()", records, forms_of(factory, trusted=True))
    if subject.source:
        heading, making = "from malsim.adapters.load import load_factory", f"memory = load_factory({subject.source!r})()"
        if not isinstance(subject.source, str):
            heading, making = "", f"memory = {subject.name}()"
        return OwnLines(heading, making, records, forms_of(subject.source))
    words = vocabulary(steps)
    heading = (
        "from malsim.judging.axioms.engine.subjects import subject_of\n"
        + "from malsim.memory import Rules\n" * subject.code.startswith("Rules(")
        + "from malsim.memory.port import Vocabulary"
    )
    making = (
        f"words = Vocabulary({words.writers!r}, {words.objects!r}, {words.values!r})\n"
        f"memory = subject_of({subject.code or repr(subject.name)}).fresh(words)"
    )
    return OwnLines(heading, making, records)
