"""Duty cells and their plots, in symbols such as x, A and ann: correction, forgetting, scopes, clocks and authority."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError, nearest
from malsim.judging.duties.engine.step import (
    CURRENT,
    FIRST,
    NOT_CURRENT,
    NOT_FIRST,
    NOT_SHOWN,
    OBLIGATION,
    PROHIBITION,
    SHOWN,
    Duty,
    Step,
    ask,
    call,
    control,
    says,
    settle,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NOTED = "it was noted that {} stands at {}"


def must(name: str, sentence: str, steps: Iterable[Step], *extra: str) -> Duty:
    return Duty(name, OBLIGATION, sentence, tuple(steps), extra)


def must_not(name: str, sentence: str, steps: Iterable[Step], *extra: str) -> Duty:
    return Duty(name, PROHIBITION, sentence, tuple(steps), extra)


def first_days(a: str = "A", k: str = "K", text: str = "{} is {}", valid_to: float | None = None) -> list[Step]:
    """Return ann's claims that x is A and z is K, both from one document, and bob's claims derived from each of them."""
    about_x, about_z = text.format("x", a), text.format("z", k)
    return [
        says(1.0, "ann", "x", a, about_x, source="d", valid_from=None if valid_to is None else 1.0, valid_to=valid_to),
        says(1.0, "ann", "z", k, about_z, source="d"),
        says(1.5, "bob", "y", "A2", of=about_x),
        says(1.5, "bob", "u", "K2", of=about_z),
    ]


def from_the_document(t: float, first: list[Step], by: str = "", text: str = "{} is {}") -> list[Step]:
    """Return the document's claims again on a later day, with their original dates."""
    more = ("source", "valid_from", "valid_to")
    return [
        says(t, by or step.by, step.object, step.value, text.format(step.object, step.value), dated=step.t,
             **{name: getattr(step, name) for name in more})
        for step in first if step.source
    ]  # fmt: skip


def correction_cells() -> Iterator[Duty]:
    """Yield the duties for the five kinds of correction."""
    words: dict[str, Any] = {"a": "likes A", "k": "likes K", "text": "{} {}"}
    flip = says(30.0, "ann", "x", "dislikes A", "x dislikes A")
    yield from _shape("change", first_days(), says(30.0, "ann", "x", "B"))
    yield from _shape("flip", first_days(**words), flip, noted="as to {} it {}")
    yield from _shape("bounded", first_days(valid_to=20.0), says(30.0, "ann", "x", "B"))
    yield from _shape("mistake", first_days(), call(30.0, "correct", "x", "A", by="ann", instead="B"))
    yield from _shape("retraction", first_days(), call(30.0, "correct", "x", "A", by="ann"))


def _shape(name: str, first: list[Step], turn: Step, noted: str = NOTED) -> Iterator[Duty]:
    a, k = first[0].value, first[1].value
    corrected, b = turn.do == "correct", turn.instead if turn.do == "correct" else turn.value
    history = [*first, turn]
    again = from_the_document(40.0, first, by="importer", text=noted)

    def looks(t: float) -> tuple[Step, Step]:
        return ask(t, "x", a, NOT_CURRENT), control(ask(t, "z", k, CURRENT))

    if b:
        yield must(f"{name}.A", "the new value is the first answer", [*history, ask(31.0, "x", b, FIRST)])
    old = "the old value is not current"
    yield must_not(f"{name}.B", old, [*history, *looks(31.0)])
    yield must_not(f"{name}.C", f"{old} after the background jobs", [*history, settle(60.0), *looks(60.0)])
    dated = () if corrected else ("dates",)  # a repetition without its original date would be a new claim
    sentence = f"{old} when its document is imported again in other words"
    yield must_not(f"{name}.C'", sentence, [*history, *again, *looks(41.0)], *dated)
    before = {"as_of": 2.0} if corrected else {"at": 2.0}
    sentence = f"the value {'believed' if corrected else 'valid'} on an earlier day can still be queried"
    yield must(f"{name}.D", sentence, [*history, ask(31.0, "x", a, FIRST, **before)], "clocks")
    if corrected:
        derived = (ask(60.0, "y", "A2", NOT_CURRENT), control(ask(60.0, "u", "K2", CURRENT)))
        sentence = "claims derived from the rejected value are not current"
        yield must_not(f"{name}.E", sentence, [*history, settle(60.0), *derived], "edges")


