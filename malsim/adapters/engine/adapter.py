"""Reference to a user's memory in a scenario, and the wording of claims and questions sent to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import re2

from malsim.adapters.calls import LIMIT
from malsim.base.errors import ScenarioError, UsageError
from malsim.base.plain_text import filled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from malsim.adapters.contract import UserMemory


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """Wording of claims and questions as sentences, and the pattern that finds the value in an answer.

    `sentence` may contain {object}, {value} and {writer}; `question` may contain {object}. `answer` is an RE2 regular
    expression (RE2 takes linear time) whose group `value`, or first group, is the value. Without a pattern, the
    object's value that occurs in the text is used.
    """

    sentence: str = "{object} is {value}"
    question: str = "what is {object}?"
    answer: str = ""

    def __post_init__(self) -> None:
        for name, allowed in (("sentence", ("object", "value", "writer")), ("question", ("object",))):
            if getattr(self, name) == getattr(Phrases, name):
                continue
            try:
                filled(getattr(self, name), dict.fromkeys(allowed, ""))
            except (LookupError, ValueError) as problem:
                words = ", ".join(f"{{{word}}}" for word in allowed)
                given = getattr(self, name)
                raise ScenarioError("no such placeholder", where=f"memory.{name}", given=given, allowed=words) from problem
        try:
            groups = self._pattern.groups if self.answer else 0
        except re2.error as problem:
            hint = "leave out look-around and back-references, which RE2 does not support"
            words = problem.args[0] if problem.args else problem
            words = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
            raise ScenarioError(
                f"not a regular expression: {words}", where="memory.answer", given=self.answer, hint=hint
            ) from problem
        if self.answer and not groups:
            hint = "put parentheses around the value, such as is (?P<value>.+)"
            raise ScenarioError("the regular expression has no group", where="memory.answer", given=self.answer, hint=hint)

    def state(self, object_: str, value: str, writer: str) -> str:
        return filled(self.sentence, {"object": object_, "value": value, "writer": writer})

    def ask(self, object_: str) -> str:
        return filled(self.question, {"object": object_})

    def values_in(self, text: str, values: Iterable[str]) -> list[str]:
        """Return the values that occur in a text. If two overlap, only the longer is returned."""
        if self._pattern is not None:
            match = self._pattern.search(text.encode("utf-8", "replace").decode("utf-8"))
            text = "" if match is None else (match["value"] if "value" in match.groupdict() else match[1]) or ""
        matches: list[str] = []
        for value in sorted(values, key=len, reverse=True):
            mark = rf"(?<!\w){re.escape(value)}(?!\w)"
            if value and re.search(mark, text, re.IGNORECASE):
                matches.append(value)
                text = re.sub(mark, " ", text, flags=re.IGNORECASE)
        return matches

    @cached_property
    def _pattern(self) -> Any:
        options = re2.Options()
        options.case_sensitive, options.log_errors = False, False
        return re2.compile(self.answer, options) if self.answer else None


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """Source of a user's memories: a name such as `package.module:factory`, or a factory passed from Python.

    `allowed` permits running its code; a name in a file is not allowed until the user permits it. `limit` is the
    maximum duration of a call in seconds. Memories run in a separate process, but `trusted` memories run in this
    process, without a limit, so that a debugger can reach them.
    """

    name: str
    factory: Callable[[], UserMemory] | None = None
    limit: float = LIMIT
    trusted: bool = False
    allowed: bool = False

    def __post_init__(self) -> None:
        if not self.limit > 0.0:
            raise UsageError("out of bounds", where=f"memory {self.name}: limit", given=self.limit, allowed="above 0 s")

    @classmethod
    def of(cls, given: object, *, limit: float = LIMIT, trusted: bool = False) -> Adapter:
        """Build an adapter from a name, class or function.

        A class or function counts as consent to run it; other objects raise `UsageError`.
        """
        if isinstance(given, Adapter):
            return given
        if isinstance(given, str):
            return cls(name=given, limit=limit, trusted=trusted, allowed=True)
        if not callable(given):
            hint = "give a class, a function that makes a memory, or package.module:factory"
            raise UsageError("not a memory factory", where="memory", given=type(given).__name__, hint=hint)
        module, name = getattr(given, "__module__", ""), getattr(given, "__qualname__", type(given).__name__)
        return cls(name=f"{module}:{name}", factory=given, limit=limit, trusted=trusted, allowed=True)

    @property
    def source(self) -> str | Callable[[], UserMemory]:
        """Factory of memories, or its name if the process that hosts the memories has to load it."""
        return self.factory or self.name

    def check_allowed(self, where: str) -> None:
        """Raise `UsageError` if the adapter's code may not be run."""
        if not self.allowed:
            hint = "read that code, then add --allow-code (malsim run, test, compare), or run it from Python"
            raise UsageError("this scenario would run Python code", where=where, given=self.name, hint=hint)
