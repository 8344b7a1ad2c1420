"""Checked calls to a law's functions and to third-party memories. Errors name the line in the law's file."""

from __future__ import annotations

import inspect
import traceback
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from malsim.adapters.calls import text_of
from malsim.base.errors import LawError
from malsim.laws.engine.items import Change
from malsim.laws.engine.reasons import Reasons
from malsim.memory.explain import LawExplanation
from malsim.memory.port import Explains, Verdicts, View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from malsim.laws.engine.definition import Law
    from malsim.laws.engine.items import Claim, Items, Query
    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.port import Claims

METHODS = tuple(name for name, member in vars(View).items() if callable(member) and not name.startswith("_"))
COLUMNS = ("rep", "name", "writer", "object", "value", "stated", "time", "rank", "active")
CHANGED = ("alive", "value", "time")  # columns that a law may change in addition to its own state


class LawCalls:
    """Checked calls to a law's functions with the law's parameters.

    Each result is checked; a `LawError` names the line of the function that returned it.
    """

    def __init__(self, law: Law, params: Mapping[str, float | str]) -> None:
        self.law = law
        self._calls = {
            name: partial(function, **{key: params[key] for key in law.asks(name)})
            for name, function in law.functions.items()
        }

    def write(self, items: Items, claim: Claim) -> Change:
        change = self._call("write", Change, items, claim)
        self._check_columns("write", change.items, CHANGED)
        self._check_columns("write", change.new, ())
        return change  # type: ignore[no-any-return]  # its type is checked

    def tick(self, items: Items, now: float) -> dict[str, NDArray[Any]]:
        return self._columns("tick", items, now)

    def read(self, items: Items, query: Query) -> dict[str, NDArray[Any]]:
        return self._columns("read", items, query)

    def rank(self, items: Items, now: float) -> Array:
        return self._per_item("rank", items, now) if "rank" in self._calls else np.ones(items.alive.shape)

    def belief(self, items: Items, now: float) -> Array:
        return self._per_item("belief", items, now)

    def explain(self, items: Items, row: int, now: float) -> Reasons:
        return self._call("explain", Reasons, items, row, now)  # type: ignore[no-any-return]  # its type is checked

    def check_belief(self, belief: Array, name_row: Callable[[int], str]) -> None:
        """Raise `LawError` if a belief lies outside 0 to 1, and name its row."""
        outside = np.flatnonzero(~((belief >= 0.0) & (belief <= 1.0)))
        if outside.size:
            row = int(outside[0])
            self._refuse("belief", f"belief out of bounds ({name_row(row)})", given=float(belief[row]), allowed="0 to 1")

    def _per_item(self, name: str, items: Items, now: float) -> Array:
        result = self._call(name, object, items, now)
        try:
            return np.broadcast_to(np.asarray(result, dtype=np.float64), items.alive.shape)
        except (TypeError, ValueError):
            allowed = f"numbers of shape {items.alive.shape}"
            self._refuse(name, f"{name} returned a {type(result).__name__} instead of a number per item", allowed=allowed)

    def _columns(self, name: str, *args: Any) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = self._call(name, dict, *args)
        self._check_columns(name, columns, CHANGED)
        return columns

    def _check_columns(self, name: str, columns: Mapping[str, Any], common: tuple[str, ...]) -> None:
        for column in columns:
            if column not in self.law.state and column not in common:
                allowed = ", ".join((*self.law.state, *common)) or "nothing: the law declares no state"
                self._refuse(name, "the law declares no such column", given=column, allowed=allowed)

    def _call(self, name: str, kind: type, *args: Any) -> Any:
        call = partial(self._calls[name], *args)
        try:
            result = self.law.calls.make(call) if self.law.calls else call()
        except Exception as error:
            if not (isinstance(error, ValueError) and "read-only" in str(error)):
                if self.law.calls is None or isinstance(error, LawError):
                    raise
                _blame(self.law, name, error)
            frames = traceback.extract_tb(error.__traceback__)
            line = next((frame.lineno for frame in frames if frame.filename == self.law.path), 0)
            where = f"{self.law.path}:{line}"
            raise LawError("the law modified its input arrays", where=where, hint="return new arrays") from error
        if not isinstance(result, kind):
            self._refuse(name, f"{name} returned a {type(result).__name__} instead of a {kind.__name__}")
        return result

    def _refuse(self, name: str, problem: str, **details: Any) -> NoReturn:
        line = inspect.getsourcelines(self.law.functions[name])[1]
        raise LawError(problem, where=f"{self.law.path}:{line} (law {self.law.name})", **details)


