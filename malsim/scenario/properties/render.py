"""Rendering of a formula as text in normal form. Parsing the text gives the same formula."""

from __future__ import annotations

import re
from typing import TypeAlias

from malsim.scenario.properties import formula as stl
from malsim.scenario.properties.build import canonical
from malsim.scenario.properties.parse import WORDS

Term: TypeAlias = tuple[str, int]  # rendered text, and how strongly its outermost operator binds
IMPLIES, OR, AND, LASTING, COMPARISON, PREFIX, SUM, PRODUCT, ATOM = range(9)
JOINS = {"implies": IMPLIES, "or": OR, "and": AND}
SIGNS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}


def render(part: stl.Formula | stl.Value) -> str:
    """Render a formula or a value as text.

    >>> from malsim.scenario.properties.parse import parse
    >>> render(parse("eventually[20d:60d] abs(eff(obs_a1a1)-prev( eff(obs_a1a1) ))>=.25"))
    'eventually[20d:60d] (abs(eff(obs_a1a1) - prev(eff(obs_a1a1))) >= 0.25)'
    """
    return _term(part)[0]


def number(value: float) -> str:
    return repr(value).removesuffix(".0")


def _within(part: stl.Formula | stl.Value, level: int) -> str:
    text, binds = _term(part)
    return text if binds >= level else f"({text})"


def _term(part: stl.Formula | stl.Value) -> Term:
    match part:
        case stl.Join() | stl.Between():
            term = _infix(part)
        case stl.Over(word, operand, window):
            term = f"{word}{_window(window)} {_within(operand, PREFIX)}", PREFIX
        case stl.Not(operand):
            term = f"not {_within(operand, PREFIX)}", PREFIX
        case stl.Compare(left, relation, right, scale):
            over = "" if scale is None else f" scale {number(scale)}"
            term = f"{_within(left, SUM)} {relation} {_within(right, SUM)}{over}", COMPARISON
        case stl.Edge(word, operand):
            term = f"{word}({render(operand)})", ATOM
        case stl.AtEvent(kind, subject):
            term = f"at event({', '.join(_name(word) for word in (kind, subject) if word is not None)})", ATOM
        case stl.Bit(value):
            term = _term(value)
        case _:
            term = _value(part)
    return term


def _infix(part: stl.Join | stl.Between) -> Term:
    if isinstance(part, stl.Between):
        left, right = _within(part.left, COMPARISON), _within(part.right, COMPARISON)
        return f"{left} {part.word}{_window(part.window)} {right}", LASTING
    level = JOINS[part.word]
    to_right = part.word == "implies"  # `implies` is right-associative
    left, right = _within(part.left, level + to_right), _within(part.right, level + (not to_right))
    return f"{left} {part.word} {right}", level


def _value(part: stl.Value) -> Term:
    match part:
        case stl.Number(value):
            term = number(value), ATOM
        case stl.Text(text):
            term = _quoted(text), ATOM
        case stl.Read(address):
            term = canonical(address), ATOM
        case stl.Apply("negative", (operand,)):
            term = f"-{_within(operand, ATOM)}", PRODUCT
        case stl.Apply(function, (left, right)) if function in SIGNS:
            level = SIGNS[function]
            term = f"{_within(left, level)} {function} {_within(right, level + 1)}", level
        case stl.Apply(function, arguments):
            term = f"{function}({', '.join(map(render, arguments))})", ATOM
    return term


def _window(window: stl.Window | None) -> str:
    return "" if window is None else f"[{_bound(window.low)}:{'' if window.high is None else _bound(window.high)}]"


def _bound(bound: stl.Bound) -> str:
    return number(bound.amount) + ("" if bound.unit == "ticks" else bound.unit)


def _name(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) and name not in WORDS else _quoted(name)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
