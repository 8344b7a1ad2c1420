"""What writers, things and values are called decides nothing: with other names the scores are the same."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from malsim.axioms.engine.compare import always, is_stream, last, number
from malsim.axioms.engine.events import Event, Pick
from malsim.axioms.engine.subject import Subject

needs = always
LONG = "the same long name, of which only the very last letter is another one: number"
OTHERS: tuple[Mapping[str, str], ...] = (
    {"A": "C", "B": "A", "C": "B"},
    {"ann": "cid", "bob": "ann", "cid": "bob"},
    {"x": "y", "y": "x"},
    {"A": "port", "B": "Port", "C": "PORT"},
    {"A": "1", "B": "1.0", "C": "01"},
    {"A": "open", "B": "open door", "C": "not open"},
    {"ann": "agent", "bob": "Agent", "cid": "AGENT"},
    {"ann": "agent", "bob": "agent 2", "cid": "agent 21"},
    {"A": "none", "B": "null", "C": "unknown"},
    {"ann": f"{LONG} 1", "bob": f"{LONG} 2", "cid": f"{LONG} 3"},
    {"A": f"{LONG} 1", "B": f"{LONG} 2", "C": f"{LONG} 3"},
    {"x": "thing", "y": "Thing"},
    {"x": "thing", "y": "thing 2"},
)
PERMUTED = 3  # of these only change places


def stream(pick: Pick, subject: Subject) -> list[Event]:
    """Claims about two things, some at one instant."""
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
