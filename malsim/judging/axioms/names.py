"""What writers, things and values are called decides nothing: with other names the scores are the same."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from malsim.judging.axioms.engine.compare import always, is_stream, last, number
from malsim.judging.axioms.engine.events import Event, Pick
from malsim.judging.axioms.engine.subject import Subject

needs = always
LONG = "the same long name, of which only the very last letter is another one: number"
WRITERS = ("ann", "bob", "cid", "zoe", "dan", "eve")
ALIKE = (  # other names of values A, B, C; of writers; of x and y
    (("C", "A", "B"), ("cid", "ann", "eve", "bob", "zoe", "dan"), ("y", "x")),
    (("port", "Port", "PORT"), ("agent", "Agent", "AGENT", "agent 2", "agent 21", "agent-2"), ("thing", "Thing")),
    (("1", "1.0", "1.9"), ("w1", "w2", "w11", "w21", "w3", "w12"), ("thing 1", "thing 2")),
    (("open", "open door", "not open"), ("a", "b", "ab", "ba", "aa", "bb"), ("thing", "thing 2")),
    (("none", "null", "unknown"), ("x@y.eu", "x@y.uk", "x-y", "x_y", "x y", "xy"), ("a/b", "a.b")),
    (("false", "0", "no"), ("Jörg", "Jürg", "Jorg", "Jurg", "Jоrg", "J"), ("Straße", "Strasse")),
    (("5 €", "5 £", "5 ¥"), ("Анна", "Олег", "安娜", "奥列格", "آنا", "علي"), ("город", "порт")),
    (
        ("2026-01-02", "2026-02-01", "2025-01-02"),
        tuple(f"{LONG} {n}" for n in range(6)),
        (f"{LONG} 1", f"{LONG} 2"),
    ),
    (tuple(f"{LONG} {n}" for n in range(3)), ("9", "10", "100", "0", "00", "-1"), ("10", "100")),
)
OTHERS: tuple[Mapping[str, str], ...] = tuple(
    dict(zip(("A", "B", "C", *WRITERS, "x", "y"), (*values, *writers, *things), strict=True))
    for values, writers, things in ALIKE
)
PERMUTED = 1  # of these only changes places


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Draw claims about two things, some at one instant; or a whole story."""
    if pick.by_turns((False, False, True)):
        story = pick.story()
        return [*story, Event(story[-1].t + 1.0, "peek")]
    claims = [
        Event(round(0.5 * pick.count(0, 4), 1), "write", pick.one("xy"), pick.one("ABC"), pick.one(("ann", "bob", "cid")))
        for _ in range(pick.by_turns((2, 3, 5)))
    ]
    claims.sort(key=lambda event: event.t)
    return [*claims, Event(3.0, "peek", "x")]


def broken(subject: Subject, events: Sequence[Event]) -> str | None:
    if not is_stream(events, "write"):
        return None
    plain = last(subject, events)
    by_text = any(item.get("read") for item in plain.items)  # values alike cannot be told apart in its texts
    for names in OTHERS[:PERMUTED] if by_text else OTHERS:
        used = {name for event in events for name in (event.object, event.value, event.writer)}
        if not used & {*names}:
            continue
        other = last(subject, [_called(event, names) for event in events])
        for value in "ABC":
            before, after = plain.score(value), other.score(names.get(value, value))
            if before != after and not abs(before - after) <= subject.tolerance:
                renamed = ", ".join(f"{old} is called {new}" for old, new in names.items() if old in used)
                return f"{value} is {number(before)}, and {number(after)} where {renamed}"
    return None


def _called(event: Event, names: Mapping[str, str]) -> Event:
    called = {part: names.get(name, name) for part in ("object", "value", "writer") if (name := getattr(event, part))}
    return replace(event, **called)
