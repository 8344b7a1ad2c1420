"""Calls of a law's functions: what they return is looked at, and what goes wrong is said with the law's file and line."""

from __future__ import annotations

import inspect
import traceback
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from malsim.errors import LawError
from malsim.laws.engine.items import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from malsim.laws.engine.definition import Law
    from malsim.laws.engine.items import Claim, Items, Query
    from malsim.laws.engine.reasons import Reasons
    from malsim.memory.graph.arrays import Array

__all__ = ["Guard", "blame"]

CHANGED = ("alive", "value", "time")  # what a law may change beside its own state


class Guard:
    """A law's functions with their parameters, and the checks of what they return."""

    def __init__(self, law: Law, params: Mapping[str, float | str]) -> None:
        self.law, self._params = law, params

    @cached_property
    def _calls(self) -> dict[str, Callable[..., Any]]:
        return {
            name: partial(function, **{key: self._params[key] for key in self.law.asks(name)})
            for name, function in self.law.functions.items()
        }

    def write(self, items: Items, claim: Claim) -> Change:
        """What claims change."""
        change = self._call("write", items, claim)
        if not isinstance(change, Change):
            self.refuse("write", "write returns a Change", given=type(change).__name__)
        self._declared("write", change.items, CHANGED)
        self._declared("write", change.new, ())
        return change

    def tick(self, items: Items, now: float) -> dict[str, NDArray[Any]]:
        """What time changes."""
        return self._columns("tick", items, now)

    def read(self, items: Items, query: Query) -> dict[str, NDArray[Any]]:
        """What a use changes."""
        return self._columns("read", items, query)

    def rank(self, items: Items, now: float) -> Array:
        """The score that orders items; 1 where the law has none."""
        if "rank" not in self._calls:
            return np.ones(items.alive.shape)
        return self._shaped("rank", items, now)

    def belief(self, items: Items, now: float) -> Array:
        """What is meant as a probability."""
        return self._shaped("belief", items, now)

    def _shaped(self, name: str, items: Items, now: float) -> Array:
        found = self._call(name, items, now)
        try:
            return np.broadcast_to(np.asarray(found, dtype=np.float64), items.alive.shape)
        except (TypeError, ValueError):
            allowed = f"numbers of shape {items.alive.shape}"
            self.refuse(name, f"{name} returns one number an item", given=type(found).__name__, allowed=allowed)

    def explain(self, items: Items, row: int, now: float) -> Reasons:
        """What the belief in an item is made of."""
        return cast("Reasons", self._call("explain", items, row, now))

    def _columns(self, name: str, *args: Any) -> dict[str, NDArray[Any]]:
        changed = self._call(name, *args)
        if not isinstance(changed, dict):
            self.refuse(name, f"{name} returns a dict of changed columns", given=type(changed).__name__)
        self._declared(name, changed, CHANGED)
        return changed

    def _declared(self, name: str, changed: Mapping[str, Any], common: tuple[str, ...]) -> None:
        for column in changed:
            if column not in self.law.state and column not in common:
                allowed = ", ".join((*self.law.state, *common)) or "nothing: it declares no state"
                self.refuse(name, "a column that is no declared state", given=column, allowed=allowed)

    def _call(self, name: str, *args: Any) -> Any:
        call = partial(self._calls[name], *args)
        try:
            return self.law.calls.make(call) if self.law.calls else call()
        except Exception as error:
            if not (isinstance(error, ValueError) and "read-only" in str(error)):
                if self.law.calls is None or isinstance(error, LawError):
                    raise
                blame(self.law, name, error)
            line = next(
                (frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.law.path), 0
            )
            raise LawError("it writes into its inputs", where=f"{self.law.path}:{line}", hint="return new arrays") from error

    def refuse(self, name: str, problem: str, **said: Any) -> NoReturn:
        """Raise `LawError` at the line of one of its functions."""
        line = inspect.getsourcelines(self.law.functions[name])[1]
        raise LawError(problem, where=f"{self.law.path}:{line} (law {self.law.name})", **said)


def blame(law: Law, name: str, error: Exception) -> NoReturn:
    """Raise as a `LawError` what a call of another's law raised, with its file and line."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == law.path]
    line = f":{frames[-1].lineno}" if frames else ""
    said = str(error) if isinstance(error, TimeoutError) and error.args else f"raised {type(error).__name__}: {error}"
    raise LawError(f"{name} {said}", where=f"{law.path}{line} (law {law.name})") from error
