"""Linter for netlists, which warns about unread signals, signals read a tick late, loops and functions that never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.netlist.language.faults import Fault
from malsim.netlist.language.lexicon import COMPILED
from malsim.netlist.language.statements import Cell, Edges, Schedule
from malsim.netlist.wiring.link import link
from malsim.netlist.wiring.loops import loops

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from malsim.netlist.language.statements import Document, Statement
    from malsim.netlist.wiring import Net
    from ops import Sheet


def lint(
    document: Document,
    palette: Callable[[str], Sheet] | None = None,
    *,
    net: Net | None = None,
    inputs: Collection[str] = (),
) -> list[Fault]:
    """Return all warnings about a netlist. Raise `NetlistError` if the netlist does not link.

    The warnings are: a signal without writer or reader, a reader that runs before its writer, an instance that no
    thread calls or nothing reads, a loop with its sign, a wire that only documents the tick, and ignored text. `net` is
    the linked net, if known; `inputs` are the signals that a scenario feeds.
    """
    net = net or link(document, palette)
    notes = [*_signals(net, inputs), *_late(net), *_instances(net), *_loops(net), *_documenting(net)]
    notes += _remarks(document.statements)
    return sorted(notes, key=lambda note: (note.file != document.name, note.file, note.line, note.column))


def _signals(net: Net, inputs: Collection[str]) -> Iterator[Fault]:
    for signal in net.signals.values():
        if not signal.links:
            continue
        statement = signal.links[0].statement
        if signal.writer is None and signal.name not in net.initial and signal.name not in inputs:
            hint = f"wire an output to it, or set it: {signal.name} = VALUE"
            yield Fault.at(statement, statement.signal, "nothing writes this signal", hint=hint)
        if not signal.readers:
            hint = "wire it to an input, or record it"
            yield Fault.at(statement, statement.signal, "nothing reads this signal", hint=hint)


def _late(net: Net) -> Iterator[Fault]:
    turn = {}
    for rank, thread in enumerate(net.threads):
        for index, schedule in enumerate(thread.schedules):
            turn[schedule.op] = (rank, index, schedule)
    for signal in net.signals.values():
        writer = signal.writer.pin if signal.writer else None
        writer_turn = turn.get(writer.instance) if writer else None
        for pin in (reader.pin for reader in signal.readers):
            reader_turn = turn.get(pin.instance) if pin else None
            if writer_turn is not None and reader_turn is not None and reader_turn[:2] < writer_turn[:2]:
                reader_name, writer_name = reader_turn[2].op, writer_turn[2].op
                problem = f"{reader_name} reads {signal.name} a tick late, because {writer_name} runs after it"
                hint = f"add it after line {writer_turn[2].line}, where {writer_name} is added, unless the lag is intended"
                yield Fault.at(reader_turn[2], reader_name, problem, hint=hint)


def _instances(net: Net) -> Iterator[Fault]:
    functions = {function for thread in net.threads for function in thread.functions}
    writers = {
        signal.writer.pin.instance
        for signal in net.signals.values()
        if signal.readers and signal.writer and signal.writer.pin
    }
    for name, instance in net.instances.items():
        if name not in functions:
            yield Fault.at(instance.statement, name, "no thread calls this instance", hint=f"addf {name} tick")
        elif name not in writers:
            hint = "wire one of its outputs"
            yield Fault.at(instance.statement, name, "nothing reads the outputs of this instance", hint=hint)


def _loops(net: Net) -> Iterator[Fault]:
    meaning = {"+": "reinforces itself", "−": "corrects itself", "±": "acts in both directions", "0": "has no effect"}
    for loop in loops(net):
        instance = loop.steps[0].writes.instance
        yield Fault.at(net.instances[instance].statement, instance, f"a loop that {meaning[loop.sign]}: {loop}")


def _documenting(net: Net) -> Iterator[Fault]:
    for wire in net.documented:
        cell = wire.ends[0].address
        is_eff = wire.signal == "eff"
        inputs = (
            "conf, calib and the edges ~supports.*, ~contradicts.* and ~concerns.*"
            if is_eff
            else "the fields of the cell and time"
        )
        hint = f"the tick computes {wire.signal} of {cell} from {inputs}"
        yield Fault.at(wire, wire.signal, "this wire only documents the tick and writes nothing", hint=hint)


def _remarks(statements: Iterable[Statement]) -> Iterator[Fault]:
    for statement in statements:
        if isinstance(statement, (Cell, Edges)) and statement.remark:
            words = " ".join(statement.remark)
            yield Fault.at(statement, words, "these words have no effect", hint="write # before them")
        elif isinstance(statement, Schedule) and statement.op in COMPILED:
            yield Fault.at(statement, statement.op, "the tick already does this", hint="remove the line")
