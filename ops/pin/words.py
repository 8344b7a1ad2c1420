"""Table of HAL names and their counterparts among the ops and pins, read from `words.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Component", "words"]

V = TypeVar("V")
_SIZE = 0xFF  # mask for the bits of `personality` that give the number of pins


@dataclass(frozen=True)
class Component:
    """HAL component described in terms of ops. The comments at the top of `words.toml` document the fields."""

    name: str
    op: str
    instance: str
    pins: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    time: str = "s"
    counts: str = ""
    size: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    add: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sum: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    through: Mapping[str, str] = field(default_factory=dict)
    starts: Mapping[str, float | bool] = field(default_factory=dict)
    fixed: Mapping[str, float | bool] = field(default_factory=dict)
    rewrites: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    doubling: str = ""
    arguments: tuple[str, ...] = ()
    type: str = ""
    count: int = 1
    most: int = 0
    digits: int = 1
    single: bool = False
    shared: bool = False
    without: tuple[str, ...] = ()
    case: tuple[Mapping[str, Any], ...] = ()
    defaults: Mapping[str, float] = field(default_factory=dict)

    def pin(self, word: str) -> str | None:
        """Return the op's name for a HAL pin or parameter, or None if there is no counterpart.

        >>> words()["mux_generic"].pin("in-float-03")
        'in-3'
        """
        match = _matching(self.pins, word)
        return None if match is None else match[0].replace("#", match[1])

    def rewritten(self, word: str, given: float) -> float:
        """Return the value that HAL stores when a pin or parameter is set to a given value."""
        match = _matching(self.rewrites, word)
        outside = match is not None and not match[0]["from"] <= given <= match[0]["to"]
        return match[0]["becomes"] if match is not None and outside else given

    def output_op(self, word: str) -> str | None:
        """Return the op that converts an output to the type of a HAL pin, or None if no conversion is needed."""
        match = _matching(self.through, word)
        return None if match is None else match[0]

    def choose(self, values: Mapping[str, float]) -> tuple[str, dict[str, float | bool]]:
        """Return the op and the fixed settings that the given HAL settings select."""
        words = {**self.defaults, **{word: value for word, value in values.items() if word in self.defaults}}
        op, fixed = self.op, {**self.starts, **self.fixed}
        for case in self.case:
            if all(words[word] == value for word, value in case["when"].items()):
                op, fixed = case.get("op", op), {**fixed, **case.get("fixed", {})}
        return op, fixed

    def sized(self, arguments: Mapping[str, object]) -> dict[str, int]:
        """Convert HAL's load arguments to sizes of the op."""
        sizes = dict(self.sizes)
        for name, (argument, plus) in self.size.items():
            if number := re.search(r"0[xX][0-9a-fA-F]+|-?\d+", str(arguments.get(argument, ""))):
                sizes[name] = (int(number[0], 0) & _SIZE if argument == "personality" else int(number[0])) + plus
        return sizes


@cache
def words() -> dict[str, Component]:
    """Return the HAL components that have a counterpart among the ops, keyed by name.

    >>> words()["lowpass"].op
    'smooth'
    """
    table = tomllib.loads(files("ops").joinpath("words.toml").read_text(encoding="utf-8"))
    return {name: Component(**{"name": name, "instance": name, **fields}) for name, fields in table.items()}


def _matching(table: Mapping[str, V], word: str) -> tuple[V, str] | None:
    """Return the table entry whose pattern matches a word, and the number that stands for `#` in the pattern."""
    if word in table:
        return table[word], ""
    for pattern, entry in table.items():
        if "#" in pattern and (match := re.fullmatch(re.escape(pattern).replace(r"\#", r"(\d+)"), word)):
            return entry, str(int(match[1]))
    return None
