"""A data sheet as text, from an op's own declarations."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from ops.pin.binding import bound
from ops.pin.declare import NAN, In

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.pin.declare import Pin
    from ops.pin.sheet import Sheet

__all__ = ["sheet_text"]


def sheet_text(sheet: Sheet) -> str:
    """What `malsim op NAME` prints: documentation, pins with types, units, starts and bounds, sizes, cadence, NaN."""
    about, _, example = sheet.text.partition("\n>>>")
    parts = [f"{sheet.name}: {about.strip()}"]
    for title, pins in (("Inputs", sheet.ins), ("Parameters", sheet.params), ("Outputs", sheet.outs)):
        if pins:
            parts.append(_table(title, [_pin_row(sheet, key, pin) for key, pin in pins.items()]))
    if sheet.sizes:
        rows = [
            (name, str(sheet.counts[name]), f"{one.low} to {one.high}", one.meaning) for name, one in sheet.sizes.items()
        ]
        parts.append(_table("Sizes, chosen at load", rows))
    parts.append(f"Cadence\n  {sheet.cadence}." + (f" Its unit of time is {sheet.tick.unit}." if sheet.tick else ""))
    if sheet.state:
        kept = ", ".join(_named(sheet, key) for key in sheet.state)
        parts.append("State\n" + _wrapped(f"{kept}: all of it, saved and restored."))
    parts.append(_nan(sheet))
    if example:
        parts.append("Example\n" + "\n".join(f"  {line}" for line in f">>>{example}".strip().splitlines()))
    return "\n\n".join(parts)


def _pin_row(sheet: Sheet, key: str, pin: Pin) -> tuple[str, ...]:
    start = str(pin.start).lower() if pin.type == "bit" else f"{pin.first:g}"
    low, high = bound(pin, "low"), bound(pin, "high")
    limits = "" if np.isnan(low) and np.isnan(high) else f"{_limit(low)} to {_limit(high)}".strip()
    return (_named(sheet, key), pin.type, f"[{pin.unit}]", f"= {'false' if start == 'none' else start}", limits, pin.meaning)


def _limit(value: float) -> str:
    return "…" if np.isnan(value) else f"{value:g}"


def _named(sheet: Sheet, key: str) -> str:
    pins = [name for name, slot in sheet.slots.items() if slot.key == key]
    return pins[0] if len(pins) == 1 else f"{pins[0]} … {pins[-1].rsplit('-', 1)[-1]}"


def _nan(sheet: Sheet) -> str:
    told: dict[str, list[str]] = {}
    for key, pin in sheet.ins.items():
        if isinstance(pin, In) and pin.nan:
            told.setdefault(NAN[pin.nan], []).append(_named(sheet, key))
    lines = [_wrapped(f"on {', '.join(pins)}: {what}.") for what, pins in told.items()]
    return "NaN\n" + "\n".join(lines or ["  No input can be NaN."])


def _wrapped(line: str) -> str:
    return textwrap.fill(line, 118, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _table(title: str, rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return f"{title}\n" + "\n".join(f"  {line.rstrip()}" for line in lines)
