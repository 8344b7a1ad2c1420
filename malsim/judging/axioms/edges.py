"""Axioms about edges between claims."""

from collections.abc import Sequence
from dataclasses import replace

from malsim.adapters import Edge
from malsim.judging.axioms.engine.axiom import Axiom
from malsim.judging.axioms.engine.compare import differs, in_order, is_stream, last, leads, number, without
from malsim.judging.axioms.engine.events import MINUTE, WRITERS, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

THINGS, VALUES = ("x", "x", "x 2", "y"), ("1", "10", "11", "A")
SHARED = (("x", "1"), ("y", "1"), ("y", "2"))  # the objects x and y share the value 1
TICKS = 100


class DerivedFalls(Axiom):
    """A derived claim's score falls when its source is refuted."""

    requires = "edges"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        source = Event(0.0, "write", value="A", writer="ann")
        derived = Event(1.0, "write", object="y", value="A", writer="bob", edges=(Edge("derived_from", "x is A"),))
        refutes = Event(2.0, "write", value="B", writer="cid", stated=0.9, edges=(Edge("contradicts", "x is A"),))
        further = Event(1.5, "write", "z", "A", "zoe", edges=(Edge("derived_from", "y is A"),))
        ticks = [Event(3.0 + day, "tick") for day in range(pick.count(3, 6))]
        chain = pick.by_turns(([derived], [derived, further]))
        return [source, *chain, refutes, *ticks, Event(ticks[-1].t, "peek", object=chain[-1].object)]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        refutes = [event for event in events if event.value == "B"]
        linked_to = "".join(event.object for event in events if event.do == "write" and event.value == "A")
        if not is_stream(events, "write", "tick") or len(refutes) != 1 or linked_to not in ("xy", "xyz"):
            return None
        if events[-1].object != linked_to[-1]:
            return None
        before, after = last(subject, without(events, *refutes)).score("A"), last(subject, events).score("A")
        if after < before - subject.tolerance:
            return None
        return f"{linked_to[-1]} is {number(before)}, and {number(after)} although its source is refuted"