def forgetting_cells() -> Iterator[Duty]:
    first = first_days()
    history = [*first, *(call(2.0, "share", name, to="team") for name in ("x", "z"))]
    yield must("F1", "a value is the first answer before it is forgotten", [*history, ask(2.0, "x", "A", FIRST)])
    history.append(call(10.0, "forget", "x", "A", by="ann"))

    def looks(t: float = 11.0, **scope: str) -> tuple[Step, Step]:
        return ask(t, "x", "A", NOT_SHOWN, **scope), control(ask(t, "z", "K", SHOWN, **scope))

    hidden = "a forgotten value is not shown"
    yield must_not("F2", hidden, [*history, *looks()])
    again = from_the_document(20.0, first)
    yield must_not("F3", f"{hidden} when its document is imported again unchanged", [*history, *again, *looks(21.0)])
    other = from_the_document(20.0, first, by="importer", text=NOTED)
    yield must_not("F4", f"{hidden} when an importer words it differently", [*history, *other, *looks(21.0)])
    yield must_not("F5", f"{hidden} after the background jobs", [*history, settle(60.0), *looks(60.0)])
    texts = Step(11.0, "texts", value="A", want=NOT_SHOWN)
    untouched = control(replace(texts, value="K", want=SHOWN))
    yield must_not("F6", "no stored text contains a forgotten value", [*history, texts, untouched])
    derived = (ask(11.0, "y", "A2", NOT_CURRENT), control(ask(11.0, "u", "K2", CURRENT)))
    yield must_not("F7", "claims derived from a forgotten value are not current", [*history, *derived], "edges")
    shared = looks(scope="team")
    yield must_not("F8", f"{hidden} in a scope with which it was shared", [*history, *shared], "share", "scopes")
    logged = Step(11.0, "log", by="ann", dated=10.0, want="logged")
    yield must("F9", "the log records who forgot a value and when", [*history, logged])
    log = Step(11.0, "log", value="A", want=NOT_SHOWN)
    yield must_not("F10", "the log does not contain a forgotten value", [*history, log, control(ask(11.0, "z", "K", SHOWN))])
    allowed = (call(25.0, "allow", "x", "A", by="ann"), says(26.0, "ann", "x", "A"), ask(27.0, "x", "A", FIRST))
    yield must("F11", "a forgotten value that is allowed and claimed again is the first answer", [*history, *allowed])


HERS, HIS = {"scope": "hers"}, {"scope": "his"}


def scope_cells() -> Iterator[Duty]:
    claims = (says(1.0, "ann", "x", "A", **HERS), says(1.0, "bob", "z", "K", **HIS))
    in_hers, in_his = control(ask(2.0, "x", "A", SHOWN, **HERS)), control(ask(2.0, "z", "K", SHOWN, **HIS))
    steps: list[Step] = [*claims, ask(2.0, "x", "A", NOT_SHOWN, **HIS), in_hers]
    yield must_not("S1", "a value claimed in one scope is not shown in another", steps, "scopes")
    unscoped = [ask(2.0, name, value, NOT_SHOWN) for name, value in (("x", "A"), ("z", "K"))]
    steps = [*claims, *unscoped, in_hers, in_his]
    yield must_not("S2", "a query without a scope shows no value of a scope", steps, "scopes")
    derived = says(1.5, "bob", "y", "A2", of="x is A", **HERS)
    early, late = ((ask(t, "y", "A2", NOT_SHOWN, **HIS), control(ask(t, "y", "A2", SHOWN, **HERS))) for t in (2.0, 60.0))
    steps = [*claims, derived, *early, settle(60.0), *late]
    sentence = "a claim derived in one scope is not shown in another, even after the background jobs"
    yield must_not("S3", sentence, steps, "edges", "scopes")
    both = (says(1.0, "ann", "x", "A", **HERS), says(1.0, "ann", "x", "A", **HIS))
    corrected = call(10.0, "correct", "x", "A", by="ann", instead="B", **HERS)
    steps = [*both, corrected, ask(11.0, "x", "A", CURRENT, **HIS), control(ask(11.0, "x", "B", CURRENT, **HERS))]
    yield must_not("S4", "a correction in one scope does not change the value in another", steps, "scopes")
    shared = (*claims, call(10.0, "share", "x", to="his", **HERS))
    sentence = "a value shared with another scope is current there"
    yield must("S5", sentence, [*shared, ask(11.0, "x", "A", CURRENT, **HIS)], "share", "scopes")
    also = (says(1.0, "ann", "w", "L", **HERS), call(10.0, "share", "w", to="his", **HERS))
    looks = [ask(21.0, "x", "A", NOT_SHOWN, **HIS), control(ask(21.0, "w", "L", SHOWN, **HIS))]
    steps = [*shared, *also, call(20.0, "unshare", "x", to="his", **HERS), *looks]
    yield must_not("S6", "a value that is no longer shared is not shown in the other scope", steps, "share", "scopes")
    third = (ask(11.0, "x", "A", NOT_SHOWN, scope="theirs"), control(ask(11.0, "x", "A", SHOWN, **HIS)))
    yield must_not("S8", "a value shared with a second scope is not shown in a third", [*shared, *third], "share", "scopes")
    sentence = "claims of five writers in one scope do not change the belief in another"
    yield must_not("S7", sentence, _crowds(), "belief", "scopes")


def _crowds() -> Iterator[Step]:
    """Yield claims about x and z by ann in scope `hers`, then by five writers about x in `his` and about z in `hers`."""
    facts = (("x", "A"), ("z", "K"))
    yield from (says(1.0, "ann", name, value, **HERS) for name, value in facts)
    yield from (ask(2.0, name, value, "remembered", **HERS) for name, value in facts)
    for (name, value), scope in zip(facts, (HIS, HERS), strict=True):
        yield from (says(2.0, who, name, value, **scope) for who in ("bob", "cid", "dan", "eve", "fay"))
    yield ask(2.0, "x", "A", "believed as before", **HERS)
    yield control(ask(2.0, "z", "K", "believed more", **HERS))


