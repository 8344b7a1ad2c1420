"""Authority: the rights to correct or erase what others claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.judging.duties.engine.duty import OBLIGATION, PROHIBITION, Duty
from malsim.judging.duties.engine.step import CURRENT, FIRST, NOT_CURRENT, ask, call, says, twin

if TYPE_CHECKING:
    from collections.abc import Iterator


def cells() -> Iterator[Duty]:
    """Yield the cells K1 to K6."""
    agreed = tuple(says(1.0 + day, who, "x", "A") for day, who in enumerate(("ann", "bob", "cid")))
    stays = ask(11.0, "x", "A", FIRST)
    zoe = call(10.0, "correct", "x", "A", by="zoe", instead="B")
    yield Duty("K1", OBLIGATION, "a stranger's correction of what three said does not stand", (*agreed, zoe, stays))
    sentence = "a stranger's wish to forget what three said does not stand"
    yield Duty("K2", OBLIGATION, sentence, (*agreed, call(10.0, "forget", "x", "A", by="zoe"), stays))
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
