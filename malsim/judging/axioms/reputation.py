"""Axioms about what claims on other objects may do to a belief."""

from collections.abc import Sequence
from dataclasses import replace

from malsim.judging.axioms.engine.axiom import Axiom
from malsim.judging.axioms.engine.compare import differs, is_stream, last, number, overtaken, without
from malsim.judging.axioms.engine.events import MINUTE, UNSTATED, YEARS, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

PRIOR = 0.02  # by how much a prior that a sweep learns from everybody may move a score
HONEST, LIARS = ("ann", "bob", "cid"), ("zoe", "dan")
MOST, ERRS, OWN = 30, 0.2, "own"
DISSENT = (("zoe", "B"), ("dan", "C"), ("eve", "D"), ("lou", "E"))


class Locality(Axiom):
    """Claims by new writers about other objects, and reads of those objects, change no score."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw claims of new writers about other objects, before or after the claims about x, which may arrive late."""
        claims = pick.by_turns(
            (
                pick.claims(pick.count(1, 3)),
                pick.claims(2),
                [replace(event, stated=UNSTATED) for event in pick.story() if _about_x(event)] or pick.claims(1),
            )
        )
        order = pick.by_turns(("after", "late", "before", "after", "before"))
        t = claims[-1].t + pick.time(MINUTE, 30.0 if order == "late" else YEARS)
        new = [
            Event(
                t, "write", "y" if not index else f"thing {index}", pick.one("ABC"), "zoe" if not index else f"w{index % 9}"
            )
            for index in range(pick.by_turns((1, 130, 2, 12)))
        ]
        new += [Event(t, "read", new[0].object)] * pick.one((0, 3))
        end = t + pick.time(MINUTE, 30.0)
        if order == "after":
            return [*claims, *new, Event(end, "peek")]
        if order == "late":
            return [Event(t, "peek"), *new, *claims, Event(end, "peek")]
        return [*(event.moved(lambda _: 0.0) for event in new), *claims, Event(end, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        new = [event for event in events if event.object != "x"]
        own = {event.writer for event in events if event.do == "write" and event.object == "x"}
        if (
            not is_stream(events, "write")
            or not new
            or not own
            or own & {event.writer for event in new if event.do == "write"}
        ):
            return None
        plain = last(subject, without(events, *new))
        if any(event.do == "tick" for event in events):
            plain = replace(plain, tolerance=max(PRIOR, plain.tolerance))
        return differs(
            plain, last(subject, events), f"where strangers speak of {len({item.object for item in new})} other things"
        )


class OwnFacts(Axiom):
    """Claims about objects that nobody else mentions do not help a writer's value to overtake the leading one."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw honest writers who err at times, and liars who contradict and flood them; all of them speak about x."""
        liars = LIARS[: pick.count(1, 2)]
        facts = [f"fact {number}" for number in range(pick.count(3, 8))]
        claims = [
            Event(0.0, "write", about, "AB"[(writer in LIARS) != (pick.share() < ERRS)], writer)
            for about in facts
            for writer in (*HONEST, *liars)
        ]
        flood = pick.count(MOST // 3, MOST)
        own = [
            Event(1.0, "write", f"{OWN} {writer} {number}", pick.one("AB"), writer)
            for writer in liars
            for number in range(flood)
        ]
        about = [Event(2.0, "write", "x", "B" if writer in LIARS else "A", writer) for writer in (*HONEST, *liars)]
        return [*claims, *own, *about, Event(3.0, "tick"), Event(3.0, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        own = [event for event in events if event.object.startswith(OWN)]
        if not is_stream(events, "write", "tick") or not own or any(_others(event, events) for event in own):
            return None
        before = last(subject, without(events, *own), together=True)
        after = last(subject, events, together=True)
        if (
            before.score("A") > before.score("B") + subject.tolerance
            and after.score("B") > after.score("A") + subject.tolerance
        ):
            return (
                f"{len(own)} facts that nobody else speaks about take A from {number(before.score('A'))} to "
                f"{number(after.score('A'))}, and B to {number(after.score('B'))}"
            )
        return None


class TrackRecord(Axiom):
    """A writer who agreed with most others does not lose, because of that record, to one who mostly disagreed."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw facts that three agree on; then ann against zoe, or a stranger, about x."""
        stranger = pick.by_turns((False, True))
        start, facts = (0, pick.count(4, 8)) if stranger else (pick.count(2, 4), pick.count(9, 13))
        liars = DISSENT[: pick.count(1, len(DISSENT)) if stranger else 1]
        claims = [
            Event(float(day), "write", f"fact {day}", value, writer)
            for day in range(facts)
            for writer, value in (*_honest(day, start), *((item, lie if day >= start else "A") for item, lie in liars))
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
        return overtaken(before, after, f"{len(omitted)} claims about other things were made", those="A")


class Vacuity(Axiom):
    """A claim about another object changes no belief."""

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


def _about_x(event: Event) -> bool:
    return event.object == "x" and event.writer != "zoe"


def _others(own: Event, events: Sequence[Event]) -> bool:
    return any(event.object == own.object and event is not own for event in events)


def _honest(day: int, start: int) -> list[tuple[str, str]]:
    """Return (writer, value) pairs: all claim A, except that ann errs on the first day of a good start of zoe's."""
    return [(writer, "B" if writer == "ann" and day == 0 and start > 0 else "A") for writer in HONEST]


def _is_alone(facts: Sequence[Event], writer: str) -> bool:
    seconds = [
        sum(item.object == own.object and item.value == own.value for item in facts) > 2  # noqa: PLR2004  # itself, two others
        for own in facts
        if own.writer == writer
    ]
    return 2 * sum(seconds) < len(seconds)
