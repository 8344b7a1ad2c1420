"""Nets for proofs: nets whose cells and loop are replaced by free inputs, and pairs of nets joined to compare outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import UsageError
from malsim.netlist.language.address import Call, Path, Pin, Reduced, Row
from malsim.netlist.language.lexicon import LOOP_WRITES, SCORES
from malsim.netlist.wiring.net import derived_name, leaves
from malsim.scenario.proof.terms.elements import OutsideError
from ops.pin.declare import bound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring import Link, Net, Signal

OWN = {"clock.tick", "clock.days"}  # pins of the loop whose value follows from the number of ticks
SHARES = {*SCORES, *SCORES.values()}  # fields of a cell with values from 0 to 1
LEAST = {"reader.demand", "reader.pushed", "reader.expanded", "reviewer.waiting"}  # pins of the loop that are never negative


@dataclass(frozen=True)
class FreeInput:
    """Input signal that can have any value from `low` to `high` (None: unbounded) at each tick, and its source."""

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
    """Net that is detached from the memory and the loop, with its free inputs. Each op has a single row."""

    net: Net
    inputs: tuple[FreeInput, ...]

    @property
    def sources(self) -> dict[str, str]:
        """Map from an outside source, such as `dec_a3ee-scores-eff` or `reviewer.ack`, to its input signal."""
        return {signal.source: signal.name for signal in self.inputs if signal.source}


def cut(net: Net) -> Cut:
    """Return the net detached from the memory and the loop.

    Raises
    ------
    OutsideError
        If a signal reduces the outputs of ops over many rows. The error names the signal's line.
    """
    signals, inputs = {}, []
    for name, signal in net.signals.items():
        inner = _inside(signal, net)
        if not inner and (signal.writer or name not in net.initial):
            source = str(signal.writer.address) if signal.writer else ""
            inputs.append(FreeInput(name, signal.type, source, *_bounds(signal, net)))
        links = signal.links if inner or not signal.writer else signal.readers
        signals[name] = replace(signal, domain="run", links=links)
    instances = {name: replace(item, domain="run") for name, item in net.instances.items()}
    return Cut(replace(net, instances=instances, signals=signals, flags=(), programs=()), tuple(inputs))


def location(statement: Statement) -> str:
    """Return a statement's location as `file:line`."""
    return f"{statement.file or 'netlist'}:{statement.line}"


def initial_value(net: Net, name: str) -> float | bool:
    """Return a signal's value before the first tick: as declared, or else the initial value of a connected pin."""
    if name in net.initial:
        return net.initial[name]
    signal = net.signals[name]
    for link in [signal.writer] if signal.writer else signal.readers:
        if link.pin and link.pin.instance in net.instances:
            return net.instances[link.pin.instance].sheet.slots[link.pin.name].pin.first
    return 0.0


def _inside(signal: Signal, net: Net) -> bool:
    """Return whether a signal is computed within the net."""
    address = signal.writer.address if signal.writer else None
    if isinstance(address, Pin):
        return address.instance in net.instances or str(address) in OWN
    if signal.writer and address and any(isinstance(leaf, Pin) or derived_name(leaf) for leaf in leaves(address)):
        problem = "a signal that is computed from ops with many rows has no exact translation"
        raise OutsideError(problem, where=location(signal.writer.statement), given=str(address))
    return False


def _bounds(signal: Signal, net: Net) -> tuple[float | None, float | None]:
    address = signal.writer.address if signal.writer else None
    if signal.type == "bit":
        return None, None
    if str(address) in LOOP_WRITES:
        return (0.0 if str(address) in LEAST else None), None
    if isinstance(address, Reduced) and address.reducer in {"count", "share"}:
        return 0.0, None if address.reducer == "count" else 1.0
    if address is not None:
        inner = address.inner if isinstance(address, Reduced) else address
        share = isinstance(inner, (Path, Row)) and bool(inner.fields) and inner.fields[-1] in SHARES
        total = isinstance(address, Reduced) and address.reducer == "sum"
        return (0.0, None if total else 1.0) if share and not isinstance(address, Call) else (None, None)
    pins = [net.instances[link.pin.instance].sheet.slots[link.pin.name].pin for link in signal.readers
            if link.pin and link.pin.instance in net.instances]  # fmt: skip
    lows, highs = ([end for pin in pins if not np.isnan(end := bound(pin, side))] for side in ("low", "high"))
    return max(lows, default=None), min(highs, default=None)


OTHER = "other-"


def both_nets(net: Net, other: Net) -> Cut:
    """Join two nets into one. Names of the second net get the prefix `other-`, except those of shared inputs.

    An input is shared if both nets read it from the same cell or loop pin or, without a writer, if it has the same name.
    """
    first, second = cut(net), cut(other)
    names = {signal.source or signal.name: signal.name for signal in first.inputs}
    shared = {signal.name: names[key] for signal in second.inputs if (key := signal.source or signal.name) in names}
    signals = dict(first.net.signals)
    for name, signal in second.net.signals.items():
        links = tuple(
            replace(link, address=Pin(OTHER + link.address.instance, link.address.name))
            if isinstance(link.address, Pin)
            else link
            for link in signal.links
        )
        copy = replace(signal, name=shared.get(name, OTHER + name), links=links)
        old = signals.get(copy.name)
        signals[copy.name] = replace(old, links=(*old.links, *copy.links)) if old else copy
    instances = {OTHER + name: replace(item, name=OTHER + name) for name, item in second.net.instances.items()}
    threads = [replace(item, functions=tuple(OTHER + name for name in item.functions)) for item in second.net.threads]
    both = replace(
        first.net,
        instances={**first.net.instances, **instances},
        signals=signals,
        threads=(*first.net.threads, *threads),
        initial={**first.net.initial, **{OTHER + name: value for name, value in second.net.initial.items()}},
    )
    unshared = [replace(signal, name=OTHER + signal.name) for signal in second.inputs if signal.name not in shared]
    return Cut(both, (*first.inputs, *unshared))


def leaving(net: Net) -> tuple[str, ...]:
    """Return the signals that leave the net or that no op reads: alarms, flags, pins of the loop, readouts."""
    alarms = {signal.name for signal in net.alarms}
    return tuple(
        name
        for name, signal in net.signals.items()
        if signal.writer
        and _within(signal.writer, net)
        and (name in alarms or not signal.readers or not all(_within(link, net) for link in signal.readers))
    )


def _within(link: Link, net: Net) -> bool:
    return isinstance(link.address, Pin) and link.address.instance in net.instances


def equal_outputs(net: Net, other: Net) -> str:
    """Return the property that all outputs with the same name in both nets are always equal.

    Raises
    ------
    UsageError
        If no output exists in both nets under the same name.
    """
    names = [name for name in leaving(net) if name in leaving(other)]
    if not names:
        given = f"{' '.join(leaving(net))} and {' '.join(leaving(other))}"
        hint = "use the same name for the outputs to be compared"
        raise UsageError("the netlists have no outputs with the same name", given=given, hint=hint)
    return f"always ({' and '.join(f'{name} == {OTHER}{name}' for name in names)})"


def stuck(net: Net, signals: Iterable[str]) -> Net:
    """Return the net with the given signals stuck at their initial values."""
    initial: dict[str, float | bool] = dict(net.initial)
    changed: dict[str, Signal] = dict(net.signals)
    for name in signals:
        initial.setdefault(name, initial_value(net, name))
        changed[name] = replace(net.signals[name], links=net.signals[name].readers)
    return replace(net, signals=changed, initial=initial)
