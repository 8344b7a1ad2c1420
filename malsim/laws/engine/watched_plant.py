"""A memory that another package's law makes whole: each call of it is timed, and what it returns is looked at."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from malsim.errors import LawError
from malsim.laws.engine.guard import blame
from malsim.memory.port import AnswersReads, HoldsGraph, Verdicts, View

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.laws.engine.definition import Law
    from malsim.memory.graph.arrays import Ints
    from malsim.memory.port import Claims, Vocabulary

__all__ = ["WatchedPlant"]

METHODS = tuple(name for name, held in vars(View).items() if callable(held) and not name.startswith("_"))
COLUMNS = ("rep", "name", "writer", "object", "value", "stated", "time", "rank", "active")
CAPABILITIES = {HoldsGraph: ("graph", "with_graph"), AnswersReads: ("answer", "failures", "close")}


class WatchedPlant:
    """Another's memory behind the port; what it can beyond the port, it can here.

    Raises
    ------
    LawError
        A call raised, exited, took longer than a call may, or returned what the port does not allow; it names law and call.
    """

    def __init__(self, law: Law, make: Callable[[], Any]) -> None:
        self._law = law
        self._plant = self._call("plant", make)
        for capability, names in CAPABILITIES.items():
            if isinstance(self._plant, capability):
                for name in names:
                    setattr(self, name, partial(self._ask, name))

    def init(self, replications: Sequence[int], vocabulary: Vocabulary) -> Any:
        """An empty memory, one for each of these replications."""
        return self._ask("init", replications, vocabulary)

    def admit(self, state: Any, claims: Claims) -> tuple[Any, Verdicts]:
        """Take a batch of claims."""
        found = self._ask("admit", state, claims)
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], Verdicts)):
            self._refuse("admit", "must return a state and Verdicts", found)
        after, verdicts = found
        for name in ("verdict", "row"):
            if np.shape(getattr(verdicts, name)) != (len(claims),):
                self._refuse("admit", f"must return one {name} a claim", getattr(verdicts, name))
        if verdicts.account is None:
            return after, verdicts
        return after, replace(verdicts, account=partial(self._call, "account", verdicts.account))

    def tick(self, state: Any, now: float) -> Any:
        """Let time do what it does."""
        return self._ask("tick", state, now)

    def read(self, state: Any, rep: Ints, object_: Ints, opened: Ints, now: float) -> Any:
        """A use."""
        return self._ask("read", state, rep, object_, opened, now)

    def view(self, state: Any, now: float) -> View:
        """What anybody may look at."""
        found = self._ask("view", state, now)
        if not isinstance(found, View):
            self._refuse("view", "must return a View", found)
        if type(found) is not View and type(found).__module__.startswith("malsim."):
            return found
        held = self._call("view", lambda: {each.name: getattr(found, each.name) for each in fields(View)})
        self._check(held)
        return found if type(found) is View else self._watched_view(found, held)

    def _check(self, held: dict[str, Any]) -> None:
        """Refuse columns of unequal lengths, and beliefs that are none."""
        belief = held["belief"]
        for name in (*COLUMNS, *(() if belief is None else ("belief",))):
            if np.shape(held[name]) != np.shape(held["rep"]):
                self._refuse(f"view: {name}", "must be a column as long as the others", held[name])
        if belief is not None and not np.all((np.asarray(belief) >= 0.0) & (np.asarray(belief) <= 1.0)):
            self._refuse("view: belief", "must be within 0 and 1", belief)

    def _watched_view(self, found: View, held: dict[str, Any]) -> View:
        """A view of another's class, with its columns, and its methods watched."""
        view = View(**held)
        for name in METHODS:
            object.__setattr__(view, name, partial(self._call, f"view.{name}", getattr(found, name)))
        return view

    def _ask(self, name: str, *args: Any) -> Any:
        return self._call(name, lambda: getattr(self._plant, name)(*args))

    def _call(self, name: str, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        calls, made = self._law.calls, partial(call, *args, **named)
        try:
            return calls.make(made) if calls else made()
        except LawError:
            raise
        except Exception as error:  # noqa: BLE001  # a stranger's code can raise anything
            blame(self._law, name, error)

    def _refuse(self, name: str, rule: str, given: object) -> NoReturn:
        raise LawError(f"{name} {rule}", where=f"{self._law.path} (law {self._law.name})", given=type(given).__name__)
