"""Play of a few claims, ticks and reads on one law, for doctests and recorded runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.laws.engine.registry import plant_of
from malsim.memory.port import Claims, Vocabulary, view_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.memory.port import Plant, View

STATED = 0.7


def play(law: str, *events: str, **params: float) -> list[tuple[str, float]]:
    """Play events on a law and return the score of every value of one object, in order of creation.

    An event is a day and what happens: `tick`, `read`, or a value that is claimed, by a writer, with a confidence.

    >>> play("last_write", "0 A", "1 B by someone .9", "2 tick")
    [('B', 1.0)]
    """
    steps = [_event(event) for event in events]
    peek = {"t": steps[-1]["t"], "do": "peek", "object": "x"}
    [scores] = run_events(plant_of(law, params), [*steps, peek])
    return [(value, round(score, 6)) for value, score in scores]


def _event(event: str) -> dict[str, Any]:
    time, what, *more = event.split()
    if what in ("tick", "read"):
        return {"t": float(time), "do": what, "object": "x"}
    writer = more[1] if more[:1] == ["by"] else "u"
    stated = float(more[-1]) if len(more) in (1, 3) else STATED
    return {"t": float(time), "do": "write", "object": "x", "value": what, "writer": writer, "stated": stated}


def run_events(plant: Plant[Any], events: Iterable[Mapping[str, Any]]) -> list[list[tuple[str, float]]]:
    """Run events (`do`: write, tick, read, peek; `t` in days) one by one; returns value and score by peek."""
    events = list(events)
    names = {key: sorted({event[key] for event in events if key in event}) for key in ("writer", "object", "value")}
    vocabulary = Vocabulary(names["writer"], names["object"], [names["value"]] * len(names["object"]))
    state, peeks = plant.init([0], vocabulary), []
    for number, event in enumerate(events):
        if event["do"] == "write":
            indices = {key: names[key].index(event[key]) for key in names}
            state, _ = plant.admit(state, one_claim(number, event["t"], event["stated"], **indices))
        elif event["do"] == "tick":
            state = plant.tick(state, event["t"])
        elif event["do"] == "read":
            row = np.zeros(1, dtype=np.int64)
            state = plant.read(state, row, row + names["object"].index(event["object"]), row - 1, event["t"])
        else:
            index = names["object"].index(event["object"])
            peeks.append(_scores(view_now(plant, state, event["t"]), index, names["value"]))
    return peeks


def one_claim(sequence: int, t: float, stated: float, *, writer: int, object: int, value: int) -> Claims:  # noqa: A002
    numbers = {"rep": 0, "writer": writer, "sequence": sequence, "object": object, "value": value}
    columns: dict[str, Any] = {name: np.array([number], dtype=np.int64) for name, number in numbers.items()}
    return Claims(**columns, t=np.array([t]), stated=np.array([stated]))


def _scores(view: View, place: int, values: list[str]) -> list[tuple[str, float]]:
    _ = view.belief  # which is looked at as it is made
    rows = np.flatnonzero(view.active & (view.object == place))
    return [(values[view.value[row]], float(view.rank[row])) for row in rows.tolist()]
