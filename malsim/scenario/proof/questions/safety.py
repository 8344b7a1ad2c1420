"""Safety questions about a tripwire: its alarms, sinks, parts and wiring, and the order of its ops."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.netlist.language.address import Pin
from malsim.scenario.proof.questions.alarm_questions import of_alarm
from malsim.scenario.proof.questions.answer import CLEARS, Inquiry, SafetyAnswer, inputs_of, line_of, upstream
from malsim.scenario.proof.questions.sinks import of_sinks
from malsim.scenario.proof.ticks.cut import OTHER, OWN, both_nets, cut, equal_outputs, leaving, stuck

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from malsim.netlist.wiring import Link, Net

MOVERS = {"charge-pump", "siggen", "replay"}  # ops whose outputs change even if no input is wired


def safety(
    net: Net, *, alarm: str = "", assume: Sequence[str] = (), ticks: int = 40, timeout: float = 60.0
) -> tuple[SafetyAnswer, ...]:
    """Answer all safety questions about a net.

    Parameters
    ----------
    alarm
        Bit to treat as an alarm, in addition to the outputs of latches and watchdogs.
    timeout
        Time limit for all questions together, in seconds.

    Raises
    ------
    UsageError
        If no op of the net holds an alarm and `alarm` is empty.
    """
    alarms = list(dict.fromkeys([*(signal.name for signal in net.alarms), *([alarm] if alarm else [])]))
    if not alarms:
        hint = "name the alarm with --alarm SIGNAL, or prove another property with --prove 'always (…)'"
        raise UsageError("the net has no alarm, since no latch or watchdog is wired to a signal", hint=hint)
    inquiry = Inquiry(net, assume, ticks, time.monotonic() + timeout)
    answers = [answer for name in alarms for answer in of_alarm(inquiry, name)]
    return (*answers, *of_sinks(inquiry, alarms), *_of_wiring(net), *_of_parts(inquiry), *_of_order(inquiry))


def _of_parts(inquiry: Inquiry) -> Iterator[SafetyAnswer]:
    """Check that each op and each input affects a signal that leaves the net, and name the affected signals."""
    net, outputs = inquiry.net, dict[str, list[str]]()
    for name, signal in net.signals.items():
        pin = signal.writer.address if signal.writer else None
        inside = isinstance(pin, Pin) and pin.instance in net.instances
        if inside or name not in net.initial:
            outputs.setdefault(pin.instance if inside and isinstance(pin, Pin) else name, []).append(name)
    for part, signals in outputs.items():
        other, line = stuck(net, signals), line_of(net, signals[0])
        answer = inquiry.possible(f"{part} matters", equal_outputs(net, net), line, net=both_nets(net, other))
        yield replace(answer, reason=_difference(net, answer), other=f"other-NAME is NAME of the net without {part}")


def _difference(net: Net, answer: SafetyAnswer) -> str:
    """Describe which outputs differ at the last tick of the trace."""
    if answer.flaw:
        return "without it no output ever differs"
    trace = answer.proof.trace if answer.proof else None
    if trace is None:
        return answer.reason
    names = [name for name in leaving(net) if trace[name][-1] != trace[OTHER + name][-1]]
    return f"without it {' and '.join(names)} differ{'s' if len(names) == 1 else ''}"


def _of_wiring(net: Net) -> Iterator[SafetyAnswer]:
    """Check that every watchdog can be kicked, and that every acknowledgement reaches an alarm."""
    moving = {signal.name for signal in cut(net).inputs}
    moving |= {name for name, signal in net.signals.items() if signal.writer and _moves(net, signal.writer)}
    for name, instance in net.instances.items():
        if instance.sheet.name != "watchdog":
            continue
        pins = inputs_of(net, name)
        for pin in (pin for pin in instance.sheet.slots if pin.startswith("in-")):
            source = pins.get(pin, "")
            line = line_of(net, source, f"{name}.{pin}") if source else instance.statement.line
            kicked = bool(source) and bool(upstream(net, [source]) & moving)
            reason = "by its wiring" if kicked else "no signal that changes is wired to it"
            yield SafetyAnswer(f"{name}.{pin} can be kicked", None, kicked, line, reason)
    for name, signal in net.signals.items():
        if signal.writer and str(signal.writer.address).startswith("reviewer.ack"):
            ends = {link.pin.name for signal in net.fed_by([name]) for link in net.signals[signal].readers if link.pin}
            reaches = bool(ends & set(CLEARS))
            reason = "by its wiring" if reaches else "it reaches no reset and no enable"
            yield SafetyAnswer(f"the acknowledgement {name} reaches an alarm", None, reaches, line_of(net, name), reason)


def _moves(net: Net, writer: Link) -> bool:
    instance = net.instances.get(writer.pin.instance) if writer.pin else None
    return str(writer.address) in OWN or (instance is not None and instance.sheet.name in MOVERS)


def _of_order(inquiry: Inquiry) -> Iterator[SafetyAnswer]:
    """Check that no output is delayed by a tick because a signal is read before it is written."""
    net = inquiry.net
    for index, thread in enumerate(net.threads):
        order = {name: number for number, name in enumerate(thread.functions)}
        lines = {schedule.op: schedule.line for schedule in reversed(thread.schedules)}
        for writer, reader in _early_readers(net, order):
            rest = [name for name in thread.functions if name != reader]
            after = rest.index(writer) + 1
            functions = (*rest[:after], reader, *rest[after:])
            threads = (*net.threads[:index], replace(thread, functions=functions), *net.threads[index + 1 :])
            other = replace(net, threads=threads)
            question = f"the order of {reader} and {writer}, which it reads, makes no difference"
            text, both = equal_outputs(net, other), both_nets(net, other)
            answer = inquiry.always(question, text, lines.get(reader, 0), net=both)
            yield replace(answer, other=f"other-NAME is NAME of the net in which {reader} comes after {writer}")


def _early_readers(net: Net, order: dict[str, int]) -> list[tuple[str, str]]:
    """Return the pairs (writer, reader) of ops in one thread in which the reader is called before the writer."""
    pairs = set()
    for signal in net.signals.values():
        writer = signal.writer.pin.instance if signal.writer and signal.writer.pin else ""
        readers = {link.pin.instance for link in signal.readers if link.pin}
        pairs |= {(writer, name) for name in readers if writer in order and name in order and order[name] < order[writer]}
    return sorted(pairs)
