"""Tests that a retracted value is refused in every look-alike spelling, and that other values are admitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from malsim.base.screen.look_alikes import undisguised
from malsim.memory import Memory, Rules, admit
from malsim.memory.graph.tombstones import rows_about
from malsim.memory.store.corrections import correct, forget

if TYPE_CHECKING:
    from collections.abc import Callable

GOVERNED = Rules.governed()
LOOKS_LIKE = dict(zip("aceiopxysjABCEHKMOPTX", "асеіорхуѕјΑΒСΕНΚМΟРТΧ", strict=True))
LETTERS = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=2, max_size=12)
VALUES = st.lists(LETTERS, min_size=1, max_size=3).map(" ".join)
INSERTED = {
    "zero width": "\u200b", "soft hyphen": "\u00ad", "joiner": "\u2060", "inner space": " ", "no-break space": "\u00a0",
}  # fmt: skip
WHOLE: dict[str, Callable[[str], str]] = {
    "full width": lambda text: "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text),
    "look-alikes": lambda text: "".join(LOOKS_LIKE.get(letter, letter) for letter in text),
    "capitals": str.upper,
    "small letters": str.lower,
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
}


def claim(t: float, writer: str, value: str, object_: str = "x") -> dict[str, Any]:
    title = f"{writer} noted {value!r} of {object_}"
    return {
        "t": t, "writer": writer, "kind": "obs", "object": object_, "value_text": value, "title": title, "confidence": 0.7,
    }  # fmt: skip


def after_retraction(value: str, deed: str) -> Memory:
    memory = admit(Memory.empty(), [claim(1.0, "ann", value), claim(1.0, "ann", value, "z")]).memory
    rows = rows_about(memory, 0, "x", value)
    if deed == "forget":
        return forget(memory, rows, now=2.0, by="ann", rules=GOVERNED)
    return correct(memory, rows, None, now=2.0, by="ann", rules=GOVERNED).memory


@pytest.mark.parametrize("deed", ["correct", "forget"])
@given(VALUES, st.data())
def test_retracted_value_is_refused_in_any_spelling(deed: str, value: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([*INSERTED, *WHOLE]))
    if name in WHOLE:
        disguised = WHOLE[name](value)
    else:
        index = data.draw(st.integers(1, len(value) - 1))
        disguised = value[:index] + INSERTED[name] + value[index:]
    memory = after_retraction(value, deed)
    verdicts = admit(memory, [claim(3.0, "dan", disguised), claim(4.0, "dan", disguised, "z")], GOVERNED).verdicts
    assert verdicts["verdict"].to_list() == ["refused", "admitted"]


@given(VALUES, VALUES)
def test_other_values_are_admitted_after_a_retraction(value: str, other: str) -> None:
    assume(undisguised(value) != undisguised(other))
    assume("".join(value.lower().split()) != "".join(other.lower().split()))
    verdicts = admit(after_retraction(value, "correct"), [claim(3.0, "dan", other)], GOVERNED).verdicts
    assert verdicts["verdict"].to_list() == ["admitted"]


def test_correction_covers_look_alike_spellings() -> None:
    memory = admit(Memory.empty(), [claim(1.0, "ann", "kilobo"), claim(1.0, "ann", "kilo\u200bbo")]).memory
    after = correct(memory, rows_about(memory, 0, "x", "Kilobo"), None, now=2.0, by="ann", rules=GOVERNED).memory
    assert after.cells["status"].to_list() == ["annexed", "annexed"]


@pytest.mark.parametrize("same", [("8080", "８０８０"), ("no", "nо"), ("x-1", "x\u20101"), ("é", "e\u0301"), ("ΣΑΣ", "σας")])
def test_two_spellings_of_the_same_text_are_equal(same: tuple[str, str]) -> None:
    assert undisguised(same[0]) == undisguised(same[1])


@pytest.mark.parametrize("pair", [("", "a"), ("port", "part"), ("a1", "al"), ("é", "e"), ("uses SQLite", "it is SQLite")])
def test_different_texts_are_not_equal(pair: tuple[str, str]) -> None:
    assert undisguised(pair[0]) != undisguised(pair[1])
