"""Writer of value change dumps (VCD, IEEE 1364), which waveform viewers such as GTKWave open."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import polars as pl

DAY = 86_400_000.0  # length of a day in ms
_UNITS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6, "ps": 1e-9, "fs": 1e-12}  # length of each unit in ms
_STEPS = [(f"{size} {unit}", size * length) for unit, length in _UNITS.items() for size in (100, 10, 1)]
_WHOLE = 1e-6  # tolerance as a fraction of a unit, larger than the rounding errors of times
_FIRST, _LETTERS = 33, 94  # identifiers use the 94 printable ASCII characters from code 33


def vcd_text(samples: pl.DataFrame, bits: Collection[str] = (), *, tick: float = DAY) -> str:
    """Return samples as the text of a VCD file.

    The time unit is the largest of VCD's units (100 s, 10 s, … 1 fs) in which the tick and every sample's time are
    whole numbers. A comment states the tick length.

    Parameters
    ----------
    samples
        Columns t (days), channel and value. A missing bit is written as `x`, a missing real as `rNaN`.
    bits
        Channels that are one-bit wires; all others are reals.
    tick
        Tick length in milliseconds.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"t": [0.0, 1.0], "channel": ["low", "low"], "value": [0.0, 1.0]})
    >>> print(vcd_text(frame, ["low"]).splitlines()[:2], vcd_text(frame, ["low"]).splitlines()[-1])
    ['$comment one tick is 86400 s $end', '$timescale 100 s $end'] 1!
    """
    names = samples["channel"].unique(maintain_order=True).to_list()
    codes = {name: _code(index) for index, name in enumerate(names)}
    unit, length = _unit([tick / DAY, *samples["t"].unique().to_list()])
    lines = [
        f"$comment one tick is {tick / _UNITS['s']:.15g} s $end",
        f"$timescale {unit} $end",
        "$scope module malsim $end",
    ]
    for name in names:
        word = re.sub(r"\s+", "_", name) or "_"
        lines.append(f"$var {'wire 1' if name in bits else 'real 64'} {codes[name]} {word} $end")
    lines += ["$upscope $end", "$enddefinitions $end"]
    last: dict[str, str] = {}
    time = None
    for t, name, value in samples.sort("t", maintain_order=True).select("t", "channel", "value").rows():
        missing = value is None or math.isnan(value)
        if name in bits:
            text = ("x" if missing else str(int(value > 0))) + codes[name]
        else:
            text = f"r{'NaN' if missing else repr(float(value)).removesuffix('.0')} {codes[name]}"
        if last.get(name) == text:
            continue
        if (at := round(t * DAY / length)) != time:
            lines.append(f"#{at}")
            time = at
        last[name] = text
        lines.append(text)
    return "\n".join(lines) + "\n"


def _unit(times: Iterable[float]) -> tuple[str, float]:
    """Return the largest unit in which every time (in days) is a whole number: its name, and its length in ms."""
    moments = [time * DAY for time in times]
    for name, length in _STEPS:
        counts = [moment / length for moment in moments]
        if all(count == 0 or (round(count) != 0 and abs(count - round(count)) < _WHOLE) for count in counts):
            return name, length
    return _STEPS[-1]


def _code(index: int) -> str:
    code = chr(_FIRST + index % _LETTERS)
    while index := index // _LETTERS:
        code += chr(_FIRST + index % _LETTERS)
    return code