def clock_cells() -> Iterator[Duty]:
    late = [
        says(30.0, "ann", "x", "A"), says(30.0, "ann", "z", "K"),
        says(40.0, "bob", "x", "B", valid_from=5.0), says(40.0, "bob", "z", "L", valid_from=39.0),
        ask(41.0, "x", "A", FIRST), control(ask(41.0, "z", "L", FIRST)),
    ]  # fmt: skip
    yield must_not("T1", "a late report about an earlier time does not replace the current value", late, "clocks")
    changed = [says(1.0, "ann", "x", "A"), says(30.0, "ann", "x", "B"), ask(31.0, "x", "A", FIRST, at=10.0)]
    yield must("T2", "a query about an earlier day returns the value of that day", changed, "clocks")
    corrected = [
        says(1.0, "ann", "x", "A"), call(20.0, "correct", "x", "A", by="ann", instead="B"),
        ask(31.0, "x", "A", FIRST, as_of=15.0), ask(31.0, "x", "B", FIRST),
    ]  # fmt: skip
    yield must("T3", "a query as of a day before a correction returns the value believed then", corrected, "clocks")
    bygone = [
        says(30.0, "ann", "x", "B"), says(40.0, "bob", "x", "D", valid_from=5.0, valid_to=10.0),
        ask(41.0, "x", "B", FIRST), ask(41.0, "x", "D", FIRST, at=7.0),
    ]  # fmt: skip
    yield must("T4", "a value that was valid for a time is the answer for that time only", bygone, "clocks")
    ended = [
        says(1.0, "ann", "x", "A", valid_to=20.0), says(1.0, "ann", "z", "K", valid_to=60.0),
        ask(30.0, "x", "A", NOT_CURRENT), control(ask(30.0, "z", "K", CURRENT)),
    ]  # fmt: skip
    yield must_not("T5", "a value that is no longer valid is not current", ended, "clocks")
    coming = [
        says(1.0, "ann", "x", "A", valid_from=50.0),
        ask(30.0, "x", "A", NOT_FIRST),
        control(ask(60.0, "x", "A", FIRST)),
    ]
    yield must_not("T6", "a value that is not yet valid is not the answer", coming, "clocks")


def authority_cells() -> Iterator[Duty]:
    agreed = tuple(says(1.0 + day, who, "x", "A") for day, who in enumerate(("ann", "bob", "cid")))
    stays = ask(11.0, "x", "A", FIRST)
    zoe = call(10.0, "correct", "x", "A", by="zoe", instead="B")
    yield must("K1", "a stranger cannot correct a value that three writers claim", [*agreed, zoe, stays], "writers")
    forgets = call(10.0, "forget", "x", "A", by="zoe")
    yield must("K2", "a stranger cannot erase a value that three writers claim", [*agreed, forgets, stays], "writers")
    corrected_first = (says(1.0, "ann", "x", "A"), call(10.0, "correct", "x", "A", by="ann", instead="B"))
    yield must("K3", "a writer can correct its own value", [*corrected_first, ask(11.0, "x", "B", FIRST)])
    again = (says(1.0, "ann", "z", "K"), says(20.0, "dan", "x", "A"))
    old, untouched = ask(21.0, "x", "A", NOT_CURRENT), control(ask(21.0, "z", "K", CURRENT))
    yield must_not("K4", "a new writer does not restore a corrected value", [*corrected_first, *again, old, untouched])
    hidden = (says(1.0, "ann", "z", "K"), says(20.0, "dan", "x", "A~"))
    sentence = "a new writer does not restore a corrected value in disguise (invisible letters, look-alikes, capitals)"
    yield must_not("K5", sentence, [*corrected_first, *hidden, ask(21.0, "x", "A~", NOT_CURRENT), old, untouched])
    likes = (says(1.0, "ann", "x", "likes A", "x likes A"), says(1.0, "ann", "z", "K"))
    corrected = call(10.0, "correct", "x", "likes A", by="ann", instead="B")
    fond = (says(20.0, "dan", "x", "enjoys A", "x enjoys A"), ask(21.0, "x", "enjoys A", NOT_CURRENT), untouched)
    sentence = "a paraphrase of a corrected value is not current (recorded, not judged)"
    yield replace(must_not("K6", sentence, [*likes, corrected, *fond]), judged=False)


@cache
def every_duty() -> dict[str, Duty]:
    """Return all duties keyed by name, ordered by family."""
    families = (correction_cells, forgetting_cells, scope_cells, clock_cells, authority_cells)
    return {cell.name: cell for family in families for cell in family()}


def find_duty(name: str) -> Duty:
    """Return the duty with the given name. Raise `UsageError` with similar names if there is none."""
    cells = every_duty()
    if name not in cells:
        hint = nearest(name, cells, f"choose one of {', '.join(cells)}")
        raise UsageError("no such cell", where="duties", given=name, hint=hint)
    return cells[name]
