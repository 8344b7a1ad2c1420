"""Correction: five ways to retract a claim, and tests that the correction lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.judging.duties.engine.duty import OBLIGATION, PROHIBITION, Duty
from malsim.judging.duties.engine.step import CURRENT, FIRST, NOT_CURRENT, Step, ask, call, says, settle, twin

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTED = "it was noted that {} stands at {}"


def first_days(a: str = "A", k: str = "K", text: str = "{} is {}", valid_to: float | None = None) -> list[Step]:
    """Return ann's claims that x is A and z is K, both from one document, and bob's claims derived from each."""
    about_x, about_z = text.format("x", a), text.format("z", k)
    return [
        says(1.0, "ann", "x", a, about_x, source="d", valid_from=None if valid_to is None else 1.0, valid_to=valid_to),
        says(1.0, "ann", "z", k, about_z, source="d"),
        says(1.5, "bob", "y", "A2", of=about_x),
        says(1.5, "bob", "u", "K2", of=about_z),
    ]


def from_the_document(t: float, first: list[Step], by: str = "", text: str = "{} is {}") -> list[Step]:
    """Return the document's claims repeated on a later day, with their original dates."""
    more = ("source", "valid_from", "valid_to")
    return [
        says(t, by or step.by, step.object, step.value, text.format(step.object, step.value), dated=step.t,
             **{name: getattr(step, name) for name in more})
        for step in first if step.source
    ]  # fmt: skip


def cells() -> Iterator[Duty]:
    """Yield the cells of the five shapes."""
    words: dict[str, Any] = {"a": "likes A", "k": "likes K", "text": "{} {}"}
    yield from _shape("change", first_days(), says(30.0, "ann", "x", "B"))
    yield from _shape(
        "flip", first_days(**words), says(30.0, "ann", "x", "dislikes A", "x dislikes A"), noted="as to {} it {}"
    )
    yield from _shape("bounded", first_days(valid_to=20.0), says(30.0, "ann", "x", "B"))
    yield from _shape("mistake", first_days(), call(30.0, "correct", "x", "A", by="ann", instead="B"))
    yield from _shape("retraction", first_days(), call(30.0, "correct", "x", "A", by="ann"))


def _shape(name: str, first: list[Step], turn: Step, noted: str = NOTED) -> Iterator[Duty]:
    a, k = first[0].value, first[1].value
    corrected, b = turn.do == "correct", turn.instead if turn.do == "correct" else turn.value
    history = [*first, turn]
    again = from_the_document(40.0, first, by="importer", text=noted)

    def absent(letter: str, sentence: str, steps: list[Step], t: float) -> Duty:
        looks = (ask(t, "x", a, NOT_CURRENT), twin(ask(t, "z", k, CURRENT)))
        return Duty(f"{name}.{letter}", PROHIBITION, sentence, (*steps, *looks))

    if b:
        yield Duty(f"{name}.A", OBLIGATION, "the new value is the first answer", (*history, ask(31.0, "x", b, FIRST)))
    yield absent("B", "the old value is not current", history, 31.0)
    yield absent("C", "the old value is not current after the background jobs", [*history, settle(60.0)], 60.0)
    yield absent("C'", "it is not current when its document comes in again in other words", [*history, *again], 41.0)
    before = {"as_of": 2.0} if corrected else {"at": 2.0}
    sentence = "what was believed then is still known" if corrected else "what was true then is still known"
    yield Duty(f"{name}.D", OBLIGATION, sentence, (*history, ask(31.0, "x", a, FIRST, **before)), ("clocks",))
    if corrected:
        looks = (ask(60.0, "y", "A2", NOT_CURRENT), twin(ask(60.0, "u", "K2", CURRENT)))
        sentence = "what was derived from it falls with it"
        yield Duty(f"{name}.E", PROHIBITION, sentence, (*history, settle(60.0), *looks), ("edges",))
