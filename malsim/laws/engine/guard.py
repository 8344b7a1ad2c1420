"""Calls of a law's functions or of its memory: results are checked, and errors name the line of the law."""

from __future__ import annotations

import inspect
import traceback
from dataclasses import fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from malsim.adapters.calls import text_of
from malsim.base.errors import LawError
from malsim.laws.engine.items import Change
from malsim.memory.explain import LawExplanation
from malsim.memory.port import Explains, Verdicts, View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from malsim.laws.engine.definition import Law
    from malsim.laws.engine.items import Claim, Items, Query
    from malsim.laws.engine.reasons import Reasons
    from malsim.memory.graph.arrays import Array, Ints
    from malsim.memory.port import Claims

METHODS = tuple(name for name, member in vars(View).items() if callable(member) and not name.startswith("_"))
COLUMNS = ("rep", "name", "writer", "object", "value", "stated", "time", "rank", "active")
CHANGED = ("alive", "value", "time")  # what a law may change in addition to its own state


class LawCalls:
    """A law's functions with their parameters, called as they are: the suites of the shipped laws check what they return."""

    def __init__(self, law: Law, params: Mapping[str, float | str]) -> None:
        self.law, self._params = law, params

    @cached_property
    def _calls(self) -> dict[str, Callable[..., Any]]:
        return {
            name: partial(function, **{key: self._params[key] for key in self.law.asks(name)})
            for name, function in self.law.functions.items()
        }

    def write(self, items: Items, claim: Claim) -> Change:
        return cast("Change", self._call("write", items, claim))

    def tick(self, items: Items, now: float) -> dict[str, NDArray[Any]]:
        return self._columns("tick", items, now)

    def read(self, items: Items, query: Query) -> dict[str, NDArray[Any]]:
        return self._columns("read", items, query)

    def rank(self, items: Items, now: float) -> Array:
        if "rank" not in self._calls:
            return np.ones(items.alive.shape)
        return self._per_item("rank", items, now)

    def belief(self, items: Items, now: float) -> Array:
        return self._per_item("belief", items, now)

    def explain(self, items: Items, row: int, now: float) -> Reasons:
        return cast("Reasons", self._call("explain", items, row, now))

    def check_belief(self, belief: Array, item: Callable[[int], str]) -> None:
        """Check nothing; see `Guard`."""

    def _per_item(self, name: str, items: Items, now: float) -> Array:
        return np.broadcast_to(self._call(name, items, now), items.alive.shape)

    def _columns(self, name: str, *args: Any) -> dict[str, NDArray[Any]]:
        return cast("dict[str, NDArray[Any]]", self._call(name, *args))

    def _call(self, name: str, *args: Any) -> Any:
        return self._calls[name](*args)


