"""Duty cells, the steps of their plots (calls, and inspections with a wanted result), and random variations of plots."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from malsim.adapters import Claim, Edge, Query
from malsim.adapters.checked_memory import MANY
from malsim.adapters.contract import OPTIONAL_CALLS, SETTLE_TICKS
from malsim.base.plain_text import one_line
from malsim.judging.axioms.engine.events import MINUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from malsim.judging.axioms.engine.events import Pick

LOOKS = ("ask", "texts", "log")
FIRST, NOT_FIRST = "the first answer", "not the first answer"
CURRENT, NOT_CURRENT = "current", "not current"
SHOWN, NOT_SHOWN = "shown", "not shown"
STATED = 0.7
OBLIGATION, PROHIBITION = "obligation", "prohibition"
# Calls that a memory need not offer: daily ticks replace `settle`, and cells that require `share` list it in `extra`.
SPARED = ("settle", "share")
LONGEST_GAP = 60.0  # maximum number of days between two steps of a drawn plot
CONSONANTS, VOWELS, SYLLABLES = "bdfgklmnprstvz", "aeiou", 3
PLAIN = {"likes", "dislikes", "enjoys"}  # words in values that are never replaced by generated names
DISGUISED = "~"  # suffix of the symbol for a disguised value
ALIKE = str.maketrans("aeiops", "\u0430\u0435\u0456\u043e\u0440\u0455")  # Latin letters and their Cyrillic look-alikes
MOST_TRAFFIC = 4
MOST_KEPT = 2000  # maximum number of cached plots


@dataclass(frozen=True)
class Step:
    """Step of a plot on day `t`. It uses the plot's symbols (x, A, ann) until random names replace them.

    `do` is write, an optional call, or an inspection from `LOOKS`. An inspection expects the result `want` for `value`;
    a `control` must hold for a prohibition to count. `dated` is a claim's date, `of` the text from which it was derived.
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
    control: bool = False
    limit = MANY  # maximum number of items in an answer

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
        """Arguments of the step's optional call, in the order that the memory contract defines."""
        given: dict[str, Any] = {"object": self.object, "value": self.value or None, "to": self.to}
        given |= {"instead": self.instead or None, "now": self.t, "by": self.by, "scope": self.scope}
        return {name: given[name] for name in ARGUMENTS[self.do]}

    @property
    def note(self) -> str:
        return f"{self.value or self.by} {self.want}{' (control)' * self.control}" if self.do in LOOKS else ""

    def __str__(self) -> str:
        given = {name: getattr(self, name) for name in ("dated", *WORDS, *DAYS[1:]) if getattr(self, name) not in ("", None)}
        wanted = f"  # {self.note}" if self.note else ""
        return f"{self.do} {', '.join(f'{name}={value!r}' for name, value in given.items())}".rstrip() + wanted

    def moved(self, change: Callable[[float], float]) -> Step:
        days: dict[str, Any] = {name: change(day) for name in DAYS if (day := getattr(self, name)) is not None}
        return replace(self, t=change(self.t), **days)

    def named(self, names: Mapping[str, str]) -> Step:
        texts = {field: getattr(self, field).split() for field in WORDS}
        changes: Any = {field: " ".join(names.get(word, word) for word in text) for field, text in texts.items()}
        return replace(self, **changes)


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
    """Duty: its name, kind, statement and script of calls, and the features that a memory needs beyond those calls.

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
        """Calls and features that a memory must offer for the duty to apply."""
        calls = [call for call in OPTIONAL_CALLS if call not in SPARED and any(step.do == call for step in self.steps)]
        return [*calls, *self.extra]


def says(t: float, by: str, object_: str, value: str, text: str = "", **more: Any) -> Step:
    return Step(t, "write", object_, value, by, text=text or f"{object_} is {value}", **more)


def call(t: float, do: str, object_: str, value: str = "", **more: Any) -> Step:
    return Step(t, do, object_, value, **more)


def settle(t: float) -> Step:
    """Return a step that runs all background jobs."""
    return Step(t, "settle")


def ask(t: float, object_: str, value: str, want: str, **more: Any) -> Step:
    """Return a step that queries an object. `want` is the wanted result for the value."""
    return Step(t, "ask", object_, value, want=want, **more)


def control(step: Step) -> Step:
    """Return a copy of the step marked as a control: an inspection that must hold, or the cell's verdict is vacuous."""
    return replace(step, control=True)


def step_table(steps: Sequence[Step]) -> str:
    """Format steps as a table with one row per step: day, call, arguments, and the wanted result of an inspection."""
    return "\n".join(one_line(f"{step.t:>12.6g} d  {step}") for step in steps)


@lru_cache(MOST_KEPT)  # cached because every memory gets the same plots
def plot_of(cell: Duty, picks: Callable[[int, str, int], Pick], seed: int, case: int) -> tuple[Step, ...]:
    """Return a duty's plot with random names of writers, objects and values.

    Cases after case 0 also have random gaps and unrelated claims, sorted by day.
    """
    played, pick = list(cell.steps), picks(seed, f"conformance {cell.name}", case)
    if case:
        days = _days(played, pick)
        played = [step.moved(days.__getitem__) for step in played]
        end = played[-1].t
        claims = pick.claims(pick.count(1, MOST_TRAFFIC), start=end * pick.share())
        traffic = [says(event.t, event.writer, "other", f"other{event.value}") for event in claims if event.t < end]
        played = sorted([*traffic, *played], key=lambda step: step.t)
    names = _names(played, pick)
    return tuple(step.named(names) for step in played)


def _days(steps: Sequence[Step], pick: Pick) -> dict[float, float]:
    """Draw a random day for each day in the script, with room before a `settle` step for the daily ticks that replace it."""
    old = sorted({day for step in steps for day in step.days})
    new = [old[0]]
    for _, day in pairwise(old):
        room = float(SETTLE_TICKS) if any(step.do == "settle" and step.t == day for step in steps) else 0.0
        new.append(new[-1] + room + pick.time(MINUTE, LONGEST_GAP))
    return dict(zip(old, new, strict=True))


def _names(steps: Iterable[Step], pick: Pick) -> dict[str, str]:
    fields = (field for step in steps for field in (step.object, step.value, step.by, step.scope, step.instead, step.to))
    symbols = dict.fromkeys(word for field in fields for word in field.split() if word not in PLAIN)
    names: dict[str, str] = {}
    for symbol in symbols:
        while (word := _word(pick)) in names.values():
            pass
        plain = names.get(symbol.removesuffix(DISGUISED))
        names[symbol] = _disguised(plain, pick) if plain and symbol.endswith(DISGUISED) else word
    return names


def _disguised(word: str, pick: Pick) -> str:
    full_width = "".join(chr(ord(letter) + 0xFEE0) for letter in word)
    hidden = [f"{word[:3]}{mark}{word[3:]}" for mark in ("\u200b", "\u00ad")]
    return pick.by_turns((*hidden, word.translate(ALIKE), full_width, word.upper()))


def _word(pick: Pick) -> str:
    pairs = len(CONSONANTS) * len(VOWELS)
    number, word = pick.count(0, pairs**SYLLABLES - 1), ""
    for _ in range(SYLLABLES):
        number, index = divmod(number, pairs)
        word += CONSONANTS[index // len(VOWELS)] + VOWELS[index % len(VOWELS)]
    return word
