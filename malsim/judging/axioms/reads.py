"""Axioms about reads and peeks."""

from collections.abc import Sequence

from malsim.adapters.checked_memory import MANY
from malsim.judging.axioms.engine.axiom import Axiom
from malsim.judging.axioms.engine.compare import differs, is_stream, keeps_clock, last, leads, number, overtaken, without
from malsim.judging.axioms.engine.events import HOUR, MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

WEEKS = 30


class Limit(Axiom):
    """The first item and its score do not depend on the number of requested items."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw rival claims, and peeks that request one item, two items and all items."""
        events = pick.by_turns((pick.claims(3), pick.story(), pick.claims(6)))
        now = max(event.t for event in events) + pick.time(MINUTE, 30.0)
        return [*events, *(Event(now, "peek", limit=limit) for limit in (1, 2, MANY))]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        limits = [event.limit for event in events if event.do == "peek" and event.t == events[-1].t]
        if not is_stream(events, "write") or limits[-1] != MANY:
            return None
        *some, every = subject.play(events)[-len(limits) :]
        for limit, look in zip(limits[:-1], some, strict=True):
            for item in look.items[:1]:
                value, first = str(item["value"]), str(every.items[0]["value"]) if every.items else ""
                score, whole = look.first(value), every.first(value)
                if abs(score - whole) > subject.tolerance or whole < every.first(first) - subject.tolerance:
                    best = number(every.first(first))
                    return f"{value} is first with {number(score)} of {limit} items, and {first} with {best} of all items"
        return None


class Peek(Axiom):
    """A peek changes nothing."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        events, now = list[Event](), 0.0
        for event in pick.by_turns((pick.claims(pick.count(1, 3)), pick.story())):
            now = max(now, event.t)
            events += [event, *[Event(now, "peek", event.object)][: pick.count(0, 3)]]
        events.append(Event(events[-1].t + 1.0, pick.one(("tick", "read"))))
        return [*events, Event(events[-1].t + pick.time(MINUTE, 60.0), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        looks = [event for event in events[:-1] if event.do == "peek"]
        if not is_stream(events, "write") or not looks:
            return None
        plain = without(events, *looks)
        if not keeps_clock(events, plain):
            return None
        return differs(last(subject, plain), last(subject, events), "after earlier peeks")


class ReadIdempotence(Axiom):
    """A read does not change the scores right after it."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw a claim, with or without a rival, and reads of the same or another object, or a story ending with reads."""
        if pick.by_turns((False, True)):
            story = pick.story()
            reads = [Event(story[-1].t + 1.0, "read", pick.one("xxy")) for _ in range(pick.count(1, 3))]
            return [*story, *reads, Event(reads[0].t, "peek")]
        claims = [Event(0.0, "write", value="A"), Event(0.0, "write", "y", "B", "bob")][: pick.count(1, 2)]
        claims += [Event(0.05, "write", value="B", writer="bob")] if pick.count(0, 1) else []
        now = pick.time(0.1, 60.0)
        about = [pick.one("xy") if len(claims) > 1 and claims[1].object == "y" else "x" for _ in range(pick.count(1, 3))]
        return [*claims, *(Event(now, "read", item) for item in about), Event(now, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        reads = [event for event in events if event.do == "read" and event.t == events[-1].t]
        if not is_stream(events, "write") or not reads or any(event.t > events[-1].t for event in events):
            return None
        return differs(last(subject, without(events, *reads)), last(subject, events), f"right after {len(reads)} reads")


class ReadKeepsLead(Axiom):
    """Reads do not change which value leads."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw rivals with unequal support, reads and a pause, or a claim that is dated before a read but arrives later."""
        t, now = pick.time(0.1, 20.0), pick.time(25.0, 40.0)
        voices = ("ann", "bob", "cid")[: pick.by_turns((1, 3, 2))]
        first = [Event(round(0.1 * index, 1), "write", value="A", writer=writer) for index, writer in enumerate(voices)]
        rival = Event(t, "write", value="B", writer="zoe", stated=pick.one((0.5, 0.7)))
        reads = [Event(now + index, "read") for index in range(pick.count(1, 6))]
        if pick.by_turns((False, False, True)):
            late = Event(now - 1.0, "write", value="B", writer="zoe")
            return [first[0], reads[0], late, Event(now + pick.time(HOUR, 5.0), "peek")]
        end = reads[-1].t + pick.time(5.0, 200.0)
        return [*first, rival, *reads, *[Event(end, "tick")][: pick.count(0, 1)], Event(end, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write", "read"):
            return None
        unread = [event for event in events if event.do != "read"]
        return overtaken(last(subject, unread), last(subject, events), "it is read")


class Reachability(Axiom):
    """A read finds the leading value, and a value that was never contradicted is not hidden."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        former = [Event(0.0, "write", value="B")] if pick.by_turns((False, True)) else []
        claims = [*former, Event(2.0, "write", value="A"), Event(2.0 + pick.time(0.1, 1.0), "write", value="A")]
        ticks = [Event(3.0 + 7.0 * (week + 1), "tick") for week in range(pick.count(1, WEEKS))]
        return [*claims, *ticks, Event(ticks[-1].t, "read"), Event(ticks[-1].t, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write", "read") or events[-2].do != "read":
            return None
        look = last(subject, events)
        missing = look.answer is not None and not any(item["value"] == "A" for item in look.answer)
        if any(event.value == "B" for event in events):
            hidden = missing and leads(look, "A")
            return None if not hidden else f"A leads with {number(look.score('A'))}, and a read does not find it"
        if look.items and all(item["rank"] == 0.0 for item in look.items):
            return "A is stored, and its rank of 0 hides it"
        return "A is stored, and a read does not find it" if look.items and missing else None


class Unsaid(Axiom):
    """A value that nobody claimed has no score above 0."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        events = pick.claims(pick.count(1, 4))
        for _ in range(pick.count(0, 2)):
            events.append(Event(events[-1].t + pick.time(), pick.one(("tick", "read"))))
        now = events[-1].t
        return [*events, Event(now, "peek", "y"), Event(now, "peek", "x")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write") or any(event.do == "write" and event.object != "x" for event in events):
            return None
        given = {"x": {event.value for event in events if event.do == "write"}}
        looks = [event.object for event in events if event.do == "peek"]
        for about, look in zip(looks, subject.play(events), strict=True):
            for value, score in look.scores.items():
                if value not in given.get(about, set()) and score > subject.tolerance:
                    return f"{about} is {value} has a score of {number(score)}, although nobody claimed it"
        return None
