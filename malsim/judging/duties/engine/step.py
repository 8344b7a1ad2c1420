"""Cells of the duties, and the steps of their plots: calls of a memory, and looks with the wanted result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from malsim.adapters import Claim, Edge, Query
from malsim.adapters.checked_memory import MANY
from malsim.adapters.contract import OPTIONAL_CALLS
from malsim.base.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LOOKS = ("ask", "texts", "log")
FIRST, NOT_FIRST = "the first answer", "not the first answer"
CURRENT, NOT_CURRENT = "current", "not current"
SHOWN, NOT_SHOWN = "shown", "not shown"
STATED = 0.7
OBLIGATION, PROHIBITION = "obligation", "prohibition"
SPARED = ("settle", "share")  # daily ticks replace `settle`; cells that need `share` list it in `extra`


@dataclass(frozen=True)
class Step:
    """Step of a plot on day `t`, in the plot's symbols (x, A, ann) until names are drawn for them.

    `do` is write, an optional call, or one of `LOOKS`. For a look, `want` is the wanted result for `value`; a `twin` must
    hold for a prohibition to count. `dated` is the date of a claim, `of` the text from which it was derived.
    """

    t: float
    do: str
    object: str = ""
    value: str = ""
    by: str = ""
    scope: str = ""
    instead: str = ""
    to: str = ""
    text: str = ""
    source: str = ""
    of: str = ""
    dated: float | None = None
    valid_from: float | None = None
    valid_to: float | None = None
    at: float | None = None
    as_of: float | None = None
    want: str = ""
    twin: bool = False
    limit = MANY  # items of a look

    @property
    def days(self) -> list[float]:
        return [day for day in (self.t, *map(self.__getattribute__, DAYS)) if day is not None]

    @property
    def claim(self) -> Claim:
        time, edges = self.t if self.dated is None else self.dated, (Edge("derived_from", self.of),) if self.of else ()
        bounds = {"valid_from": self.valid_from, "valid_to": self.valid_to}
        return Claim(time, self.by, self.object, self.value, self.text, STATED, edges, self.scope, self.source, **bounds)

    @property
    def query(self) -> Query:
        return Query(self.object, f"what is {self.object}?", self.scope, self.at, self.as_of)

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the step's optional call, in the order of the contract."""
        given: dict[str, Any] = {"object": self.object, "value": self.value or None, "to": self.to}
        given |= {"instead": self.instead or None, "now": self.t, "by": self.by, "scope": self.scope}
        return {name: given[name] for name in ARGUMENTS[self.do]}

    @property
    def note(self) -> str:
        return f"{self.value or self.by} {self.want}{'; the twin' * self.twin}" if self.do in LOOKS else ""

    def __str__(self) -> str:
        given = {name: getattr(self, name) for name in ("dated", *WORDS, *DAYS[1:]) if getattr(self, name) not in ("", None)}
        wanted = f"  # {self.note}" if self.note else ""
        return f"{self.do} {', '.join(f'{name}={value!r}' for name, value in given.items())}".rstrip() + wanted

    def moved(self, change: Callable[[float], float]) -> Step:
        days: dict[str, Any] = {name: change(day) for name in DAYS if (day := getattr(self, name)) is not None}
        return replace(self, t=change(self.t), **days)

    def named(self, names: Mapping[str, str]) -> Step:
        texts: dict[str, Any] = {field: getattr(self, field).split() for field in WORDS}
        return replace(self, **{field: " ".join(names.get(word, word) for word in text) for field, text in texts.items()})


DAYS = ("dated", "valid_from", "valid_to", "at", "as_of")
WORDS = ("object", "value", "by", "scope", "instead", "to", "text", "source", "of")
_ABOUT = ("object", "value", "now", "by", "scope")
_SHARING = ("object", "to", "now", "scope")
ARGUMENTS = {
    "correct": ("object", "value", "instead", "now", "by", "scope"), "forget": _ABOUT, "allow": _ABOUT,
    "share": _SHARING, "unshare": _SHARING, "settle": ("now",),
}  # fmt: skip


@dataclass(frozen=True)
class Duty:
    """Cell of the duties: its name, kind, statement and plot, and the features needed in addition to the plot's calls.

    The verdict of a duty that is not `judged` is only recorded.
    """

    name: str
    kind: str
    sentence: str
    steps: tuple[Step, ...]
    extra: tuple[str, ...] = ()
    judged: bool = True

    @property
    def needs(self) -> list[str]:
        """Calls and features that a memory must offer for the cell to apply."""
        calls = [call for call in OPTIONAL_CALLS if call not in SPARED and any(step.do == call for step in self.steps)]
        return [*calls, *self.extra]


def says(t: float, by: str, object_: str, value: str, text: str = "", **more: Any) -> Step:
    return Step(t, "write", object_, value, by, text=text or f"{object_} is {value}", **more)


def call(t: float, do: str, object_: str, value: str = "", **more: Any) -> Step:
    return Step(t, do, object_, value, **more)


def settle(t: float) -> Step:
    """Return the step that runs all background jobs."""
    return Step(t, "settle")


def ask(t: float, object_: str, value: str, want: str, **more: Any) -> Step:
    """Return a look at an object; `want` is the wanted result for the value."""
    return Step(t, "ask", object_, value, want=want, **more)


def twin(step: Step) -> Step:
    """Return the look as a twin, which must hold for the cell to count."""
    return replace(step, twin=True)


def step_table(steps: Sequence[Step]) -> str:
    """Format steps as a table with a row per call: day, name, arguments, and the wanted result of a look."""
    return "\n".join(one_line(f"{step.t:>12.6g} d  {step}") for step in steps)
