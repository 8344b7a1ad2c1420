"""Two clocks: when a fact was true, and when it was known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.judging.duties.engine.duty import OBLIGATION, PROHIBITION, Duty
from malsim.judging.duties.engine.step import CURRENT, FIRST, NOT_CURRENT, NOT_FIRST, ask, call, says, twin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.judging.duties.engine.step import Step


def cells() -> Iterator[Duty]:
    """Yield the cells T1 to T6."""
    late = (
        says(30.0, "ann", "x", "A"), says(30.0, "ann", "z", "K"),
        says(40.0, "bob", "x", "B", valid_from=5.0), says(40.0, "bob", "z", "L", valid_from=39.0),
        ask(41.0, "x", "A", FIRST), twin(ask(41.0, "z", "L", FIRST)),
    )  # fmt: skip
    yield _cell("T1", PROHIBITION, "a late report of an earlier time does not displace what is true now", late)
    changed = (says(1.0, "ann", "x", "A"), says(30.0, "ann", "x", "B"), ask(31.0, "x", "A", FIRST, at=10.0))
    yield _cell("T2", OBLIGATION, "asked at an earlier day, it answers with what was true then", changed)
    corrected = (
        says(1.0, "ann", "x", "A"), call(20.0, "correct", "x", "A", by="ann", instead="B"),
        ask(31.0, "x", "A", FIRST, as_of=15.0), ask(31.0, "x", "B", FIRST),
    )  # fmt: skip
    yield _cell("T3", OBLIGATION, "asked as of a day before a correction, it answers with what was believed", corrected)
    bygone = (
        says(30.0, "ann", "x", "B"), says(40.0, "bob", "x", "D", valid_from=5.0, valid_to=10.0),
        ask(41.0, "x", "B", FIRST), ask(41.0, "x", "D", FIRST, at=7.0),
    )  # fmt: skip
    yield _cell("T4", OBLIGATION, "what was true for a time answers for that time alone", bygone)
    ended = (
        says(1.0, "ann", "x", "A", valid_to=20.0), says(1.0, "ann", "z", "K", valid_to=60.0),
        ask(30.0, "x", "A", NOT_CURRENT), twin(ask(30.0, "z", "K", CURRENT)),
    )  # fmt: skip
    yield _cell("T5", PROHIBITION, "what has ended is not current", ended)
    coming = (
        says(1.0, "ann", "x", "A", valid_from=50.0),
        ask(30.0, "x", "A", NOT_FIRST), twin(ask(60.0, "x", "A", FIRST)),
    )  # fmt: skip
    yield _cell("T6", PROHIBITION, "what has not begun is not the answer", coming)


def _cell(name: str, kind: str, sentence: str, steps: tuple[Step, ...]) -> Duty:
    return Duty(name, kind, sentence, steps, ("clocks",))
