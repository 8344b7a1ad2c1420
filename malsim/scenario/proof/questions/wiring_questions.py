"""The ready-made questions about a net's parts: each matters, watchdogs are kicked, and the order makes no difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.netlist.language.address import Pin
from malsim.scenario.proof.questions.answer import SafetyAnswer
from malsim.scenario.proof.questions.cones import CLEARS, before, inputs_of, line_of, setting_of
from malsim.scenario.proof.same_outputs import OTHER, beside, leaving, same, stuck
from malsim.scenario.proof.ticks.cut import OWN, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.netlist.wiring import Link, Net
    from malsim.scenario.proof.questions.asking import Asking

MOVERS = {"charge-pump", "siggen", "replay"}  # ops whose outputs move although nothing is wired to them


def of_parts(asking: Asking) -> Iterator[SafetyAnswer]:
    """Ask whether each op, and each input, affects anything that leaves the net, and say what it affects."""
    net, outputs = asking.net, dict[str, list[str]]()
    for name, signal in net.signals.items():
        pin = signal.writer.address if signal.writer else None
        inside = isinstance(pin, Pin) and pin.instance in net.instances
        if inside or name not in net.initial:
            outputs.setdefault(pin.instance if inside and isinstance(pin, Pin) else name, []).append(name)
    for part, signals in outputs.items():
        other, line = stuck(net, signals), line_of(net, signals[0])
        answer = asking.can(f"{part} matters", same(net, net), line, net=beside(net, other))
        yield replace(answer, reason=_what_differs(net, answer), other=f"other-NAME is NAME of the net without {part}")


def _what_differs(net: Net, answer: SafetyAnswer) -> str:
    """Return which outputs the last tick of the trace shows to differ, or that none ever does."""
    if answer.flaw:
        return "without it no output is ever different"
    trace = answer.proof.trace if answer.proof else None
    if trace is None:
        return answer.reason
    names = [name for name in leaving(net) if trace[name][-1] != trace[OTHER + name][-1]]
    return f"without it {' and '.join(names)} differ{'s' if len(names) == 1 else ''}"


def of_wiring(net: Net) -> Iterator[SafetyAnswer]:
    """Report whether every watchdog can be kicked, and whether every acknowledgement reaches what it clears."""
    moving = {item.name for item in cut(net).inputs}
    moving |= {name for name, item in net.signals.items() if item.writer and _moves(net, item.writer)}
    for name, instance in net.instances.items():
        if instance.sheet.name != "watchdog":
            continue
        pins = inputs_of(net, name)
        for pin in (pin for pin in instance.sheet.slots if pin.startswith("in-")):
            question = f"{name}.{pin} can be kicked"
            source = pins.get(pin, "")
            line = line_of(net, source, f"{name}.{pin}") if source else setting_of(net, name)
            kicked = bool(source) and bool(before(net, [source]) & moving)
            reason = "by its wiring" if kicked else "nothing that moves is wired to it"
            yield SafetyAnswer(question, None, kicked, line, reason)
    for name, signal in net.signals.items():
        if signal.writer and str(signal.writer.address).startswith("reviewer.ack"):
            ends = {link.pin.name for item in net.fed_by([name]) for link in net.signals[item].readers if link.pin}
            reaches = bool(ends & set(CLEARS))
            reason = "by its wiring" if reaches else "it reaches no reset and no enable"
            yield SafetyAnswer(f"the acknowledgement {name} reaches an alarm", None, reaches, line_of(net, name), reason)


def _moves(net: Net, writer: Link) -> bool:
    instance = net.instances.get(writer.pin.instance) if writer.pin else None
    return str(writer.address) in OWN or (instance is not None and instance.sheet.name in MOVERS)


def of_order(asking: Asking) -> Iterator[SafetyAnswer]:
    """Ask whether reading a signal before it is written delays an output by one tick."""
    net = asking.net
    for index, thread in enumerate(net.threads):
        turn = {name: number for number, name in enumerate(thread.functions)}
        lines = {item.op: item.line for item in reversed(thread.schedules)}
        for writer, reader in _late(net, turn):
            rest = [name for name in thread.functions if name != reader]
            at = rest.index(writer) + 1
            functions = (*rest[:at], reader, *rest[at:])
            threads = (*net.threads[:index], replace(thread, functions=functions), *net.threads[index + 1 :])
            other = replace(net, threads=threads)
            question = f"the order of {reader} and {writer}, which it reads, makes no difference"
            answer = asking.keeps(question, same(net, other), lines.get(reader, 0), net=beside(net, other))
            yield replace(answer, other=f"other-NAME is NAME of the net in which {reader} comes after {writer}")


def _late(net: Net, turn: dict[str, int]) -> Iterator[tuple[str, str]]:
    pairs = set()
    for signal in net.signals.values():
        writer = signal.writer.pin.instance if signal.writer and signal.writer.pin else ""
        readers = {link.pin.instance for link in signal.readers if link.pin}
        pairs |= {(writer, item) for item in readers if writer in turn and item in turn and turn[item] < turn[writer]}
    yield from sorted(pairs)
