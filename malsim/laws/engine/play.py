"""Playback of a few claims, ticks and reads under one law, for doctests and recorded runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.laws.engine.registry import plant_of
from malsim.memory.port import Claims, Vocabulary, view_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.memory.port import Plant

STATED = 0.7


def play(law: str, *events: str, **params: float) -> list[tuple[str, float]]:
    """Play events under a law and return each value of one object with its score, in order of creation.

    An event is a day and `tick`, `read`, or a claimed value, optionally with a writer and a confidence.

    >>> play("last_write", "0 A", "1 B by someone .9", "2 tick")
    [('B', 1.0)]
    """
    steps = [_event(event) for event in events]
    peek = {"t": steps[-1]["t"], "do": "peek", "object": "x"}
    [scores] = run_events(plant_of(law, params), [*steps, peek])
    return [(value, round(score, 6)) for value, score in scores]


def _event(event: str) -> dict[str, Any]:
    time, action, *more = event.split()
    if action in ("tick", "read"):
        return {"t": float(time), "do": action, "object": "x"}
    writer = more[1] if more[:1] == ["by"] else "u"
    stated = float(more[-1]) if len(more) in (1, 3) else STATED
    return {"t": float(time), "do": "write", "object": "x", "value": action, "writer": writer, "stated": stated}


def run_events(plant: Plant[Any], events: Iterable[Mapping[str, Any]]) -> list[list[tuple[str, float]]]:
    """Run events (`do`: write, tick, read or peek; `t` in days) one by one; return the values and scores at each peek."""
    events = list(events)
    names = {key: sorted({event[key] for event in events if key in event}) for key in ("writer", "object", "value")}
    vocabulary = Vocabulary(names["writer"], names["object"], [names["value"]] * len(names["object"]))
    state, peeks = plant.init([0], vocabulary), []
    for number, event in enumerate(events):
        if event["do"] == "write":
            numbers = {"rep": 0, "sequence": number} | {key: names[key].index(event[key]) for key in names}
            columns: dict[str, Any] = {name: np.array([index], dtype=np.int64) for name, index in numbers.items()}
            claim = Claims(**columns, t=np.array([event["t"]]), stated=np.array([event["stated"]]))
            state, _ = plant.admit(state, claim)
        elif event["do"] == "tick":
            state = plant.tick(state, event["t"])
        elif event["do"] == "read":
            row = np.zeros(1, dtype=np.int64)
            state = plant.read(state, row, row + names["object"].index(event["object"]), row - 1, event["t"])
        else:
            view = view_now(plant, state, event["t"])
            _ = view.belief  # reading the belief checks that it lies between 0 and 1
            rows = np.flatnonzero(view.active & (view.object == names["object"].index(event["object"])))
            peeks.append([(names["value"][view.value[row]], float(view.rank[row])) for row in rows.tolist()])
    return peeks