class Guard(LawCalls):
    """A user's law: what its functions return is checked; raises `LawError` at the line of the function."""

    def write(self, items: Items, claim: Claim) -> Change:
        change = self._call("write", items, claim)
        if not isinstance(change, Change):
            self._refuse("write", "write returns a Change", given=type(change).__name__)
        self._check_columns("write", change.items, CHANGED)
        self._check_columns("write", change.new, ())
        return change

    def check_belief(self, belief: Array, item: Callable[[int], str]) -> None:
        """Raise `LawError` for a belief outside 0 to 1; `item` says what is in a row."""
        sound = (belief >= 0.0) & (belief <= 1.0)
        if not sound.all():
            row = int(np.flatnonzero(~sound)[0])
            problem = f"a belief outside its bounds ({item(row)})"
            self._refuse("belief", problem, given=float(belief[row]), allowed="0 to 1")

    def _per_item(self, name: str, items: Items, now: float) -> Array:
        result = self._call(name, items, now)
        try:
            return np.broadcast_to(np.asarray(result, dtype=np.float64), items.alive.shape)
        except (TypeError, ValueError):
            allowed = f"numbers of shape {items.alive.shape}"
            self._refuse(name, f"{name} returns one number an item", given=type(result).__name__, allowed=allowed)

    def _columns(self, name: str, *args: Any) -> dict[str, NDArray[Any]]:
        columns = self._call(name, *args)
        if not isinstance(columns, dict):
            self._refuse(name, f"{name} returns a dict of changed columns", given=type(columns).__name__)
        self._check_columns(name, columns, CHANGED)
        return columns

    def _check_columns(self, name: str, columns: Mapping[str, Any], common: tuple[str, ...]) -> None:
        for column in columns:
            if column not in self.law.state and column not in common:
                allowed = ", ".join((*self.law.state, *common)) or "nothing: it declares no state"
                self._refuse(name, "this column is not a declared state", given=column, allowed=allowed)

    def _call(self, name: str, *args: Any) -> Any:
        call = partial(self._calls[name], *args)
        try:
            return self.law.calls.make(call) if self.law.calls else call()
        except Exception as error:
            if not (isinstance(error, ValueError) and "read-only" in str(error)):
                if self.law.calls is None or isinstance(error, LawError):
                    raise
                _blame(self.law, name, error)
            line = next(
                (frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.law.path), 0
            )
            raise LawError(
                "the law writes into its inputs", where=f"{self.law.path}:{line}", hint="return new arrays"
            ) from error

    def _refuse(self, name: str, problem: str, **details: Any) -> NoReturn:
        line = inspect.getsourcelines(self.law.functions[name])[1]
        raise LawError(problem, where=f"{self.law.path}:{line} (law {self.law.name})", **details)


def calls_of(law: Law, params: Mapping[str, float | str]) -> LawCalls:
    """Return a law's functions with their parameters; those of a law that does not come with malsim are guarded."""
    return LawCalls(law, params) if law.shipped else Guard(law, params)


class WatchedPlant:
    """A third-party memory behind the port, each call checked; methods beyond the port are passed on.

    Raises
    ------
    LawError
        A call raised, exited, took longer than a call may, or returned what the port does not allow; it names law and call.
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
                self._refuse("admit", f"must return one {name} a claim", getattr(verdicts, name))
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
        self._check(columns)
        return view if type(view) is View else self._watched_view(view, columns)

    def _explain(self, state: Any, alive: Ints, row: int, now: float) -> LawExplanation:
        explanation = self._ask("explain", state, alive, row, now)
        if not isinstance(explanation, LawExplanation):
            self._refuse("explain", "must return a LawExplanation", explanation)
        return explanation

    def _check(self, columns: dict[str, Any]) -> None:
        belief = columns["belief"]
        for name in (*COLUMNS, *(() if belief is None else ("belief",))):
            if np.shape(columns[name]) != np.shape(columns["rep"]):
                self._refuse(f"view: {name}", "must be a column as long as the others", columns[name])
        if belief is not None and not np.all((np.asarray(belief) >= 0.0) & (np.asarray(belief) <= 1.0)):
            self._refuse("view: belief", "must be within 0 and 1", belief)

    def _watched_view(self, original: View, columns: dict[str, Any]) -> View:
        view = View(**columns)
        for name in METHODS:
            object.__setattr__(view, name, partial(self._call, f"view.{name}", getattr(original, name)))
        return view

    def _ask(self, name: str, *args: Any) -> Any:
        return self._call(name, lambda: getattr(self._plant, name)(*args))

    def _call(self, name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        calls, bound = self._law.calls, partial(call, *args, **kwargs)
        try:
            return calls.make(bound) if calls else bound()
        except LawError:
            raise
        except Exception as error:  # noqa: BLE001  # a stranger's code can raise anything
            _blame(self._law, name, error)

    def _refuse(self, name: str, rule: str, given: object) -> NoReturn:
        raise LawError(f"{name} {rule}", where=f"{self._law.path} (law {self._law.name})", given=type(given).__name__)


def _blame(law: Law, name: str, error: Exception) -> NoReturn:
    """Raise as a `LawError` what a call of another's law raised, with its file and line."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == law.path]
    line = f":{frames[-1].lineno}" if frames else ""
    problem = str(error) if isinstance(error, TimeoutError) and error.args else text_of(error)
    raise LawError(f"{name} {problem}", where=f"{law.path}{line} (law {law.name})") from error
