"""Traces as a value change dump (VCD, IEEE 1364), which waveform viewers such as GTKWave open."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    import polars as pl

MILLISECONDS_A_DAY = 86_400_000
_FIRST, _LETTERS = 33, 94  # printable ASCII, from which identifiers are made


def vcd_text(samples: pl.DataFrame, bits: Collection[str] = ()) -> str:
    """Return samples (t in days, channel, value) as VCD text, one millisecond a time unit.

    A channel among `bits` is a one-bit wire, any other a real. A missing value of a bit is `x`, of a real `rNaN`.
    """
    names = samples["channel"].unique(maintain_order=True).to_list()
    codes = {name: _code(index) for index, name in enumerate(names)}
    lines = ["$timescale 1 ms $end", "$scope module malsim $end"]
    lines += [f"$var {'wire 1' if name in bits else 'real 64'} {codes[name]} {_word(name)} $end" for name in names]
    lines += ["$upscope $end", "$enddefinitions $end"]
    last: dict[str, str] = {}
    time = None
    for t, name, value in samples.sort("t", maintain_order=True).select("t", "channel", "value").rows():
        text = _bit(value) + codes[name] if name in bits else f"r{_real(value)} {codes[name]}"
        if last.get(name) == text:
            continue
        if (at := round(t * MILLISECONDS_A_DAY)) != time:
            lines.append(f"#{at}")
            time = at
        last[name] = text
        lines.append(text)
    return "\n".join(lines) + "\n"


def _code(index: int) -> str:
    """Return the short identifier of a channel."""
    code = chr(_FIRST + index % _LETTERS)
    while index := index // _LETTERS:
        code += chr(_FIRST + index % _LETTERS)
    return code


def _word(name: str) -> str:
    """Return a channel's name without blanks, which end a name in VCD."""
    return re.sub(r"\s+", "_", name) or "_"


def _bit(value: float | None) -> str:
    return "x" if value is None or math.isnan(value) else str(int(value > 0))


def _real(value: float | None) -> str:
    return "NaN" if value is None else format(value, ".16g").replace("nan", "NaN")
