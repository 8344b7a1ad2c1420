"""Cells of the duties and their plots, in the symbols x, A, ann: correction, forgetting, scopes, clocks, authority."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError, nearest
from malsim.judging.duties.engine.duty import OBLIGATION, PROHIBITION, Duty
from malsim.judging.duties.engine.step import (
    CURRENT,
    FIRST,
    NOT_CURRENT,
    NOT_FIRST,
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


def correction_cells() -> Iterator[Duty]:
    """Yield the cells of the five shapes of a correction."""
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

    def absent(letter: str, sentence: str, steps: list[Step], t: float, extra: tuple[str, ...] = ()) -> Duty:
        looks = (ask(t, "x", a, NOT_CURRENT), twin(ask(t, "z", k, CURRENT)))
        return Duty(f"{name}.{letter}", PROHIBITION, sentence, (*steps, *looks), extra)

    if b:
        yield Duty(f"{name}.A", OBLIGATION, "the new value is the first answer", (*history, ask(31.0, "x", b, FIRST)))
    yield absent("B", "the old value is not current", history, 31.0)
    yield absent("C", "the old value is not current after the background jobs", [*history, settle(60.0)], 60.0)
    dated = () if corrected else ("dates",)  # an undated repetition would be news
    sentence = "the old value is not current when its document is imported again in other words"
    yield absent("C'", sentence, [*history, *again], 41.0, dated)
    before = {"as_of": 2.0} if corrected else {"at": 2.0}
    sentence = "what was believed then is still known" if corrected else "what was true then is still known"
    yield Duty(f"{name}.D", OBLIGATION, sentence, (*history, ask(31.0, "x", a, FIRST, **before)), ("clocks",))
    if corrected:
        looks = (ask(60.0, "y", "A2", NOT_CURRENT), twin(ask(60.0, "u", "K2", CURRENT)))
        sentence = "what was derived from it falls with it"
        yield Duty(f"{name}.E", PROHIBITION, sentence, (*history, settle(60.0), *looks), ("edges",))


FORGET = call(10.0, "forget", "x", "A", by="ann")


def forgetting_cells() -> Iterator[Duty]:
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
    yield _forgetting_cell("F6", "no text that is held has it", history, texts, replace(texts, value="K", want=SHOWN))
    derived = (ask(11.0, "y", "A2", NOT_CURRENT), ask(11.0, "u", "K2", CURRENT))
    yield _forgetting_cell("F7", "what was derived from it is not current", history, *derived, extra=("edges",))
    shared = (ask(11.0, "x", "A", NOT_SHOWN, scope="team"), ask(11.0, "z", "K", SHOWN, scope="team"))
    yield _forgetting_cell("F8", "it is not shown where it was shared", history, *shared, extra=("share", "scopes"))
    logged = Step(11.0, "log", by="ann", dated=10.0, want="logged")
    yield Duty("F9", OBLIGATION, "the log says who forgot and when", (*history, logged))
    log = Step(11.0, "log", value="A", want=NOT_SHOWN)
    yield _forgetting_cell("F10", "the log does not say what", history, log, ask(11.0, "z", "K", SHOWN))
    anew = (call(25.0, "allow", "x", "A", by="ann"), says(26.0, "ann", "x", "A"), ask(27.0, "x", "A", FIRST))
    yield Duty("F11", OBLIGATION, "once allowed and said again it is the first answer", (*history, *anew))


def _absent(name: str, sentence: str, steps: list[Step], t: float = 11.0) -> Duty:
    return _forgetting_cell(name, sentence, steps, ask(t, "x", "A", NOT_SHOWN), ask(t, "z", "K", SHOWN))


def _forgetting_cell(
    name: str, sentence: str, steps: list[Step], look: Step, untouched: Step, extra: tuple[str, ...] = ()
) -> Duty:
    return Duty(name, PROHIBITION, sentence, (*steps, look, twin(untouched)), extra)


HERS, HIS = {"scope": "hers"}, {"scope": "his"}
TOLD = (says(1.0, "ann", "x", "A", **HERS), says(1.0, "bob", "z", "K", **HIS))
IN_HERS, IN_HIS = ask(2.0, "x", "A", SHOWN, **HERS), ask(2.0, "z", "K", SHOWN, **HIS)


def apart_cells() -> Iterator[Duty]:
    yield _apart_cell("S1", "what is hers is not shown in his", (*TOLD, ask(2.0, "x", "A", NOT_SHOWN, **HIS), twin(IN_HERS)))
    nowhere = [ask(2.0, name, value, NOT_SHOWN) for name, value in (("x", "A"), ("z", "K"))]
    yield _apart_cell(
        "S2", "asked without a scope, nothing of a scope is shown", (*TOLD, *nowhere, twin(IN_HERS), twin(IN_HIS))
    )
    derived = says(1.5, "bob", "y", "A2", of="x is A", **HERS)
    looks = [
        look for t in (2.0, 60.0) for look in (ask(t, "y", "A2", NOT_SHOWN, **HIS), twin(ask(t, "y", "A2", SHOWN, **HERS)))
    ]
    steps = (*TOLD, derived, *looks[:2], settle(60.0), *looks[2:])
    yield _apart_cell(
        "S3", "what was derived from hers is not shown in his, nor after the background jobs", steps, ("edges",)
    )
    both = (says(1.0, "ann", "x", "A", **HERS), says(1.0, "ann", "x", "A", **HIS))
    corrected = call(10.0, "correct", "x", "A", by="ann", instead="B", **HERS)
    looks = [ask(11.0, "x", "A", CURRENT, **HIS), twin(ask(11.0, "x", "B", CURRENT, **HERS))]
    yield _apart_cell("S4", "corrected in hers, it stays in his", (*both, corrected, *looks))
    shared = (*TOLD, call(10.0, "share", "x", to="his", **HERS))
    sentence = "shared with his, it is current there"
    yield Duty("S5", OBLIGATION, sentence, (*shared, ask(11.0, "x", "A", CURRENT, **HIS)), ("share", "scopes"))
    also = (says(1.0, "ann", "w", "L", **HERS), call(10.0, "share", "w", to="his", **HERS))
    looks = [ask(21.0, "x", "A", NOT_SHOWN, **HIS), twin(ask(21.0, "w", "L", SHOWN, **HIS))]
    steps = (*shared, *also, call(20.0, "unshare", "x", to="his", **HERS), *looks)
    yield _apart_cell("S6", "no longer shared, it is not shown there any more", steps, ("share",))
    third = (ask(11.0, "x", "A", NOT_SHOWN, scope="theirs"), twin(ask(11.0, "x", "A", SHOWN, **HIS)))
    yield _apart_cell("S8", "shared with his, it is not shown in a third scope", (*shared, *third), ("share",))
    yield _apart_cell("S7", "what five say in his does not move the belief in hers", _five(), ("belief",))


def _apart_cell(name: str, sentence: str, steps: tuple[Step, ...], extra: tuple[str, ...] = ()) -> Duty:
    return Duty(name, PROHIBITION, sentence, steps, (*extra, "scopes"))


def _five() -> tuple[Step, ...]:
    """Return ann's claims of x and z in hers, then five writers' claims of x in his and of z in hers, at one instant."""
    crowd = ("bob", "cid", "dan", "eve", "fay")
    first = [says(1.0, "ann", name, value, **HERS) for name, value in (("x", "A"), ("z", "K"))]
    before = [ask(2.0, name, value, "remembered", **HERS) for name, value in (("x", "A"), ("z", "K"))]
    claims = [
        says(2.0, who, name, value, **scope) for name, value, scope in (("x", "A", HIS), ("z", "K", HERS)) for who in crowd
    ]
    after = [ask(2.0, "x", "A", "believed as before", **HERS), twin(ask(2.0, "z", "K", "believed more", **HERS))]
    return (*first, *before, *claims, *after)


def clocks_cells() -> Iterator[Duty]:
    late = (
        says(30.0, "ann", "x", "A"), says(30.0, "ann", "z", "K"),
        says(40.0, "bob", "x", "B", valid_from=5.0), says(40.0, "bob", "z", "L", valid_from=39.0),
        ask(41.0, "x", "A", FIRST), twin(ask(41.0, "z", "L", FIRST)),
    )  # fmt: skip
    yield _clocks_cell("T1", PROHIBITION, "a late report of an earlier time does not displace what is true now", late)
    changed = (says(1.0, "ann", "x", "A"), says(30.0, "ann", "x", "B"), ask(31.0, "x", "A", FIRST, at=10.0))
    yield _clocks_cell("T2", OBLIGATION, "asked at an earlier day, it answers with what was true then", changed)
    corrected = (
        says(1.0, "ann", "x", "A"), call(20.0, "correct", "x", "A", by="ann", instead="B"),
        ask(31.0, "x", "A", FIRST, as_of=15.0), ask(31.0, "x", "B", FIRST),
    )  # fmt: skip
    yield _clocks_cell(
        "T3", OBLIGATION, "asked as of a day before a correction, it answers with what was believed", corrected
    )
    bygone = (
        says(30.0, "ann", "x", "B"), says(40.0, "bob", "x", "D", valid_from=5.0, valid_to=10.0),
        ask(41.0, "x", "B", FIRST), ask(41.0, "x", "D", FIRST, at=7.0),
    )  # fmt: skip
    yield _clocks_cell("T4", OBLIGATION, "what was true for a time answers for that time alone", bygone)
    ended = (
        says(1.0, "ann", "x", "A", valid_to=20.0), says(1.0, "ann", "z", "K", valid_to=60.0),
        ask(30.0, "x", "A", NOT_CURRENT), twin(ask(30.0, "z", "K", CURRENT)),
    )  # fmt: skip
    yield _clocks_cell("T5", PROHIBITION, "what has ended is not current", ended)
    coming = (
        says(1.0, "ann", "x", "A", valid_from=50.0),
        ask(30.0, "x", "A", NOT_FIRST), twin(ask(60.0, "x", "A", FIRST)),
    )  # fmt: skip
    yield _clocks_cell("T6", PROHIBITION, "what has not begun is not the answer", coming)


def _clocks_cell(name: str, kind: str, sentence: str, steps: tuple[Step, ...]) -> Duty:
    return Duty(name, kind, sentence, steps, ("clocks",))


def authority_cells() -> Iterator[Duty]:
    agreed = tuple(says(1.0 + day, who, "x", "A") for day, who in enumerate(("ann", "bob", "cid")))
    stays = ask(11.0, "x", "A", FIRST)
    zoe = call(10.0, "correct", "x", "A", by="zoe", instead="B")
    yield Duty(
        "K1", OBLIGATION, "a stranger's correction of what three said does not stand", (*agreed, zoe, stays), ("writers",)
    )
    sentence = "a stranger's wish to forget what three said does not stand"
    yield Duty("K2", OBLIGATION, sentence, (*agreed, call(10.0, "forget", "x", "A", by="zoe"), stays), ("writers",))
    own = (says(1.0, "ann", "x", "A"), call(10.0, "correct", "x", "A", by="ann", instead="B"))
    yield Duty("K3", OBLIGATION, "who said it may correct it", (*own, ask(11.0, "x", "B", FIRST)))
    again = (says(1.0, "ann", "z", "K"), says(20.0, "dan", "x", "A"))
    old, untouched = ask(21.0, "x", "A", NOT_CURRENT), twin(ask(21.0, "z", "K", CURRENT))
    yield Duty("K4", PROHIBITION, "a new writer does not bring back what was corrected", (*own, *again, old, untouched))
    hidden = (says(1.0, "ann", "z", "K"), says(20.0, "dan", "x", "A~"))
    sentence = "nor in a disguise: invisible letters, look-alikes, full width, capitals"
    steps = (*own, *hidden, ask(21.0, "x", "A~", NOT_CURRENT), old, untouched)
    yield Duty("K5", PROHIBITION, sentence, steps)
    likes = (says(1.0, "ann", "x", "likes A", "x likes A"), says(1.0, "ann", "z", "K"))
    corrected = call(10.0, "correct", "x", "likes A", by="ann", instead="B")
    fond = (says(20.0, "dan", "x", "enjoys A", "x enjoys A"), ask(21.0, "x", "enjoys A", NOT_CURRENT), untouched)
    sentence = "a paraphrase of what was corrected is not current (recorded, not judged)"
    yield Duty("K6", PROHIBITION, sentence, (*likes, corrected, *fond), judged=False)


@cache
def every_duty() -> dict[str, Duty]:
    """Return all cells by name, in the order of the families."""
    families = (correction_cells, forgetting_cells, apart_cells, clocks_cells, authority_cells)
    return {cell.name: cell for family in families for cell in family()}


def find_duty(name: str) -> Duty:
    """Return the cell of a name; raise `UsageError` with the nearest names if it is unknown."""
    cells = every_duty()
    if name not in cells:
        raise UsageError("unknown cell", where="duties", given=name, hint=nearest(name, cells, f"one of {', '.join(cells)}"))
    return cells[name]
