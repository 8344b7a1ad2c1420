"""Outputs of a net: cell flags, the push budget, webhooks, escalations and alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from malsim.memory.gate.edit import set_flag
from malsim.memory.schema import NONE
from malsim.netlist.engine.sources import cell_rows
from malsim.netlist.language.address import Path, Pin, Row
from malsim.netlist.language.lexicon import ACTUATORS, FLAGS, OPPOSED
from malsim.netlist.wiring.net import derived_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from malsim.memory import Memory, Rules
    from malsim.netlist.engine.rows import Rows
    from malsim.netlist.wiring import Net, Signal
    from ops.pin import Array

EVENTS = {"rep": pl.Int32, "kind": pl.String, "subject": pl.String, "detail": pl.String, "cause": pl.String}
_SET = {
    "locked": "locked", "pinned": "pinned", "annexed": "annexed", "reinstated": "reinstated", "requires_review": "flagged",
}  # fmt: skip
_CLEARED = {"locked": "unlocked", "pinned": "unpinned", "annexed": "reinstated", "requires_review": "unflagged"}
_RISES = {"webhook": "webhook", "escalation": "escalated"}


class Happening(NamedTuple):
    """Events of one kind that occur in one scan.

    `cause` names a signal (`low`) or one row of a signal (`low(dec_a3ee)`).
    """

    reps: Array
    kind: str
    subject: str | pl.Series
    detail: str
    cause: str | pl.Series

    def frame(self) -> pl.DataFrame:
        words = {"kind": self.kind, "subject": self.subject, "detail": self.detail, "cause": self.cause}
        columns = [(word if isinstance(word, pl.Series) else pl.lit(word)).alias(name) for name, word in words.items()]
        return pl.DataFrame({"rep": self.reps.astype(np.int32)}).with_columns(columns)


class Actuators:
    """Outputs of a net that set cell flags, write pins of the loop or report alarms.

    A flag is set on the rising edge of its signal and cleared on the falling edge; in between, others may change it. If
    actuators conflict on a cell, the weaker one yields. Conflicts and changes that a lock forbids are events.
    """

    def __init__(self, net: Net, rules: Rules) -> None:
        self.enforced = rules.locks == "enforced"
        self.flags: dict[str, list[tuple[Signal, Path | Row]]] = {}
        self.loop: list[tuple[str, Signal]] = []
        for signal in net.signals.values():
            for link in signal.readers:
                if derived_name(link.address):
                    continue
                if isinstance(link.address, (Path, Row)):
                    name = link.address.fields[-1]
                    self.flags.setdefault(FLAGS.get(name, name), []).append((signal, link.address))
                elif isinstance(link.address, Pin) and link.address.instance not in net.instances:
                    self.loop.append((str(link.address), signal))
        self.alarms = net.alarms

    def outputs(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Map each loop pin that the net writes to its values, one per replication."""
        return {pin: values[signal.name] for pin, signal in self.loop}

    def drive(
        self, memory: Memory, values: Mapping[str, Array], last: Mapping[str, Array], rows: Rows
    ) -> tuple[Memory, dict[str, Array], tuple[Happening, ...]]:
        """Apply the signal values to all actuators. Return the new memory, the actuator bits and the events."""
        now: dict[str, Array] = {}
        events = [*self._alarm_events(values, last, now, rows), *self._loop_events(values, last, now)]
        if self.flags:
            memory, flag_events = self._set_flags(memory, values, last, now, rows)
            events += flag_events
        return memory, now, tuple(events)

    def _set_flags(
        self, memory: Memory, values: Mapping[str, Array], last: Mapping[str, Array], now: dict[str, Array], rows: Rows
    ) -> tuple[Memory, list[Happening]]:
        requests = {flag: self._requests(flag, values, rows) for flag in ACTUATORS if flag in self.flags}
        events: list[Happening] = []
        for flag, (bits, by) in requests.items():
            last_by = last.get(f"{flag} by", by[:0])
            by[: len(last_by)] = np.where(bits[: len(last_by)], by[: len(last_by)], last_by)
            now[f"{flag} by"] = by
            names = [f"{signal.name}({{}})" if signal.domain == "cell" else signal.name for signal, _ in self.flags[flag]]
            against = [requests[other][0] for other in OPPOSED.get(flag, ()) if other in requests]
            opposed = np.logical_or.reduce(against) & bits if against else np.zeros_like(bits)
            gave_way = _newly_set(opposed, last, now, f"{flag} gave way")
            events += _events(gave_way, "conflict", by, names, rows, f"{flag} gives way")
            is_fixed = memory.column("immutable")
            is_fixed = is_fixed | memory.column("locked") if flag in {"annexed", "reinstated"} else is_fixed
            forbidden = is_fixed & self.enforced & bits & ~opposed
            refusals = _newly_set(forbidden, last, now, f"{flag} refused")
            events += _events(refusals, "refused", by, names, rows, f"{flag}: the cell is locked or immutable")
            before = _padded(last.get(flag), len(bits))
            now[flag] = bits & ~opposed & ~forbidden
            rises, falls = now[flag] & ~before, before & ~now[flag]
            memory = _apply_flag(memory, flag, rises, falls)
            events += _events(rises, _SET[flag], by, names, rows, flag)
            if flag in _CLEARED:
                events += _events(falls, _CLEARED[flag], by, names, rows, flag)
        return memory, events

    def _requests(self, flag: str, values: Mapping[str, Array], rows: Rows) -> tuple[Array, Array]:
        bits = np.zeros(rows.count("cell"), dtype=bool)
        by = np.full(len(bits), NONE)
        for index, (signal, where) in enumerate(self.flags[flag]):
            value = values[signal.name]
            if isinstance(where, Row):
                on = value if signal.domain == "cell" else value[rows.rep_of("cell")]
            else:
                cells = cell_rows(rows, where.handle)
                on = np.zeros_like(bits)
                on[cells[(cells != NONE) & value]] = True
            by[on & ~bits] = index
            bits |= on
        return bits, by

    def _alarm_events(
        self, values: Mapping[str, Array], last: Mapping[str, Array], now: dict[str, Array], rows: Rows
    ) -> Iterator[Happening]:
        for signal in self.alarms:
            value = values[signal.name]
            key = f"alarm {signal.name}"
            previous = _padded(last.get(key), len(value))
            now[key] = value
            if not np.count_nonzero(value != previous):
                continue
            writer = signal.writer.word if signal.writer else ""
            for change, kind in ((value & ~previous, "tripped"), (previous & ~value, "cleared")):
                if change.any():
                    reps = rows.rep_of(signal.domain)[change]
                    if signal.domain == "run":
                        yield Happening(reps, kind, signal.name, signal.name, writer)
                        continue
                    label = rows.labels(signal.domain).filter(pl.Series(change))
                    yield Happening(reps, kind, label, signal.name, writer + "(" + label + ")")

    def _loop_events(
        self, values: Mapping[str, Array], last: Mapping[str, Array], now: dict[str, Array]
    ) -> Iterator[Happening]:
        for pin, signal in self.loop:
            kind = _RISES.get(pin.partition(".")[0])
            if kind is None:
                continue
            value = values[signal.name]
            rises = value & ~_padded(last.get(pin), len(value))
            now[pin] = value
            if rises.any():
                yield Happening(np.flatnonzero(rises), kind, pin.partition(".")[2], signal.name, signal.name)


def _events(cells: Array, kind: str, by: Array, names: list[str], rows: Rows, detail: str) -> Iterator[Happening]:
    if cells.any():
        subject = rows.labels("cell").filter(pl.Series(cells))
        cause = [names[index].replace("{}", label) for index, label in zip(by[cells].tolist(), subject, strict=True)]
        yield Happening(rows.rep_of("cell")[cells], kind, subject, detail, pl.Series(cause, dtype=pl.String))


def _padded(before: Array | None, length: int) -> Array:
    if before is not None and len(before) == length:
        return before
    bits = np.zeros(length, dtype=bool)
    if before is not None:
        bits[: len(before)] = before
    return bits


def _newly_set(bits: Array, last: Mapping[str, Array], now: dict[str, Array], name: str) -> Array:
    now[name] = bits
    return bits & ~_padded(last.get(name), len(bits))


def _apply_flag(memory: Memory, flag: str, rises: Array, falls: Array) -> Memory:
    column, value = ("annexed", False) if flag == "reinstated" else (flag, True)
    if rises.any():
        memory = set_flag(memory, rises, column, value=value)
    if flag != "reinstated" and falls.any():
        memory = set_flag(memory, falls, column, value=False)
    return memory
