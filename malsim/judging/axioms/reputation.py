"""Axioms about how claims about other objects affect a belief."""

from collections.abc import Sequence
from dataclasses import replace

from malsim.judging.axioms.engine.axiom import Axiom
from malsim.judging.axioms.engine.compare import differs, is_stream, last, number, overtaken, without
from malsim.judging.axioms.engine.events import MINUTE, UNSTATED, YEARS, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

PRIOR = 0.02  # ticks may learn a prior from all claims, so score changes up to this size are ignored
HONEST, LIARS = ("ann", "bob", "cid"), ("zoe", "dan")
MOST, ERRS, OWN = 30, 0.2, "own"
DISSENT = (("zoe", "B"), ("dan", "C"), ("eve", "D"), ("lou", "E"))


class Locality(Axiom):
    """Claims by new writers about other objects, and reads of those objects, change no score."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw claims by new writers about other objects, before or after the claims about x, which may arrive late."""
        few, two = pick.claims(pick.count(1, 3)), pick.claims(2)
        about_x = [event for event in pick.story() if event.object == "x" and event.writer != "zoe"]
        claims = pick.by_turns((few, two, [replace(event, stated=UNSTATED) for event in about_x] or pick.claims(1)))
        order = pick.by_turns(("after", "late", "before", "after", "before"))
        t = claims[-1].t + pick.time(MINUTE, 30.0 if order == "late" else YEARS)
        names = [("y", "zoe"), *((f"thing {index}", f"w{index % 9}") for index in range(1, pick.by_turns((1, 130, 2, 12))))]
        new = [Event(t, "write", about, pick.one("ABC"), writer) for about, writer in names]
        new += [Event(t, "read", new[0].object)] * pick.one((0, 3))
        end = t + pick.time(MINUTE, 30.0)
        if order == "after":
            return [*claims, *new, Event(end, "peek")]
        if order == "late":
            return [Event(t, "peek"), *new, *claims, Event(end, "peek")]
        return [*(event.moved(lambda _: 0.0) for event in new), *claims, Event(end, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        new = [event for event in events if event.object != "x"]
        writers = {event.writer for event in events if event.do == "write" and event.object == "x"}
        strangers = {event.writer for event in new if event.do == "write"}
        if not is_stream(events, "write") or not new or not writers or writers & strangers:
            return None
        plain = last(subject, without(events, *new))
        if any(event.do == "tick" for event in events):
            plain = replace(plain, tolerance=max(PRIOR, plain.tolerance))
        others = len({event.object for event in new})
        return differs(plain, last(subject, events), f"with claims of new writers about {others} other objects")


class OwnFacts(Axiom):
    """Claims about objects that nobody else mentions do not help a writer's value overtake the leading value."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw honest writers who sometimes err, and liars who contradict them and claim many facts of their own."""
        liars = LIARS[: pick.count(1, 2)]
        facts = [f"fact {number}" for number in range(pick.count(3, 8))]
        claims = [
            Event(0.0, "write", about, "AB"[(writer in LIARS) != (pick.share() < ERRS)], writer)
            for about in facts
            for writer in (*HONEST, *liars)
        ]
        flood = pick.count(MOST // 3, MOST)
        flood_claims = [
            Event(1.0, "write", f"{OWN} {writer} {number}", pick.one("AB"), writer)
            for writer in liars
            for number in range(flood)
        ]
        about = [Event(2.0, "write", "x", "B" if writer in LIARS else "A", writer) for writer in (*HONEST, *liars)]
        return [*claims, *flood_claims, *about, Event(3.0, "tick"), Event(3.0, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        flood_claims = [event for event in events if event.object.startswith(OWN)]
        alone = len({event.object for event in flood_claims}) == len(flood_claims)
        if not is_stream(events, "write", "tick") or not flood_claims or not alone:
            return None
        before, after = (last(subject, part, together=True) for part in (without(events, *flood_claims), events))
        a, b, lead = after.score("A"), after.score("B"), before.score("A") - before.score("B")
        if lead <= subject.tolerance or b <= a + subject.tolerance:
            return None
        facts = f"{len(flood_claims)} facts that nobody else mentions"
        return f"{facts} move A from {number(before.score('A'))} to {number(a)}, and B to {number(b)}"


class TrackRecord(Axiom):
    """A track record of agreement does not make a writer lose to a writer who mostly disagreed with the others."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw facts on which three writers agree, then claims about x by ann and by either zoe or a stranger."""
        stranger = pick.by_turns((False, True))
        start, facts = (0, pick.count(4, 8)) if stranger else (pick.count(2, 4), pick.count(9, 13))
        liars = DISSENT[: pick.count(1, len(DISSENT)) if stranger else 1]
        claims = [
            Event(float(day), "write", f"fact {day}", value, writer)
            for day in range(facts)
            for writer, value in (*_honest(day, start), *((liar, lie if day >= start else "A") for liar, lie in liars))
        ]
        about = [
            Event(facts + 1.0, "write", value="A"),
            Event(facts + 1.0, "write", value="B", writer="new" if stranger else "zoe"),
        ]
        about = about[::-1] if pick.count(0, 1) else about
        return [*claims, *about, Event(facts + 2.0, "tick"), Event(facts + 2.0, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        about = {event.writer: event.value for event in events if event.do == "write" and event.object == "x"}
        facts = [event for event in events if event.do == "write" and event.object != "x"]
        writers = {event.writer for event in facts}
        liars = {writer for writer in writers if _is_alone(facts, writer)}
        if not is_stream(events, "write", "tick") or about not in ({"ann": "A", "zoe": "B"}, {"ann": "A", "new": "B"}):
            return None
        if not liars or not {"zoe", *liars} <= {"zoe", *(name for name, _ in DISSENT)} or "new" in writers:
            return None
        if "zoe" in about and "zoe" not in liars:
            return None
        omitted = [event for event in facts if event.writer in liars or "zoe" in about]
        plain = [event for event in events if event not in omitted]
        before, after = last(subject, plain, together=True), last(subject, events, together=True)
        return overtaken(before, after, f"{len(omitted)} claims about other objects are made", ties="A")


class Vacuity(Axiom):
    """A claim about one object does not change beliefs about another object."""

    requires = "belief"

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        claims = pick.claims(pick.count(1, 3))
        t = claims[-1].t + pick.time()
        return [*claims, Event(t, "write", object="y", value="A", writer=claims[-1].writer), Event(t, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        new = [event for event in events if event.object == "y"]
        if not is_stream(events, "write") or len(new) != 1 or len(events) < 3 or new[0].t != events[-1].t:  # noqa: PLR2004
            return None
        return differs(last(subject, without(events, *new)), last(subject, events), "after a claim about y")


def _honest(day: int, start: int) -> list[tuple[str, str]]:
    """Return (writer, value) pairs: all writers claim A, but ann errs on day 0 if the liars start honestly."""
    return [(writer, "B" if writer == "ann" and day == 0 and start > 0 else "A") for writer in HONEST]


def _is_alone(facts: Sequence[Event], writer: str) -> bool:
    """Return whether fewer than half of a writer's claims are shared by at least two other writers."""
    shared = [
        sum((event.object, event.value) == (claim.object, claim.value) for event in facts) > 2  # noqa: PLR2004
        for claim in facts
        if claim.writer == writer
    ]
    return 2 * sum(shared) < len(shared)
