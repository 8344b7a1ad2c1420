"""Keeping apart: what is claimed in one scope stays in it until it is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.judging.duties.engine.duty import OBLIGATION, PROHIBITION, Duty
from malsim.judging.duties.engine.step import CURRENT, NOT_SHOWN, SHOWN, Step, ask, call, says, settle, twin

if TYPE_CHECKING:
    from collections.abc import Iterator

HERS, HIS = {"scope": "hers"}, {"scope": "his"}
TOLD = (says(1.0, "ann", "x", "A", **HERS), says(1.0, "bob", "z", "K", **HIS))
IN_HERS, IN_HIS = ask(2.0, "x", "A", SHOWN, **HERS), ask(2.0, "z", "K", SHOWN, **HIS)


def cells() -> Iterator[Duty]:
    """Yield the cells S1 to S8."""
    yield _cell("S1", "what is hers is not shown in his", (*TOLD, ask(2.0, "x", "A", NOT_SHOWN, **HIS), twin(IN_HERS)))
    nowhere = [ask(2.0, name, value, NOT_SHOWN) for name, value in (("x", "A"), ("z", "K"))]
    yield _cell("S2", "asked without a scope, nothing of a scope is shown", (*TOLD, *nowhere, twin(IN_HERS), twin(IN_HIS)))
    derived = says(1.5, "bob", "y", "A2", of="x is A", **HERS)
    looks = [
        look for t in (2.0, 60.0) for look in (ask(t, "y", "A2", NOT_SHOWN, **HIS), twin(ask(t, "y", "A2", SHOWN, **HERS)))
    ]
    steps = (*TOLD, derived, *looks[:2], settle(60.0), *looks[2:])
    yield _cell("S3", "what was derived from hers is not shown in his, nor after the background jobs", steps, ("edges",))
    both = (says(1.0, "ann", "x", "A", **HERS), says(1.0, "ann", "x", "A", **HIS))
    corrected = call(10.0, "correct", "x", "A", by="ann", instead="B", **HERS)
    looks = [ask(11.0, "x", "A", CURRENT, **HIS), twin(ask(11.0, "x", "B", CURRENT, **HERS))]
    yield _cell("S4", "corrected in hers, it stays in his", (*both, corrected, *looks))
    shared = (*TOLD, call(10.0, "share", "x", to="his", **HERS))
    sentence = "shared with his, it is current there"
    yield Duty("S5", OBLIGATION, sentence, (*shared, ask(11.0, "x", "A", CURRENT, **HIS)), ("share", "scopes"))
    also = (says(1.0, "ann", "w", "L", **HERS), call(10.0, "share", "w", to="his", **HERS))
    looks = [ask(21.0, "x", "A", NOT_SHOWN, **HIS), twin(ask(21.0, "w", "L", SHOWN, **HIS))]
    steps = (*shared, *also, call(20.0, "unshare", "x", to="his", **HERS), *looks)
    yield _cell("S6", "no longer shared, it is not shown there any more", steps, ("share",))
    third = (ask(11.0, "x", "A", NOT_SHOWN, scope="theirs"), twin(ask(11.0, "x", "A", SHOWN, **HIS)))
    yield _cell("S8", "shared with his, it is not shown in a third scope", (*shared, *third), ("share",))
    yield _cell("S7", "what five say in his does not move the belief in hers", _five(), ("belief",))


def _cell(name: str, sentence: str, steps: tuple[Step, ...], extra: tuple[str, ...] = ()) -> Duty:
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
