"""Net cut out of its surroundings: signals written by a cell, the loop or nothing are inputs, free within bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.netlist.language.address import Call, Path, Pin, Reduced, Row
from malsim.netlist.language.lexicon import LOOP_WRITES, SCORES
from malsim.netlist.wiring.net import derived_name, leaves
from malsim.scenario.proof.terms.solver import OutsideError
from ops.pin.declare import bound

if TYPE_CHECKING:
    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Net, Signal

OWN = {"clock.tick", "clock.days"}  # pins of the loop that follow from the number of ticks
SHARES = {*SCORES, *SCORES.values()}  # fields from 0 to 1
LEAST = {"reader.demand", "reader.pushed", "reader.expanded", "reviewer.waiting"}  # never below 0


@dataclass(frozen=True)
class FreeInput:
    """Signal with any value from `low` to `high` (None: unbounded) at each tick, and its writer."""

    name: str
    type: str
    source: str
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        ends = [f"{end:g}" if end is not None else "…" for end in (self.low, self.high)]
        return self.name + (f" [{ends[0]}, {ends[1]}]" if ends != ["…", "…"] else f" ({self.type})")


@dataclass(frozen=True)
class Cut:
    """Net whose ops all work on one row, and its inputs from outside."""

    net: Net
    inputs: tuple[FreeInput, ...]

    @property
    def sources(self) -> dict[str, str]:
        """Signals by their writer outside: `dec_a3ee-scores-eff`, `reviewer.ack`."""
        return {item.source: item.name for item in self.inputs if item.source}


def cut(net: Net) -> Cut:
    """Return the net without its connections to the memory and the loop.

    Raises
    ------
    OutsideError
        A signal that reduces the outputs of ops over many rows, with its line.
    """
    signals, inputs = {}, []
    for name, signal in net.signals.items():
        inner = _inside(signal, net)
        if not inner and (signal.writer or name not in net.initial):
            inputs.append(_input(signal, net))
        links = signal.links if inner or not signal.writer else signal.readers
        signals[name] = replace(signal, domain="run", links=links)
    instances = {name: replace(item, domain="run") for name, item in net.instances.items()}
    return Cut(replace(net, instances=instances, signals=signals, flags=(), programs=()), tuple(inputs))


def place(statement: Statement) -> str:
    """Return `file:line` of a statement."""
    return f"{statement.file or 'netlist'}:{statement.line}"


def _inside(signal: Signal, net: Net) -> bool:
    where = signal.writer.address if signal.writer else None
    if isinstance(where, Pin):
        return where.instance in net.instances or str(where) in OWN
    if signal.writer and where and any(isinstance(leaf, Pin) or derived_name(leaf) for leaf in leaves(where)):
        problem = "a signal that is worked out from ops of many rows has no exact translation"
        raise OutsideError(problem, where=place(signal.writer.statement), given=str(where))
    return False


def _input(signal: Signal, net: Net) -> FreeInput:
    source = str(signal.writer.address) if signal.writer else ""
    low, high = _bounds(signal, net)
    return FreeInput(signal.name, signal.type, source, low, high)


def _bounds(signal: Signal, net: Net) -> tuple[float | None, float | None]:
    where = signal.writer.address if signal.writer else None
    if signal.type == "bit":
        return None, None
    if str(where) in LOOP_WRITES:
        return (0.0 if str(where) in LEAST else None), None
    if isinstance(where, Reduced) and where.reducer in {"count", "share"}:
        return 0.0, None if where.reducer == "count" else 1.0
    if where is not None:
        inner = where.inner if isinstance(where, Reduced) else where
        share = isinstance(inner, (Path, Row)) and bool(inner.fields) and inner.fields[-1] in SHARES
        total = isinstance(where, Reduced) and where.reducer == "sum"
        return (0.0, None if total else 1.0) if share and not isinstance(where, Call) else (None, None)
    pins = [net.instances[link.pin.instance].sheet.slots[link.pin.name].pin for link in signal.readers
            if link.pin and link.pin.instance in net.instances]  # fmt: skip
    lows, highs = ([end for pin in pins if not np.isnan(end := bound(pin, side))] for side in ("low", "high"))
    return max(lows, default=None), min(highs, default=None)
