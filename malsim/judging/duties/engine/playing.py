"""Playback of a duty's plot against a memory, with a judgement of each inspection."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from malsim.adapters.checked_memory import text_of_claim
from malsim.adapters.engine.adapter import Phrases
from malsim.base.errors import AdapterError
from malsim.judging.duties.engine.step import CURRENT, FIRST, LOOKS, NOT_CURRENT, NOT_FIRST, NOT_SHOWN, SHOWN
from malsim.judging.player import Player
from malsim.memory.port import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Item
    from malsim.judging.axioms.engine.subject import Subject
    from malsim.judging.duties.engine.step import Step

PHRASES = Phrases()
SAME = 1e-6  # tolerance for comparing days and beliefs
GROUPS = {FIRST: 0, NOT_FIRST: 0, CURRENT: 1, NOT_CURRENT: 1, SHOWN: 2, NOT_SHOWN: 2}


class BelieflessError(Exception):
    """Raised when a plot inspects a belief but the memory's items have no belief."""


@dataclass(frozen=True)
class Look:
    """Result of one inspection: the step, whether the memory showed the wanted result, and what the memory showed."""

    step: Step
    holds: bool
    answer: str


def play(subject: Subject, steps: Sequence[Step]) -> list[Look]:
    """Create a memory, play the steps against it, and judge each inspection.

    Raises `AdapterError` with the call, its day and the last claim if a call fails or an answer is invalid.
    """
    with closing(subject.fresh(vocabulary(steps))) as memory:
        played = _Play(memory, subject.offers)
        try:
            return [look for step in steps if (look := played.step(step)) is not None]
        except AdapterError as problem:
            call = (problem.where or "factory").removeprefix(f"{subject.name}: ")
            after = f", last claim: {text_of_claim(played.last)}" if played.last else ""
            at = getattr(memory, "failed_at", "") or f", day {played.now:.6g}{after}"
            where = f"{subject.name}: {call}{at}"
            allowed, hint = problem.allowed, problem.hint
            raise AdapterError(problem.problem, where=where, given=problem.given, allowed=allowed, hint=hint) from problem


@dataclass
class _Play(Player):
    """Player for one plot that remembers the claimed values and earlier beliefs."""

    memory: Any
    last: Claim | None = None
    values: dict[str, None] = field(default_factory=dict)
    beliefs: dict[tuple[str, str], float] = field(default_factory=dict)

    def step(self, step: Step) -> Look | None:
        """Play one step. Return the result if the step is an inspection, otherwise None."""
        self.days |= {*step.days}
        if step.do in LOOKS:
            self.now = max(self.now, step.t)
            self.days.add(self.now)
            return getattr(self, f"_{step.do}")(step)  # type: ignore[no-any-return]  # one of the three methods below
        if step.do == "write":
            self.last = step.claim
        if step.do == "write" or step.do in self.offers:
            self.values |= dict.fromkeys(filter(None, (step.value if step.do == "write" else "", step.instead)))
        self.happen([step])
        return None

    def _ask(self, step: Step) -> Look:
        """Peek twice, which must give equal results, then read. Both peek and read must show the wanted result."""
        peeked = self.memory.peek(step.query, self.now)
        if list(map(_visible_parts, self.memory.peek(step.query, self.now))) != list(map(_visible_parts, peeked)):
            raise AdapterError("a peek changed the memory", where="peek", hint="make sure that `peek` changes nothing")
        answer = self.memory.read(step.query, self.now)
        verdicts = [self._wanted(step, items) for items in (peeked, answer) if items is not None]
        parts = []
        for item in peeked if not verdicts[0] or answer is None else answer:
            status = str(item.get("status", CURRENT)) if item.get("active", True) else "inactive"
            parts.append(f"{' and '.join(sorted(self._says(item))) or 'no value'} ({status})")
        return Look(step, all(verdicts), ", ".join(parts) or "nothing")

    def _wanted(self, step: Step, items: Sequence[Item]) -> bool:
        for item in items:
            if item.get("value") is not None and str(item["value"]) not in self.values:
                raise AdapterError("an item has a value that nobody claimed", where="peek", given=item["value"])
        if step.want not in GROUPS:
            return self._believed(step, items)
        active = [item for item in items if item.get("active", True)]
        about = [self._says(item) for item in active if str(item["object"]) == step.object]
        group = (
            about[:1],
            [self._says(item) for item in active if item.get("status", CURRENT) == CURRENT],
            [self._says(item) | self._in_text(item) for item in items],
        )[GROUPS[step.want]]
        if step.want in (FIRST, NOT_FIRST):
            return (group == [{step.value}]) == (step.want == FIRST)
        return any(step.value in values for values in group) == (step.want in (CURRENT, SHOWN))

    def _believed(self, step: Step, items: Sequence[Item]) -> bool:
        """Return whether the belief in a value has changed from the remembered belief as the step requires."""
        beliefs = [item.get("belief") for item in items if step.value in self._says(item)]
        if None in beliefs:
            raise BelieflessError
        belief, key = max((float(belief or 0.0) for belief in beliefs), default=0.0), (step.object, step.scope)
        before = self.beliefs.setdefault(key, belief)
        if step.want == "remembered":
            return True
        return belief > before + SAME if step.want == "believed more" else abs(belief - before) <= SAME

    def _says(self, item: Item) -> set[str]:
        """Return the values that an item claims: its `value` field if set, otherwise the values found in its text."""
        return self._in_text(item) if item.get("value") is None else {str(item["value"])}

    def _in_text(self, item: Item) -> set[str]:
        text = str(item.get("text") or "")
        lower = text.lower()
        return set(PHRASES.values_in(text, [value for value in self.values if value in lower]))

    def _texts(self, step: Step) -> Look:
        texts = [text for text in self.memory.texts() if _holds(text, step.value)]
        return Look(step, bool(texts) == (step.want == SHOWN), "; ".join(map(repr, texts[:3])) or "no such text")

    def _log(self, step: Step) -> Look:
        events = self.memory.log()
        if any(event["at"] > self.now + SAME for event in events):
            raise AdapterError(
                "the log contains an event in the future", where="log", given=max(event["at"] for event in events)
            )
        for event in events:
            if not any(abs(event["at"] - day) <= SAME for day in self.days):
                given = f"{event['event']} by {event['by']} on day {event['at']:.6g}"
                raise AdapterError("the log contains an event on a day without a call", where="log", given=given)
        if step.want == NOT_SHOWN:
            matches = [event for event in events if _holds(repr(dict(event)), step.value)]
            return Look(step, not matches, "; ".join(repr(dict(event)) for event in matches[:3]) or "no such event")
        day = step.t if step.dated is None else step.dated
        matches = [event for event in events if event["by"] == step.by and abs(event["at"] - day) <= SAME and event["event"]]
        return Look(step, bool(matches), f"{len(events)} events, {len(matches)} by {step.by} on day {day:.6g}")


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _visible_parts(item: Item) -> tuple[Any, ...]:
    parts = ("object", "value", "text", "active", "status", "valid_from", "valid_to")
    belief = item.get("belief")
    return *(item.get(part) for part in parts), None if belief is None else round(float(belief), 6)


def vocabulary(steps: Sequence[Step]) -> Vocabulary:
    """Return the writers, objects and values of a plot, which an item-based law must know in advance."""
    claims = [step for step in steps if step.do == "write"]
    objects = list(dict.fromkeys(step.object for step in steps if step.object))
    values = list(dict.fromkeys([step.value for step in claims] + [step.instead for step in steps if step.instead]))
    return Vocabulary(list(dict.fromkeys(step.by for step in claims)), objects, [values] * len(objects))
