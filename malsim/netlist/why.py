"""Trace of a signal's value back through the wires to its cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.errors import AddressError
from malsim.netlist.language.address import Pin
from malsim.netlist.language.values import short

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.netlist.wiring import Net, Signal


@dataclass(frozen=True, slots=True)
class Because:
    """Step of a trace towards the cause: a signal, its value, when it last changed, the previous value, and the writer."""

    signal: str
    value: float
    since: float
    before: float | None
    writer: str
    cause: str = ""

    def __str__(self) -> str:
        """Format the step on one line."""
        since = "since the start" if self.before is None else f"since t = {short(self.since)}, before {short(self.before)}"
        cause = f": {self.cause}" if self.cause else ""
        return f"{self.signal} is {short(self.value)} {since}, from {self.writer}{cause}"


def why(
    where: str,
    net: Net,
    signals: pl.DataFrame,
    *,
    at: float | None = None,
    rep: int = 0,
    moved: Callable[[str, float], str] | None = None,
) -> list[Because]:
    """Trace a signal back to its cause: follow the input that changed last until no op of the net writes the signal.

    Parameters
    ----------
    where
        Name of a signal or pin, with the row if there are several values: `low`, `low(dec_a3ee)`.
    net
        Linked net.
    signals
        Recorded frame: t, rep, signal, value, and optionally row.
    at
        Time in days; the last recorded tick by default.
    rep
        Replication.
    moved
        Function that explains why the value at the end of a wire (a cell, rows or the loop) changed at a given time.
    """
    by_address = {str(link.address): signal for signal in net.signals.values() for link in signal.links}
    name, _, row = where.removesuffix(")").partition("(")
    signal = net.signals.get(name) or by_address.get(where) or by_address.get(name)
    if signal is None:
        raise AddressError("no such signal", given=where, allowed=" ".join(list(net.signals)[:40]))
    frame = signals.filter(pl.col("rep") == rep)
    if "row" in signals.columns:
        frame = frame.filter(pl.col("row").is_null() | (pl.col("row") == row))
    frame = frame if at is None else frame.filter(pl.col("t") <= at)
    return _walk(signal, net, {name: group for (name,), group in frame.group_by("signal", maintain_order=True)}, moved)


def _walk(
    signal: Signal, net: Net, histories: dict[object, pl.DataFrame], moved: Callable[[str, float], str] | None
) -> list[Because]:
    steps: list[Because] = []
    names: set[str] = set()
    by = float("inf")
    current: Signal | None = signal
    while current is not None and current.name not in names and current.name in histories:
        names.add(current.name)
        history = histories[current.name].filter(pl.col("t") <= by)
        if history.is_empty():  # the signal had not been recorded by then
            break
        step = _last_step(current, net, history, moved)
        steps.append(step)
        by = step.since
        current = _cause(current, net, histories, by)
    if not steps:
        raise AddressError("not recorded yet", given=signal.name)
    return steps


def _last_step(signal: Signal, net: Net, history: pl.DataFrame, moved: Callable[[str, float], str] | None) -> Because:
    values = history["value"]
    changes = (values.ne_missing(values.shift(1))).arg_true()
    index = int(changes[-1]) if len(changes) else 0
    since, value = float(history["t"][index]), float(values[index])
    writer = signal.writer
    by_op = writer is not None and isinstance(writer.address, Pin) and writer.address.instance in net.instances
    cause = moved(writer.word, since) if moved and writer and not by_op else ""
    before = float(values[index - 1]) if index else None
    return Because(signal.name, value, since, before, writer.word if writer else "no writer", cause)


def _cause(signal: Signal, net: Net, histories: dict[object, pl.DataFrame], by: float) -> Signal | None:
    pin = signal.writer.pin if signal.writer else None
    if pin is None or pin.instance not in net.instances:
        return None
    inputs = [
        other
        for other in net.signals.values()
        if other.name in histories and any(link.pin and link.pin.instance == pin.instance for link in other.readers)
    ]

    def last_change(other: Signal) -> float:
        past = histories[other.name].filter(pl.col("t") <= by)
        times = past.filter(pl.col("value").ne_missing(pl.col("value").shift(1)))["t"]
        return float(times[-1]) if len(times) else float("-inf")

    return max(inputs, key=last_change, default=None)
