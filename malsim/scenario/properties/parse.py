"""Parser for properties (grammar: `property.lark`). Errors name the column and the text found there, and give a hint."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from lark import Lark, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.exceptions import VisitError

from malsim.base.errors import ScenarioError
from malsim.scenario.properties.build import FIELDS, REDUCERS, build, location

if TYPE_CHECKING:
    from malsim.scenario.properties.formula import Formula

LONGEST = 10_000
KEYWORDS = (
    "always eventually historically once until since and or not implies rise fall prev next abs scale at event true false"
)
WORDS = frozenset((*KEYWORDS.split(), *FIELDS, *REDUCERS))
TERMINALS = {
    "RELATION": "a comparison", "SIGN": "+ or -", "STROKE": "* or /", "_AND": "and", "_OR": "or", "_IMPLIES": "implies",
    "BETWEEN": "until or since", "RPAR": "`)`", "RSQB": "`]`", "COLON": "`:`", "ADDRESS": "an address", "LPAR": "`(`",
    "NUMBER": "a number", "DURATION": "a duration", "COMMA": "`,`", "$END": "the end", "_SCALE": "scale", "_EVENT": "event",
}  # fmt: skip


def parse(text: str) -> Formula:
    """Parse one property of at most 10,000 characters and 60 levels of nesting.

    Raises `ScenarioError` with the column of the fault, the text at that column, and a hint.

    >>> parse("always (tripped implies eff(obs_a1a1) < 0.5)").word
    'always'
    >>> parse("alway (eff(obs_a1a1) < 0.5)")
    Traceback (most recent call last):
    malsim.base.errors.ScenarioError: column 7: unexpected text in the property; given: '(eff(obs_a1a1) < 0.5)'; ...
    """
    if len(text) > LONGEST:
        raise ScenarioError("the property is too long", given=len(text), allowed=f"at most {LONGEST} characters")
    try:
        return build(text, _grammar().parse(text))
    except UnexpectedInput as broken:
        raise _syntax_error(text, broken) from None
    except VisitError as wrapped:
        raise wrapped.orig_exc from None


@cache
def _grammar() -> Lark:
    grammar = files("malsim.scenario.properties").joinpath("property.lark").read_text(encoding="utf-8")
    return Lark(grammar, start="formula", parser="lalr", propagate_positions=True, maybe_placeholders=True)


def _syntax_error(text: str, broken: UnexpectedInput) -> ScenarioError:
    position, expected = len(text.rstrip()), set[str]()
    if isinstance(broken, UnexpectedToken):
        expected = set(broken.accepts or broken.expected)
        if broken.token.type != "$END":
            position = cast("int", broken.token.start_pos)
    elif isinstance(broken, UnexpectedCharacters):
        expected, position = set(broken.allowed), cast("int", broken.pos_in_stream)
    allowed = sorted({TERMINALS[name] for name in expected if name in TERMINALS})
    return ScenarioError(
        "the property ends too early" if position >= len(text.rstrip()) else "unexpected text in the property",
        where=location(text, position),
        given=text[position : position + 40] or None,
        allowed=", ".join(allowed) or None,
        hint=_advice(text[: position + 20]),
    )


def _advice(text: str) -> str:
    """Suggest a spelling for a misspelt keyword near the error; if there is none, show an example of a property."""
    for word in reversed(re.findall(r"[^\W\d_]{3,}", text)):
        near = get_close_matches(word.lower(), WORDS, n=1, cutoff=0.75)
        if near and word not in WORDS:
            return f"did you mean {near[0]!r} for {word!r}?"
    return "write a property such as `always[0:5d] (eff(obs_a1a1) >= 0.3)`"
