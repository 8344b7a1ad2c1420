"""Axioms about scores: bounds, agreement and evidence."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from malsim.adapters import Edge
from malsim.base.errors import AdapterError, LawError
from malsim.base.finite import is_number
from malsim.judging.axioms.engine.axiom import Axiom
from malsim.judging.axioms.engine.compare import is_stream, last, number
from malsim.judging.axioms.engine.events import MINUTE, UNSTATED, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

CROWD, LATE, FOR_SURE = 30, 3650.0, (0.0, 1.0)
SUPPORT = (Edge("supports", "x is A"),)
HALF = 0.5
LEAST, MOST = 0.05, 0.99
LONG = 1000.0  # for `late`, times are subtracted from this day, so that each claim is older than the one before


class Bounds(Axiom):
    """Every belief lies in [0, 1], and no score is NaN."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw a few claims, claims by many writers, claims of confidence 0 or 1, or a peek ten years after the claims."""
        kind = pick.by_turns(("few", "crowd", "against", "certain", "late"))
        if kind in ("crowd", "against"):
            count = pick.one((3, 6, CROWD, CROWD))
            events = [Event(0.05 * index, "write", value="A", writer=f"w{index}") for index in range(count)]
            events += [Event(2.0, "write", value="B")] if kind == "against" else []
            if subject.edges and pick.count(0, 2):
                events += [Event(2.0, "write", "y", "A", f"w{index}", edges=SUPPORT) for index in range(1, 2 * count)]
        else:
            events = pick.claims(pick.count(1, 4), values="AB")
        if kind == "certain":
            events = [replace(event, stated=pick.one(FOR_SURE)) for event in events]
        if kind == "late":
            events.append(Event(events[-1].t + LATE, "tick"))
        for _ in range(pick.count(0, 4)):
            events.append(Event(events[-1].t + pick.time(), pick.one(("tick", "read", "peek"))))
        return [*events, Event(events[-1].t + pick.time(), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write"):
            return None
        try:
            looks = subject.play(events)
        except (AdapterError, LawError) as problem:
            if "belief" in problem.problem or "not a number" in problem.problem:
                return f"{problem.problem}: {problem.given}"
            raise
        for look in looks:
            for item in look.items:
                belief, rank = item.get("belief"), item["rank"]
                if not is_number(rank) or (belief is not None and not 0.0 <= belief <= 1.0):
                    return f"{item['value']} has a belief of {belief} and a rank of {rank}"
        return None


class Consistency(Axiom):
    """Two rival values never both have a belief above one half, and the beliefs of rivals sum to at most 1."""

    requires = "belief"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw claims of two or more values, simultaneous or apart, by one or more writers, once or in alternation."""
        values = pick.by_turns(("AB", "ABC", "ABCDE", "AB", "ABABABABAB", "ABCABCABC"))
        one_voice = len(set(values)) == len(values) and pick.count(0, 1)
        claims, t = list[Event](), 0.0
        for index, value in enumerate(values):
            claims.append(Event(round(t, 6), "write", value=value, writer="ann" if one_voice else f"w{index}"))
            t += pick.by_turns((pick.time(0.1, 30.0), 0.0, pick.time(0.1, 30.0)))
        tick = [Event(round(t + 1.0, 6), "tick")] if pick.count(0, 1) else []
        return [*claims, *tick, Event(round(t + 1.0 + pick.time(MINUTE, 1.0), 6), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        values = [event.value for event in events if event.do == "write"]
        if not is_stream(events, "write") or len(set(values)) < 2:  # noqa: PLR2004  # at least two rival values
            return None
        scores = sorted(((score, value) for value, score in last(subject, events).scores.items()), reverse=True)
        several = len(scores) > 1 and scores[1][0] > HALF + subject.tolerance
        if not several and math.fsum(score for score, _ in scores) <= 1.0 + len(scores) * subject.tolerance:
            return None
        return " and ".join(f"{value} is {number(score)}" for score, value in scores if score > HALF or not several)


class FurtherVoice(Axiom):
    """An additional agreeing writer does not reduce a value's score to 0."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        voices, gap = pick.by_turns((4, 12, 3, 7)), pick.time(MINUTE, 1.0)
        return [*(Event(gap * n, "write", value="A", writer=f"w{n}") for n in range(voices)), Event(gap * voices, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        claims = [event for event in events if event.do == "write"]
        if not is_stream(events, "write") or len({event.writer for event in claims}) < len(claims):
            return None
        if {event.value for event in claims} != {"A"}:
            return None
        stream = [event for claim in claims for event in (claim, Event(claim.t, "tick"), Event(claim.t, "peek"))]
        scores = [look.score("A") for look in subject.play(stream)]
        for count, (before, after) in enumerate(pairwise(scores), 1):
            if before > subject.tolerance >= after:
                return f"A is {number(before)} with {count} writers, and {number(after)} with {count + 1}"
        return None


class Reinforcement(Axiom):
    """Agreement, use or success does not lower a score."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw a claim, with or without a rival, followed by reads of the claim and by claims that agree with it."""
        events, t = [Event(0.0, "write", value="A", stated=pick.by_turns((0.9, UNSTATED, 0.9)))], 0.0
        if pick.by_turns((False, True)):
            events.append(Event(pick.time(0.1, 1.0), "write", value="B", writer="zoe"))
            t = events[-1].t
        for _ in range(pick.count(1, 3)):
            t += pick.time(0.01, 30.0)
            writer = pick.one(("ann", "bob", "cid"))
            stated = events[0].stated if writer == "ann" else pick.one((UNSTATED, 0.3, 0.3, 0.95))
            again = Event(t, "write", value="A", writer=writer, stated=stated)
            backs = Event(t, "write", "y", "A", "cid", edges=(Edge("supports", "x is A"),))
            events.append(pick.one((Event(t, "read"), again, backs if subject.edges else again)))
        events += [Event(t + pick.time(1.0, 60.0), "tick")][: pick.count(0, 1)]
        return [*events, Event(events[-1].t + pick.time(0.1, 30.0), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write") or events[0].do != "write" or events[0].t > events[-1].t:
            return None
        plain = [events[0], *(event for event in events[1:] if event.value == "B" or event.do not in ("write", "read"))]
        if len(plain) == len(events):
            return None
        alone, again = last(subject, plain).score("A"), last(subject, events).score("A")
        if again < alone - subject.tolerance:
            return f"A is {number(again)}; without use or repetition it would be {number(alone)}"
        return None


class Stated(Axiom):
    """Stating a claim with more confidence does not lower its score."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw a claim with a random or zero stated confidence, alone or with a rival."""
        stated = round(LEAST + 0.9 * pick.share() * (MOST - LEAST), 2)
        claim = Event(0.0, "write", value="A", stated=pick.one((stated, stated, 0.0)))
        t = pick.time(0.1, 30.0)
        rival = Event(t, "write", value="B", writer="bob")
        end = t + pick.time(MINUTE, 30.0)
        return [claim, *([rival] if pick.by_turns((False, True)) else []), Event(end, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        claims = [event for event in events if event.value == "A"]
        if not is_stream(events, "write") or len(claims) != 1:
            return None
        doubtful, look = claims[0].stated, last(subject, events)
        for surer in (round((doubtful + MOST) / 2.0, 2), MOST, 1.0):
            sure = last(subject, [replace(event, stated=surer) if event is claims[0] else event for event in events])
            if surer > doubtful and sure.score("A") < look.score("A") - subject.tolerance:
                low, high = number(look.score("A")), number(sure.score("A"))
                return f"A is {low} when stated at {doubtful:g}, and {high} when stated at {surer:g}"
        return None


class Success(Axiom):
    """The belief in a fresh, uncontested claim by one or more writers is above one half, before and after a tick."""

    requires = "belief"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        stated, t = round(0.7 + 0.3 * pick.share(), 2), pick.time(MINUTE, 0.5)
        voices = pick.by_turns((1, 1, 3, 6))
        claims = [Event(0.0, "write", value="A", writer=f"w{index}", stated=stated) for index in range(voices)]
        return [*claims, *([Event(t, "tick")] if pick.by_turns((False, True, True)) else []), Event(t, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write") or {event.value for event in events if event.do == "write"} != {"A"}:
            return None
        if events[0].t >= events[-1].t or events[0].do != "write":
            return None
        score = last(subject, events).score("A")
        return None if score > HALF else f"A is {number(score)}, though no claim contradicts it"


class TotalEvidence(Axiom):
    """No write, and no tick right after it, removes the last item about an object."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        events: list[Event] = []
        kind = pick.by_turns(("apart", "at once", "ticks", "late"))
        for claim in pick.claims(pick.count(1, 5), values=pick.one(("AB", "ABC"))):
            t = 0.0 if kind == "at once" else LONG - claim.t if kind == "late" else claim.t
            events += [claim.moved(lambda _, t=t: t), *([Event(t, "tick")] if kind == "ticks" else []), Event(t, "peek")]  # type: ignore[misc]
        return events

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write") or events[0].do != "write":
            return None
        count = 0
        for peek, look in zip((event for event in events if event.do == "peek"), subject.play(events), strict=True):
            if count and not look.items:
                return f"x has {count} item{'s' * (count != 1)}, and none after the claim of day {peek.t:g}"
            count = len(look.items)
        return None