class EdgeTarget(Axiom):
    """A contradiction lowers only the score of the claim that it targets, and no score if that claim does not exist."""

    requires = "edges"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw claims about objects with similar names or values, and a contradiction of one of them or of no claim."""
        alike = pick.one((SHARED, tuple(zip(THINGS, VALUES, strict=True))[: pick.count(1, 4)]))
        claims = [
            Event(float(index), "write", about, value, f"w{index}", pick.one((0.5, 0.7)))
            for index, (about, value) in enumerate(alike)
        ]
        target = pick.by_turns((claims[0].claim.text, "x is gone", claims[0].claim.text))
        against = Event(5.0, "write", pick.by_turns(("z", "x")), "B", "bob", edges=(Edge("contradicts", target),))
        looks = [Event(7.0, "peek", about) for about in dict.fromkeys((*(about for about, _ in alike), against.object))]
        return [*claims, against, Event(6.0, "tick"), Event(7.0, "tick"), *looks]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write") or sum(len(event.edges) for event in events) != 1:
            return None
        target = next(edge.target for event in events for edge in event.edges)
        plain = subject.play([replace(event, edges=()) for event in events])
        abouts = [event.object for event in events if event.do == "peek"]
        for about, before, after in zip(abouts, plain, subject.play(events), strict=True):
            for value in before.scores:
                if f"{about} is {value}" != target and after.score(value) < before.score(value) - subject.tolerance:
                    return (
                        f"{about} is {value}: {number(before.score(value))}, and {number(after.score(value))} "
                        f"with an edge to '{target}'"
                    )
        return None


class LoopPolarity(Axiom):
    """Contradicting a claim's attacker does not lower the claim's score."""

    requires = "edges"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        claim = Event(0.0, "write", value="A", writer="ann")
        edges = (Edge("contradicts", "x is A"),)
        attacks = Event(1.0, "write", value="B", writer="bob", stated=pick.one((0.5, 0.9)), edges=edges)
        defends = Event(2.0, "write", "y", "C", "cid", stated=pick.one((0.5, 0.9)), edges=(Edge("contradicts", "x is B"),))
        ticks = [Event(3.0 + day, "tick") for day in range(pick.count(30, 31))]
        return [claim, attacks, defends, *ticks, Event(ticks[-1].t, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        defends = [event for event in events if event.value == "C"]
        if not is_stream(events, "write", "tick") or len(defends) != 1 or events[0].value != "A" or events[1].value != "B":
            return None
        alone, after = last(subject, without(events, *defends)).score("A"), last(subject, events).score("A")
        if after < alone - subject.tolerance:
            return f"A is {number(alone)} under attack, and {number(after)} when its attacker is contradicted"
        return None


class NoLostUpdate(Axiom):
    """A stale update that supersedes an already superseded claim does not remove the newer value."""

    requires = "edges"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw value A, then B superseding A, then C, which also supersedes A because its writer has not seen B."""
        replaces, t = (Edge("supersedes", "x is A"),), pick.time(0.1, 30.0)
        stale = Event(t + pick.time(MINUTE, 1.0), "write", value="C", writer="cid", edges=replaces)
        ticks = [Event(stale.t + 1.0, "tick")] if pick.by_turns((False, True)) else []
        claims = [Event(0.0, "write", value="A"), Event(t, "write", value="B", writer="bob", edges=replaces), stale]
        return [*claims, *ticks, Event(stale.t + 2.0, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        writes = [event for event in events if event.do == "write"]
        edges = [[edge.target for edge in event.edges] for event in writes]
        if not is_stream(events, "write") or edges != [[], ["x is A"], ["x is A"]] or not in_order(writes):
            return None
        before, after = last(subject, without(events, writes[2])), last(subject, events)
        if "B" not in before.current or "B" in after.current:
            return None
        return f"B is {number(before.score('B'))}, and gone once a writer who has not seen B replaces A by C"


class Polarity(Axiom):
    """A contradiction does not raise the score of the claim that it contradicts."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        later, voices = pick.time(0.1, 120.0), pick.by_turns((1, 3, 1))
        claims = [Event(0.0, "write", value="A", writer=("ann", "cid", "zoe")[index]) for index in range(voices)]
        edges = (Edge("contradicts", "x is A"),) if subject.edges and pick.count(0, 1) else ()
        against = Event(later, "write", value="B", writer="bob", edges=edges)
        tick = [Event(later + MINUTE, "tick")] if pick.by_turns((False, True)) else []
        return [*claims, against, *tick, Event(later + pick.time(2 * MINUTE, 60.0), "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        rivals = [event for event in events if event.value == "B"]
        if not is_stream(events, "write") or len(rivals) != 1 or events[0].value != "A" or rivals[0].t <= events[0].t:
            return None
        if rivals[0].writer in {event.writer for event in events if event.value == "A"}:
            return None
        alone, against = last(subject, without(events, *rivals)).score("A"), last(subject, events).score("A")
        if against > alone + subject.tolerance:
            return f"A is {number(alone)}, and {number(against)} when B contradicts it"
        return None


class SelfSupport(Axiom):
    """A writer cannot raise the score of its own claim by supporting it."""

    requires = "edges"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        claim = Event(0.0, "write", value="A", stated=pick.one((0.5, 0.7)))
        support = [
            Event(float(day), "write", "y", value, edges=(Edge("supports", "x is A"),))
            for day, value in enumerate("ABC"[: pick.by_turns((1, 3))], start=1)
        ]
        return [claim, *support, Event(5.0, "tick"), Event(6.0, "tick"), Event(6.0, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        writes = [event for event in events if event.do == "write"]
        writers, has_edges = {event.writer for event in writes}, any(event.edges for event in writes)
        if not is_stream(events, "write") or len(writers) != 1 or not has_edges:
            return None
        plain, look = last(subject, [replace(event, edges=()) for event in events]), last(subject, events)
        if look.score("A") <= plain.score("A") + subject.tolerance:
            return None
        return f"A is {number(look.score('A'))} with support by its own writer, and {number(plain.score('A'))} without"


class Settling(Axiom):
    """The scores of a dispute settle within 100 ticks."""

    requires = "edges"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        stated = pick.one((0.3, 0.3, round(0.2 + 0.7 * pick.share(), 2)))
        rivals = [
            Event(0.1 * index, "write", value=value, writer=writer, stated=stated,
                  edges=tuple(Edge("contradicts", f"x is {other}") for other in "ABC"[:index]))
            for index, (value, writer) in enumerate(zip("ABC", ("ann", "bob", "cid"), strict=True))
        ]  # fmt: skip
        return [*rivals[: pick.count(2, 3)], Event(TICKS, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        if not is_stream(events, "write") or any(event.do not in ("write", "peek") for event in events):
            return None
        ticks = [Event(float(day), "tick") for day in range(1, TICKS + 1)]
        ends = [Event(float(TICKS), "peek"), Event(TICKS + 1.0, "tick"), Event(TICKS + 1.0, "peek")]
        before, after = subject.play([*events[:-1], *ticks, *ends])
        return differs(before, after, f"one tick later, after {TICKS} ticks")


class Superseded(Axiom):
    """A superseded value does not lead until all writers claim it again, and a superseded challenge lowers no score."""

    requires = "edges"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw B superseding A, possibly with all writers returning to A, or a challenge that its own writer supersedes."""
        later = pick.time(0.1, 60.0)
        first = Event(0.0, "write", value="A")
        if pick.by_turns((False, False, True)):
            against = Event(later, "write", "y", "B", "bob", edges=(Edge("contradicts", "x is A"),))
            back = Event(later + 1.0, "write", "y", "C", "bob", edges=(Edge("supersedes", "y is B"),))
            return [first, against, back, Event(later + 2.0, "tick"), Event(later + 3.0, "peek")]
        stated, writer = pick.one((0.5, 0.7)), pick.by_turns(("ann", "bob"))
        new = Event(later, "write", value="B", writer=writer, stated=stated, edges=(Edge("supersedes", "x is A"),))
        again = [Event(later + index, "write", value="A", writer=who) for index, who in enumerate(WRITERS, start=1)]
        again = again if pick.count(0, 1) else []
        return [first, new, *again, Event(later + 5.0, "tick"), Event(later + 6.0, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        writes = [event for event in events if event.do == "write"]
        if not is_stream(events, "write") or not in_order(events):
            return None
        look = last(subject, events)
        if [event.value for event in writes] == ["A", "B"] and writes[-1].object == "x":
            same_writer = writes[0].writer == writes[1].writer
            if leads(look, "B") if same_writer else not leads(look, "A"):
                return None
            return f"A is {number(look.score('A'))}, and B, which supersedes it, is {number(look.score('B'))}"
        returned = {event.writer for event in writes[:2]} <= {event.writer for event in writes[2:]}
        about, values = "".join(event.object for event in writes), "".join(event.value for event in writes)
        if about == "x" * len(writes) and values == "AB" + "A" * (len(writes) - 2) and returned:
            plain = last(subject, [event for event in events if event.t > writes[1].t])
            change = "although all claim it again after B superseded it"
        elif about == "xyy":
            plain, change = last(subject, without(events, writes[1])), "after a challenge that was retracted"
        else:
            return None
        if look.score("A") >= plain.score("A") - look.tolerance:
            return None
        return f"A is {number(plain.score('A'))}, and {number(look.score('A'))} {change}"
