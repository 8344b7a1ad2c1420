"""Axioms about how claims arrive: order, repetition, names and batches."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from malsim.adapters import Edge
from malsim.judging.axioms.engine.axiom import Axiom
from malsim.judging.axioms.engine.compare import differs, is_stream, last, number, without
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import NOWHERE, Subject

LONG = "the same long name, of which only the very last letter is another one: number"
WRITERS = ("ann", "bob", "cid", "zoe", "dan", "eve")
ALIKE = (  # alternative names for the values A, B and C, the writers, and the objects x and y
    (("C", "A", "B"), ("cid", "ann", "eve", "bob", "zoe", "dan"), ("y", "x")),
    (("port", "Port", "PORT"), ("agent", "Agent", "AGENT", "agent 2", "agent 21", "agent-2"), ("thing", "Thing")),
    (("1", "1.0", "1.9"), ("w1", "w2", "w11", "w21", "w3", "w12"), ("thing 1", "thing 2")),
    (("open", "open door", "not open"), ("a", "b", "ab", "ba", "aa", "bb"), ("thing", "thing 2")),
    (("none", "null", "unknown"), ("x@y.eu", "x@y.uk", "x-y", "x_y", "x y", "xy"), ("a/b", "a.b")),
    (("false", "0", "no"), ("Jörg", "Jürg", "Jorg", "Jurg", "Jоrg", "J"), ("Straße", "Strasse")),
    (("5 €", "5 £", "5 ¥"), ("Анна", "Олег", "安娜", "奥列格", "آنا", "علي"), ("город", "порт")),
    (("2026-01-02", "2026-02-01", "2025-01-02"), tuple(f"{LONG} {n}" for n in range(6)), (f"{LONG} 1", f"{LONG} 2")),
    (tuple(f"{LONG} {n}" for n in range(3)), ("9", "10", "100", "0", "00", "-1"), ("10", "100")),
)
OTHERS: tuple[Mapping[str, str], ...] = tuple(
    dict(zip(("A", "B", "C", *WRITERS, "x", "y"), (*values, *writers, *things), strict=True))
    for values, writers, things in ALIKE
)
PERMUTED = 1  # number of leading entries in ALIKE that only permute the usual names


class Batching(Axiom):
    """Simultaneous claims give the same scores whether written in one call or several, and in any order of writers."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw two, three or twelve simultaneous claims about one or two objects, each by a different writer."""
        t, count = pick.time(), pick.by_turns((2, 3, 2, 12))
        about = pick.one(("x", "xy")) if count > 2 else "x"  # noqa: PLR2004
        claims = [Event(t, "write", pick.one(about), pick.one("AB"), f"w{index}") for index in range(count)]
        return [*claims, Event(t + pick.time(), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        claims = events[:-1]
        if not is_stream(events, "write") or {(event.do, event.t) for event in claims} != {("write", events[0].t)}:
            return None
        if len({event.writer for event in claims}) < len(claims):
            return None
        reverse, plain = [*claims[::-1], events[-1]], last(subject, events)
        return (
            differs(plain, last(subject, events, together=True), "in one call")
            or differs(plain, last(subject, reverse), "in reverse order of writers")
            or differs(plain, last(subject, reverse, together=True), "in one call and reverse order of writers")
        )


class DeliveredTwice(Axiom):
    """A claim that is delivered twice counts once."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        claims = pick.by_turns((pick.claims(pick.count(1, 2)), pick.claims(3), pick.story()))
        claims = [event for event in claims if event.do == "write"]
        if subject.edges and pick.count(0, 1):
            edges = (Edge("contradicts", f"x is {claims[0].value}"),)
            claims.append(Event(claims[-1].t + 1.0, "write", "y", "C", "eve", edges=edges))
        index = pick.one((pick.count(0, len(claims) - 1), len(claims) - 1))
        twice = claims[index].moved(lambda t: t)
        claims.insert(index + 1, twice)
        return [*claims, Event(claims[-1].t + pick.time(MINUTE, 30.0), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        writes = [event for event in events if event.do == "write"]
        again = next((later for claim, later in pairwise(writes) if claim == later), None)
        if not is_stream(events, "write") or again is None:
            return None
        return differs(last(subject, without(events, again)), last(subject, events), "when a claim is delivered twice")


class LateArrival(Axiom):
    """An older claim that arrives late neither overtakes a newer rival nor lowers a newer claim that agrees with it."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw two claims by one or two writers, minutes to months apart.

        In some cases the older claim agrees with the newer one.
        """
        older, apart = pick.time(0.1, 30.0), pick.time(0.1, 120.0)
        if pick.by_turns((False, False, True, True)):
            older, apart = float(pick.count(1, 30)), pick.time(MINUTE, 0.9)
        newer = older + apart
        claims = [Event(newer, "write", value="B"), Event(older, "write", value="A", writer=pick.by_turns(("ann", "bob")))]
        if pick.by_turns((False, False, False, False, True)):
            claims[1] = Event(older, "write", value="B", writer="cid")
        now = newer + pick.time(1.0, 30.0)
        waits = [Event(now, "peek", "y")] if pick.by_turns((False, True, True)) else []
        return [claims[0], *waits, claims[1], Event(now + pick.time(MINUTE, 30.0), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        claims = [event for event in events if event.do == "write"]
        values, writers = [event.value for event in claims], {event.writer for event in claims}
        if not is_stream(events, "write") or values not in (["B", "A"], ["B", "B"]):
            return None
        if not claims[1].t < claims[0].t <= events[-1].t or (values[1] == "B" and len(writers) == 1):
            return None
        alone, look = last(subject, without(events, claims[1])), last(subject, events)
        before, after = alone.score("B"), look.score("B")
        if values[1] == "B":
            lower = after < before - subject.tolerance
            return f"B is {number(before)}, and {number(after)} when an older claim of B arrives" if lower else None
        if look.score("A") > after + subject.tolerance:
            return f"A, the older claim, is {number(look.score('A'))}, and B is {number(after)}"
        return "B is gone when A, an older claim, arrives" if after == NOWHERE != before else None


class Names(Axiom):
    """Renaming writers, objects and values changes no score."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw claims about two objects, some of them simultaneous, or draw a story (see `Pick.story`)."""
        if pick.by_turns((False, False, True)):
            story = pick.story()
            return [*story, Event(story[-1].t + 1.0, "peek")]
        claims = []
        for _ in range(pick.by_turns((2, 3, 5))):
            t = round(0.5 * pick.count(0, 4), 1)
            claims.append(Event(t, "write", pick.one("xy"), pick.one("ABC"), pick.one(("ann", "bob", "cid"))))
        return [*sorted(claims, key=lambda event: event.t), Event(3.0, "peek", "x")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write"):
            return None
        plain = last(subject, events)
        by_text = any(item.get("read") for item in plain.items)  # similar values may be confused if they are read from text
        for names in OTHERS[:PERMUTED] if by_text else OTHERS:
            used = {name for event in events for name in (event.object, event.value, event.writer)}
            if not used & {*names}:
                continue
            renamed = []
            for event in events:
                parts = {part: getattr(event, part) for part in ("object", "value", "writer") if getattr(event, part)}
                renamed.append(replace(event, **{part: names.get(name, name) for part, name in parts.items()}))
            other = last(subject, renamed)
            for value in "ABC":
                before, after = plain.score(value), other.score(names.get(value, value))
                if before != after and not abs(before - after) <= subject.tolerance:
                    changes = ", ".join(f"{old} is called {new}" for old, new in names.items() if old in used)
                    return f"{value} is {number(before)}, and {number(after)} where {changes}"
        return None


class Neutral(Axiom):
    """A write without claims changes no score."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        claims = pick.by_turns((pick.claims(pick.count(1, 2)), pick.claims(1), pick.story()))
        t = claims[-1].t + pick.time()
        return [*claims, Event(t, "nothing"), Event(t, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write", "nothing"):
            return None
        plain = [event for event in events if event.do != "nothing"]
        return differs(last(subject, plain), last(subject, events), "after a write without claims")


class Repeatable(Axiom):
    """The same stream gives the same scores in a second memory."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        events = pick.by_turns((pick.claims(1), pick.claims(5), pick.story()))
        for _ in range(pick.count(0, 3)):
            events.append(Event(events[-1].t + pick.time(), pick.one(("tick", "read"))))
        return [*events, Event(events[-1].t + pick.time(MINUTE, 60.0), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write"):
            return None
        return differs(last(subject, events), last(subject, events), "in a second memory")
