"""Forgetting: an erased value is gone from answers, texts, copies and derivations, and does not return."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.judging.duties.correction import NOTED, first_days, from_the_document
from malsim.judging.duties.engine.duty import OBLIGATION, PROHIBITION, Duty
from malsim.judging.duties.engine.step import (
    CURRENT,
    FIRST,
    NOT_CURRENT,
    NOT_SHOWN,
    SHOWN,
    Step,
    ask,
    call,
    says,
    settle,
    twin,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

FORGET = call(10.0, "forget", "x", "A", by="ann")


def cells() -> Iterator[Duty]:
    """Yield the cells F1 to F11."""
    first = first_days()
    history = [*first, *(call(2.0, "share", name, to="team") for name in ("x", "z"))]
    yield Duty("F1", OBLIGATION, "before it is forgotten it is the first answer", (*history, ask(2.0, "x", "A", FIRST)))
    history.append(FORGET)
    yield _absent("F2", "it is not shown", history)
    again = from_the_document(20.0, first)
    yield _absent("F3", "it is not shown when its document comes in again as it was", [*history, *again], 21.0)
    other = from_the_document(20.0, first, by="importer", text=NOTED)
    yield _absent("F4", "it is not shown when an importer brings it in other words", [*history, *other], 21.0)
    yield _absent("F5", "it is not shown after the background jobs", [*history, settle(60.0)], 60.0)
    texts = Step(11.0, "texts", value="A", want=NOT_SHOWN)
    yield _cell("F6", "no text that is held has it", history, texts, replace(texts, value="K", want=SHOWN))
    derived = (ask(11.0, "y", "A2", NOT_CURRENT), ask(11.0, "u", "K2", CURRENT))
    yield _cell("F7", "what was derived from it is not current", history, *derived, extra=("edges",))
    shared = (ask(11.0, "x", "A", NOT_SHOWN, scope="team"), ask(11.0, "z", "K", SHOWN, scope="team"))
    yield _cell("F8", "it is not shown where it was shared", history, *shared, extra=("share", "scopes"))
    logged = Step(11.0, "log", by="ann", dated=10.0, want="logged")
    yield Duty("F9", OBLIGATION, "the log says who forgot and when", (*history, logged))
    log = Step(11.0, "log", value="A", want=NOT_SHOWN)
    yield _cell("F10", "the log does not say what", history, log, ask(11.0, "z", "K", SHOWN))
    anew = (call(25.0, "allow", "x", "A", by="ann"), says(26.0, "ann", "x", "A"), ask(27.0, "x", "A", FIRST))
    yield Duty("F11", OBLIGATION, "once allowed and said again it is the first answer", (*history, *anew))


def _absent(name: str, sentence: str, steps: list[Step], t: float = 11.0) -> Duty:
    return _cell(name, sentence, steps, ask(t, "x", "A", NOT_SHOWN), ask(t, "z", "K", SHOWN))


def _cell(name: str, sentence: str, steps: list[Step], look: Step, untouched: Step, extra: tuple[str, ...] = ()) -> Duty:
    return Duty(name, PROHIBITION, sentence, (*steps, look, twin(untouched)), extra)
