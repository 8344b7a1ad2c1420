"""Exceptions of malsim. Each message states the place, the value given, what is allowed, and what to try."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class MalsimError(Exception):
    """Base class of all errors that malsim raises deliberately.

    `problem` is one sentence. `where` names the file, line, key or column. `given` is the value found there, with
    credentials withheld; `allowed` describes the allowed values; `hint` is one thing to try.

    >>> print(MalsimError("no such rule", where="rules.toml:3", given="ceiling", hint="try support_ceiling"))
    rules.toml:3: no such rule; given: 'ceiling'; try support_ceiling
    """

    def __init__(
        self,
        problem: str,
        *,
        where: str | None = None,
        given: object = None,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem, self.where, self.given, self.allowed, self.hint = problem, where, given, allowed, hint
        super().__init__(str(self))

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.problem}" if self.where else self.problem]
        if self.given is not None:
            text = repr(self.given)
            parts.append(f"given: {text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + '…'}")
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.hint:
            parts.append(self.hint)
        # imported here because importing it compiles the screen's patterns
        from malsim.base.plain_text import plain_text

        return plain_text("; ".join(parts))


LONGEST_SHOWN, MOST_COMPARED = 120, 300


class RulesError(MalsimError, ValueError):
    """Unknown rule, or a rule whose value is out of bounds."""


class DataError(MalsimError, ValueError):
    """Data frame or file that cannot be read as claims, cells or edges."""


class AdapterError(MalsimError, ValueError):
    """Error in foreign code, such as a user's memory that raises, takes too long, or returns an invalid answer."""


class LawError(MalsimError, ValueError):
    """Unknown law, or a law whose file, options or results are invalid."""


class ProcessError(MalsimError, RuntimeError):
    """Error in a user's process that raises, yields something other than an event, or posts after the end of the run.

    The attribute `run` holds the partial run.
    """

    run: Any = None


class ScenarioError(MalsimError, ValueError):
    """Invalid scenario file."""


class AddressError(MalsimError, LookupError):
    """Handle, address or time that does not exist in the memory or run."""


class StoreError(MalsimError):
    """Store file that cannot be opened or written."""


class UsageError(MalsimError, ValueError):
    """Invalid function call or command line."""


def nearest(word: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return a "did you mean" hint with the most similar of the first 300 names, or `otherwise` if none is similar.

    >>> nearest("weka", ["weak", "stale"])
    'did you mean weak?'
    """
    from difflib import get_close_matches
    from itertools import islice

    near = get_close_matches(word[:80], islice(names, MOST_COMPARED), n=2)
    return f"did you mean {' or '.join(near)}?" if near else otherwise