class WatchedPlant:
    """Third-party memory behind the simulator's port. Every call is checked; additional methods are passed through.

    Raises `LawError` with law and call if a call raised, exited, took too long, or returned what the port does not allow.
    """

    def __init__(self, law: Law, make: Callable[[], Any]) -> None:
        self._law = law
        self._plant = self._call("plant", make)
        for name in dir(self._plant):
            if not name.startswith("_") and callable(getattr(self._plant, name)) and not hasattr(WatchedPlant, name):
                setattr(self, name, partial(self._ask, name))
        if isinstance(self._plant, Explains):
            self.explain = self._explain

    def admit(self, state: Any, claims: Claims) -> tuple[Any, Verdicts]:
        result = self._ask("admit", state, claims)
        if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], Verdicts)):
            self._refuse("admit", "must return a state and Verdicts", result)
        after, verdicts = result
        for name in ("verdict", "row"):
            if np.shape(getattr(verdicts, name)) != (len(claims),):
                self._refuse("admit", f"must return one {name} per claim", getattr(verdicts, name))
        if verdicts.account is None:
            return after, verdicts
        return after, replace(verdicts, account=partial(self._call, "account", verdicts.account))

    def view(self, state: Any, now: float) -> View:
        view = self._ask("view", state, now)
        if not isinstance(view, View):
            self._refuse("view", "must return a View", view)
        if type(view) is not View and type(view).__module__.startswith("malsim."):
            return view
        columns = self._call("view", lambda: {field.name: getattr(view, field.name) for field in fields(View)})
        belief = columns["belief"]
        for name in (*COLUMNS, *(() if belief is None else ("belief",))):
            if np.shape(columns[name]) != np.shape(columns["rep"]):
                self._refuse(f"view: {name}", "must be a column of the same length as the others", columns[name])
        if belief is not None and not np.all((np.asarray(belief) >= 0.0) & (np.asarray(belief) <= 1.0)):
            self._refuse("view: belief", "must be between 0 and 1", belief)
        if type(view) is View:
            return view
        checked = View(**columns)
        for name in METHODS:
            object.__setattr__(checked, name, partial(self._call, f"view.{name}", getattr(view, name)))
        return checked

    def _explain(self, state: Any, alive: Ints, row: int, now: float) -> LawExplanation:
        explanation = self._ask("explain", state, alive, row, now)
        if not isinstance(explanation, LawExplanation):
            self._refuse("explain", "must return a LawExplanation", explanation)
        return explanation

    def _ask(self, name: str, *args: Any) -> Any:
        return self._call(name, lambda: getattr(self._plant, name)(*args))

    def _call(self, name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        calls, bound = self._law.calls, partial(call, *args, **kwargs)
        try:
            return calls.make(bound) if calls else bound()
        except LawError:
            raise
        except Exception as error:  # noqa: BLE001  # third-party code can raise anything
            _blame(self._law, name, error)

    def _refuse(self, name: str, rule: str, given: object) -> NoReturn:
        raise LawError(f"{name} {rule}", where=f"{self._law.path} (law {self._law.name})", given=type(given).__name__)


def _blame(law: Law, name: str, error: Exception) -> NoReturn:
    """Re-raise an error from a third-party law as a `LawError` with the law's file and line."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == law.path]
    line = f":{frames[-1].lineno}" if frames else ""
    problem = str(error) if isinstance(error, TimeoutError) and error.args else text_of(error)
    raise LawError(f"{name} {problem}", where=f"{law.path}{line} (law {law.name})") from error
