"""Random streams of claims, ticks, reads and peeks, in the format of recorded law events."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["stream"]

MINUTES = 1440.0


def stream(seed: int, *, daily: bool = False, claims: int = 14) -> list[dict[str, Any]]:
    draw = np.random.default_rng(seed)
    events: list[dict[str, Any]] = []
    now, last_tick, longest = 0.37, 0.0, 1.2 if seed % 3 else 2.0
    for _ in range(3 * claims):
        now += float(np.round(10.0 ** draw.uniform(-2.5, longest) * MINUTES)) / MINUTES
        while daily and last_tick + 1.0 <= now:
            last_tick += 1.0
            events.append({"t": last_tick + 0.11, "do": "tick"}) if last_tick + 0.11 < now else None
        name, kind = (
            str(draw.choice(["x", "y"], p=[0.7, 0.3])),
            draw.choice(["write", "read", "tick", "peek"], p=[0.45, 0.15, 0.2, 0.2]),
        )
        if kind == "write":
            late = float(np.round(draw.uniform(0.0, 5.0) * MINUTES)) / MINUTES if draw.uniform() < 0.1 else 0.0
            claim = {"object": name, "value": str(draw.choice(["A", "B", "C"])), "writer": str(draw.choice(["u", "v", "w"]))}
            events.append(
                {"t": max(now - late, 0.0), "do": "write", **claim, "stated": float(draw.choice([0.3, 0.5, 0.7, 0.9]))}
            )
        elif kind == "tick":
            if not daily:
                events.append({"t": now, "do": "tick"})
        else:
            events.append({"t": now, "do": str(kind), "object": name})
    events += [{"t": now, "do": "peek", "object": name} for name in ("x", "y")]
    named = {event["object"] for event in events if event["do"] == "write"}
    return [event for event in events if event["do"] == "tick" or event["object"] in named]
