"""Axioms about time: age, ticks and time shifts."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.axiom import Axiom
from malsim.judging.axioms.engine.compare import differs, in_order, is_stream, keeps_clock, last, number, without
from malsim.judging.axioms.engine.events import HOUR, MINUTE, UNSTATED, WRITERS, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

EXACT = 64.0  # times and shifts are multiples of 1/64 day, so that shifting keeps the differences exact
SHIFTS = (3.484375, 256.0, 4096.984375)
FAR = 1000.0
# Days: bounds on the gap between claims, and the longest wait before a peek.
SHORTEST, LONG, LONGEST, LOOK = 5.0, 60.0, 400.0, 50.0
PERIODS = ((1.0 / 24.0, 12), (30.0, 8), (7.0, 34), (1.0, 110), (60.0, 4))  # (days between ticks, number of ticks)
FACTS = ("x", "y", "fact 3", "fact 4", "fact 5")


class Anchor(Axiom):
    """Repeating a tick at the same instant changes no score."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        claims = pick.by_turns((pick.claims(pick.count(1, 3)), pick.claims(2), pick.story()))
        now = claims[-1].t + pick.time(1.0, 120.0)
        return [*claims, Event(now, "tick"), Event(now, "tick"), Event(now, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        ticks = [event.do == "tick" and event.t == events[-1].t for event in events[-3:-1]]
        if not is_stream(events, "write") or ticks != [True, True] or max(event.t for event in events) > events[-1].t:
            return None
        return differs(last(subject, without(events, events[-2])), last(subject, events), "after a second tick")


class Cadence(Axiom):
    """Scores right after a tick do not depend on how many ticks came before it."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        claims = [
            Event(0.1 * index, "write", value=pick.one("AB"), writer=pick.one(("ann", "bob")))
            for index in range(pick.count(1, 3))
        ]
        if pick.by_turns((False, False, True)):
            # Reads are left out because their effect may depend on the preceding tick.
            story = [event for event in pick.story() if event.do != "read"]
            return [*story, Event(story[-1].t + 1.0, "tick"), Event(story[-1].t + 1.0, "peek")]
        period, count = pick.by_turns(((pick.time(0.05, 14.0), pick.count(2, 8)), (10.0, 12), (0.15, 5), (1.0, 40)))
        ticks = [Event(round(0.3 + period * (index + 1), 3), "tick") for index in range(count)]
        return [*claims, *ticks, Event(ticks[-1].t, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        ticks = [event for event in events if event.do == "tick"]
        if not is_stream(events, "write", "tick") or events[0].do != "write" or any(event.do == "read" for event in events):
            return None
        if len(ticks) < 2 or len({event.t for event in ticks}) < len(ticks):  # noqa: PLR2004  # at least two distinct ticks
            return None
        plain = without(events, *ticks[:-1])
        if not max(event.t for event in events) == ticks[-1].t == events[-1].t or not keeps_clock(events, plain):
            return None
        return differs(last(subject, events), last(subject, plain), f"with only the last of the {len(ticks)} ticks")


class Calendar(Axiom):
    """Shifting all events by the same number of hours or days changes no score."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        count = pick.by_turns((2, 4, 1, 0))
        events = [event.moved(_exact) for event in (pick.claims(count) if count else pick.story())]
        for _ in range(pick.count(0, 3)):
            events.append(Event(_exact(events[-1].t + pick.time(0.1, 60.0)), pick.one(("tick", "read"))))
        return [*events, Event(_exact(events[-1].t + pick.time(MINUTE, 90.0)), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write") or any(event.t != _exact(event.t) for event in events):
            return None
        plain = last(subject, events)
        for days in SHIFTS:
            # The default value binds the loop variable.
            moved = [event.moved(lambda t, days=days: t + days) for event in events]  # type: ignore[misc]
            why = differs(plain, last(subject, moved), f"when the whole stream is {days:g} days later")
            if why:
                return why
        return None


class HalfLifeHalves(Axiom):
    """After one declared half-life, a score has fallen halfway to its final level.

    The axiom does not apply to a memory that declares no half-life.
    """

    def needs(self, subject: Subject) -> str | None:
        return None if subject.half_life else "it declares no half-life"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        half_life = subject.half_life or 1.0
        t = 0.0 if not pick.count(0, 2) else pick.time(0.1, 30.0)
        return [Event(t, "write", value="A"), Event(t + half_life, "tick"), Event(t + half_life, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if [event.do for event in events] != ["write", "tick", "peek"] or not subject.half_life:
            return None
        t, late = events[0].t, events[0].t + FAR * subject.half_life
        if events[1].t != t + subject.half_life or events[2].t != events[1].t:
            return None
        start = last(subject, [events[0], Event(t, "peek")]).score("A")
        end = max(last(subject, [events[0], Event(late, "tick"), Event(late, "peek")]).score("A"), 0.0)
        half = max(last(subject, events).score("A"), 0.0)
        if abs((half - end) - (start - end) / 2.0) <= subject.tolerance:
            return None
        middle = number((start + end) / 2.0)
        return f"it falls from {number(start)} to {number(end)}, and is {number(half)} after its half-life, not {middle}"


class MonotoneAge(Axiom):
    """A score does not rise with age alone."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        claims = pick.claims(pick.count(1, 3))
        first = claims[-1].t + pick.time()
        return [*claims, Event(first, "peek"), Event(first + pick.time(), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write") or [event.do for event in events].count("peek") != 2:  # noqa: PLR2004  # two peeks
            return None
        young, old = subject.play(events)
        for value, score in young.scores.items():
            if old.score(value) > score + subject.tolerance:
                first, second = (f"{events[row].t:g}" for row in (-2, -1))
                return f"{value} is {number(score)} on day {first} and {number(old.score(value))} on day {second}"
        return None


class NewerNotBelowOlder(Axiom):
    """The newer of two equal claims about separate objects does not score below the older one.

    The scores come from two queries. Ranks need not be comparable across queries, so only beliefs are compared for a
    user's own memory.
    """

    def needs(self, subject: Subject) -> str | None:
        return "the ranks of two questions are not compared" if subject.user and not subject.belief else None

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        later = pick.time()
        now = later + pick.time()
        older, newer = Event(0.0, "write", value="A"), Event(later, "write", object="y", value="A")
        return [older, newer, Event(now, "peek", object="x"), Event(now, "peek", object="y")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if [(event.do, event.object) for event in events] != [("write", "x"), ("write", "y"), ("peek", "x"), ("peek", "y")]:
            return None
        if not (events[0].t < events[1].t <= events[2].t == events[3].t):
            return None
        looks = subject.play(events)
        if subject.user and not all(any(item.get("belief") is not None for item in look.items) for look in looks):
            return None
        older, newer = (look.score("A") for look in looks)
        if newer < older - subject.tolerance:
            return f"the older claim is {number(older)}, the newer one {number(newer)}"
        return None


class EarlierSupport(Axiom):
    """A value does not score lower because it was also claimed earlier."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw claims of value A, a gap, and another claim of A, in some cases followed by a rival claim and a tick."""
        events, t = list[Event](), 0.0
        for writer in WRITERS[: pick.count(1, 2)]:
            events.append(Event(t, "write", value="A", writer=writer))
            t = round(t + pick.time(HOUR, 1.0), 3)
        t = round(t + pick.time(pick.one((SHORTEST, LONG)), LONGEST), 3)
        events.append(Event(t, "write", value="A", writer=pick.one(("ann", "ann", "cid"))))
        if pick.by_turns((False, False, True)):
            events.append(Event(t + MINUTE, "write", value="B", writer="zoe"))
        end = round(t + pick.time(HOUR, LOOK), 3)
        return [*events, *([Event(end, "tick")] if pick.by_turns((True, False)) else []), Event(end, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        claims = [event for event in events if event.do == "write"]
        for_a = [event for event in claims if event.value == "A"]
        # At least an earlier and a later claim are needed.
        if not is_stream(events, "write") or not in_order(claims) or len(for_a) < 2:  # noqa: PLR2004
            return None
        alone, look = last(subject, without(events, *for_a[:-1])).score("A"), last(subject, events).score("A")
        if look >= alone - subject.tolerance:
            return None
        return f"A is {number(look)}; claimed only on day {for_a[-1].t:g} it would be {number(alone)}"


class SurvivalFloor(Axiom):
    """Months of ticks do not delete a value that was never contradicted."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw claims about one or more objects, then hourly, daily, weekly, monthly or bimonthly ticks."""
        period, count = pick.by_turns(PERIODS)
        ticks = [Event(round(period * (index + 1), 6), "tick") for index in range(count)]
        facts = FACTS[: pick.one((1, 2, 5))]
        claims = [Event(0.0, "write", about, "A", stated=pick.one((0.5, UNSTATED, 0.9))) for about in facts]
        return [*claims, *ticks, *(Event(ticks[-1].t, "peek", about) for about in facts)]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write", "tick"):
            return None
        facts = [event.object for event in events if event.do == "write"]
        questions = [event.object for event in events if event.do == "peek"]
        if len(set(facts)) < len(facts) or not set(questions) <= set(facts) or events[0].do != "write":
            return None
        ticks = [event for event in events if event.do == "tick"]
        deleted = next((name for name, look in zip(questions, subject.play(events), strict=True) if not look.items), None)
        if deleted is None:
            return None
        return f"{deleted} is A was never contradicted, and was deleted by {len(ticks)} ticks up to day {ticks[-1].t:g}"


def _exact(t: float) -> float:
    return round(t * EXACT) / EXACT
