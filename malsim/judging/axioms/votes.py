"""Axioms about writers: majorities, repetition, and a writer's latest claim."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

from malsim.judging.axioms.engine.axiom import Axiom
from malsim.judging.axioms.engine.compare import in_order, is_stream, last, leads, number
from malsim.judging.axioms.engine.events import HOUR, MINUTE, WRITERS, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

MOST, DAY, SOON, LONGEST = 20, 1.0, 0.5, 20.0  # maximum number of claims in an echo, then three durations in days
SPANS = {"again": (MINUTE, 1.0), "weeks": (7.5, 20.0)}  # (shortest, longest) gap between claims, in days
FORMER = "CDE"
SPREAD = 0.1  # longest time between writers' claims of the same value, in days


class EchoIndependence(Axiom):
    """Repeats by one writer do not outscore a value claimed by two others, or by one other before and after the repeats."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw repeats of B by one writer, either between two claims of A by another or after claims of A by two others."""
        kind, count = pick.by_turns(("again", "two", "between", "weeks")), pick.count(1, MOST)
        gap = DAY * pick.share() / (count + 4) if kind in ("two", "between") else pick.time(*SPANS[kind])
        order = {"two": "AC" + "B" * count, "between": "BAC" + "B" * count}.get(kind, "A" + "B" * count + "A")
        writers = {"A": "ann", "B": "bob", "C": "cid"}
        claims = [
            Event(round((gap + MINUTE) * index, 6), "write", value="B" if who == "B" else "A", writer=writers[who])
            for index, who in enumerate(order)
        ]
        end = round(claims[-1].t + gap + MINUTE, 6)
        return [*claims, *([Event(end, "tick")] if pick.count(0, 1) else []), Event(end, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        claims = [event for event in events if event.do == "write"]
        honest = {event.writer for event in claims if event.value == "A"}
        echo = {event.writer for event in claims if event.value == "B"}
        if not is_stream(events, "write") or not in_order(claims) or len(echo) != 1 or honest & echo:
            return None
        around = len(honest) == 1 and claims[0].value == claims[-1].value == "A"
        if not around and (len(honest) < 2 or claims[-1].t - claims[0].t > DAY):  # noqa: PLR2004  # two honest writers within a day
            return None
        look = last(subject, events)
        if look.score("B") <= look.score("A") + subject.tolerance:
            return None
        times = sum(event.value == "B" for event in claims)
        often = f"{times} time{'s' * (times != 1)}"
        return f"B, claimed {often} by one writer, is {number(look.score('B'))}, and A is {number(look.score('A'))}"


class LastWord(Axiom):
    """A writer's latest value outscores every value that the writer claimed before."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        events, t = list[Event](), 0.0
        hours = pick.by_turns((False, False, True))
        for value in pick.by_turns(("AB", "AAAB", "ACB", "AAAAAAAAAAAAB", "ABCDEB")):
            t += pick.time(HOUR, 0.3) if hours else pick.time(1.0, 30.0)
            events.append(Event(round(t, 3), "write", value=value))
        end = events[-1].t + pick.time(MINUTE, 0.5)
        return [*events, Event(end, "tick"), Event(end, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        claims = [event for event in events if event.do == "write"]
        if not is_stream(events, "write") or not in_order(claims) or len({event.value for event in claims}) < 2:  # noqa: PLR2004
            return None
        if len({event.writer for event in claims}) > 1 or claims[-1].t - claims[-2].t < HOUR / 2.0:
            return None
        look, value = last(subject, events), claims[-1].value
        if leads(look, value):
            return None
        others = [f"{name} is {number(score)}" for name, score in sorted(look.scores.items()) if name != value]
        rivals = " and ".join(others) or "no other value is stored"
        return f"{value} is {number(look.score(value))}, although its writer claimed it last, and {rivals}"


class LongHistory(Axiom):
    """Old claims that have since been replaced do not change which value leads."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw one or more rounds of former values, then a claim of A by one writer and later claims of B by the others."""
        rounds, gap = pick.by_turns(((1, 400.0), (12, 3.0), (3, 100.0), (1, 200.0)))
        writers = ("ann", "bob", "cid")[: pick.by_turns((2, 2, 3))]
        former = [
            Event(round(gap * turn + 0.01 * index, 2), "write", value=FORMER[turn % len(FORMER)], writer=writer)
            for turn in range(rounds)
            for index, writer in enumerate(writers)
        ]
        t = gap * rounds
        now = [Event(t, "write", value="A", writer="ann")]
        for writer in writers[1:]:
            t = round(t + pick.time(HOUR, 40.0), 3)
            now.append(Event(t, "write", value="B", writer=writer))
        return [*former, *now, Event(t + 0.1, "tick"), Event(t + 0.1, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        former = [event for event in events if event.do == "write" and event.value in FORMER]
        now = [event for event in events if event not in former]
        times = {event.writer: event.t for event in now if event.do == "write"}
        if not is_stream(now, "write") or any(event.t >= times.get(event.writer, -1.0) for event in former):
            return None
        plain, look = last(subject, now), last(subject, events)
        if not leads(plain, "B") or leads(look, "B"):
            return None
        scores = " and ".join(f"{value} {number(score)}" for value, score in sorted(look.scores.items())) or "none"
        return f"B leads with {number(plain.score('B'))}; after {len(former)} earlier claims the scores are {scores}"


class Outvoted(Axiom):
    """A value leads if it was claimed later and by more writers than its rivals."""

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        """Draw claims of A or of different values by some writers, then claims of B by more writers, and finally a tick."""
        before, more = pick.by_turns((1, 2, 4, 1, 6, 15)), pick.count(1, 3)
        events, t, apart = list[Event](), 0.0, pick.by_turns(("A", "A", "A", "A", "ACDE"))
        for index in range(2 * before + more):
            t += pick.time(MINUTE, SOON) if index != before else pick.time(DAY, 5.0)
            value = "B" if index >= before else apart[index % len(apart)]
            events.append(Event(round(t, 6), "write", value=value, writer=f"w{index}"))
        end = round(t + pick.time(MINUTE, LONGEST), 6)
        return [*events, Event(end, "tick"), Event(end, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        claims = [event for event in events if event.do == "write"]
        values = "".join(event.value for event in claims)
        before, after = len(values.rstrip("B")), values.count("B")
        if not is_stream(events, "write", "tick") or not in_order(claims) or before + after != len(claims) or not before:
            return None
        if after <= before or len({event.writer for event in claims}) < len(claims) or events[-1].t < claims[-1].t:
            return None
        if claims[before].t - claims[before - 1].t < DAY:
            return None
        look = last(subject, events)
        if leads(look, "B"):
            return None
        others = " and ".join(f"{value} is {number(score)}" for value, score in sorted(look.scores.items()) if value != "B")
        return f"B, claimed by {after} writers, is {number(look.score('B'))}; {others}, claimed by {before} before them"


class TruthMayReturn(Axiom):
    """A value leads once all writers claim it, and a former value leads again once half of them return to it.

    A tie is not a lead.
    """

    def stream(self, pick: Pick, subject: Subject) -> list[Event]:
        voices = pick.by_turns((1, 2, 3, 2))
        values = pick.by_turns(("ABA", "ABA", "ABA", "ABCA", "ABABA"))
        events, t = list[Event](), 0.0
        for index, value in enumerate(values):
            returned = index == len(values) - 1
            speakers = WRITERS[: pick.count((voices + 1) // 2, voices) if returned else voices]
            for writer in speakers:
                events.append(Event(round(t, 6), "write", value=value, writer=writer))
                t += pick.time(MINUTE, SPREAD)
            t += pick.time(DAY, 100.0)
        end = round(events[-1].t + pick.time(MINUTE, 0.5), 6)
        return [*events, Event(end, "tick"), Event(end, "peek")]

    def broken(self, subject: Subject, events: Sequence[Event]) -> str | None:
        claims = [event for event in events if event.do == "write"]
        phases = [list(group) for _, group in groupby(claims, key=lambda event: event.value)]
        if not is_stream(events, "write") or not in_order(claims) or any(event.do == "read" for event in events):
            return None
        # At least three phases are needed: A, B, A.
        if any(new[0].t - old[-1].t < DAY for old, new in pairwise(phases)) or len(phases) < 3:  # noqa: PLR2004
            return None
        if claims[-1].value not in {event.value for phase in phases[:-2] for event in phase}:
            return None
        ends = [phase[-1] for phase in phases[:-1]]
        stream = [part for event in claims for part in ([event, *_look(event.t)] if event in ends else [event])]
        for phase, look in zip(phases, subject.play([*stream, *_look(events[-1].t)]), strict=True):
            end = phase[-1]
            latest = {event.writer: event.value for event in claims[: claims.index(end) + 1]}
            votes = Counter(latest.values())
            lead = votes.pop(end.value) - max(votes.values(), default=0)
            must_lead = (
                lead >= 0 if phase is phases[-1] else lead > 0
            )  # a returning value only needs as many writers as its rival
            if must_lead and not leads(look, end.value):
                scores = " and ".join(f"{name} {number(look.score(name))}" for name in sorted({end.value, *look.scores}))
                return f"on day {end.t:g} the scores are {scores}, although {end.value} was claimed last"
        return None


def _look(t: float) -> list[Event]:
    return [Event(t, "tick"), Event(t, "peek")]
