"""T by an honest writer before and after, or by two, and F by another up to twenty times: F does not lead."""

from collections.abc import Sequence

from malsim.judging.axioms.engine.compare import always, in_order, is_stream, last, number
from malsim.judging.axioms.engine.events import MINUTE, Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
MOST, DAY = 20, 1.0
SPANS = {"again": (MINUTE, 1.0), "weeks": (7.5, 20.0)}  # between claims, days


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw a repetition by the honest writer after the echo, of a day or of weeks; or two writers and an echo."""
    kind, count = pick.by_turns(("again", "two", "between", "weeks")), pick.count(1, MOST)
    gap = DAY * pick.share() / (count + 4) if kind in ("two", "between") else pick.time(*SPANS[kind])
    order = {"two": "AC" + "B" * count, "between": "BAC" + "B" * count}.get(kind, "A" + "B" * count + "A")
    claims = [_claim(round((gap + MINUTE) * place, 6), who) for place, who in enumerate(order)]
    end = round(claims[-1].t + gap + MINUTE, 6)
    return [*claims, *([Event(end, "tick")] if pick.count(0, 1) else []), Event(end, "peek")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    claims = [event for event in events if event.do == "write"]
    honest = {event.writer for event in claims if event.value == "A"}
    echo = {event.writer for event in claims if event.value == "B"}
    if not is_stream(events, "write") or not in_order(claims) or len(echo) != 1 or honest & echo:
        return None
    around = len(honest) == 1 and claims[0].value == claims[-1].value == "A"
    if not around and (len(honest) < 2 or claims[-1].t - claims[0].t > DAY):  # noqa: PLR2004  # two honest voices, both fresh
        return None
    look = last(subject, events)
    if look.score("B") <= look.score("A") + subject.tolerance:
        return None
    times = sum(event.value == "B" for event in claims)
    return f"B, said {times} times by one writer, is {number(look.score('B'))}, and A {number(look.score('A'))}"


def _claim(t: float, who: str) -> Event:
    return Event(t, "write", value="B" if who == "B" else "A", writer={"A": "ann", "B": "bob", "C": "cid"}[who])
