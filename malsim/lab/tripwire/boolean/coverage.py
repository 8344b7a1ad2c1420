"""Coverage of the Boolean part by a stream: outputs seen in both states, inputs shown to matter on their own (MC/DC)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.tripwire.boolean.machine import Machine
from malsim.netlist.engine.engine import DAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from malsim.lab.tripwire.boolean.machine import Bools, MachineStep
    from malsim.lab.tripwire.boolean.part import Part
    from malsim.netlist.wiring import Instance

KINDS = {"kind": pl.String, "name": pl.String, "shown": pl.Boolean, "wants": pl.String, "line": pl.Int64}


def coverage(part: Part, stream: Mapping[str, Bools], *, tick: float = DAY) -> pl.DataFrame:
    """Run a part over the bits that came to it and tabulate what they showed.

    An input pin of an op is shown to matter on its own (modified condition / decision coverage, DO-178B) where two calls
    with the same state and the same other inputs differ in it and in an output of the op.

    Parameters
    ----------
    stream
        Ticks × replications of each input of the part.
    tick
        Milliseconds between two ticks.

    Returns
    -------
    pl.DataFrame
        kind (`output` or `input`), name (`alarm.out`, `either.in-0`), shown, wants (what it would take), line.
    """
    machine = Machine(part, tick=tick)
    calls = _calls(machine, stream)
    rows = [row for name, op_calls in calls.items() for row in _rows(part, name, op_calls)]
    return pl.DataFrame(rows, schema=KINDS, orient="row")


def _calls(machine: Machine, stream: Mapping[str, Bools]) -> dict[str, NDArray[np.float64]]:
    """The distinct calls of each op: its inputs, its state before, its outputs, as rows."""
    part = machine.part
    ticks, reps = next(iter(stream.values())).shape if stream else (0, 1)
    calls: dict[str, NDArray[np.float64]] = {}
    states = np.repeat(machine.start(), reps, axis=0)
    for tick in range(ticks):
        bits = np.column_stack([stream[name][tick] for name in part.inputs]) if part.inputs else np.empty((reps, 0), bool)
        step = machine.step(states, bits, tick + 1)
        states = step.states
        for thread in part.net.threads:
            for name in thread.functions if (tick + 1) % thread.every == 0 else ():
                call = _call(part.net.instances[name], name, step, reps)
                calls[name] = np.unique(np.concatenate([calls[name], call]) if name in calls else call, axis=0)
    return calls


def _call(instance: Instance, name: str, step: MachineStep, reps: int) -> NDArray[np.float64]:
    after, before, sheet = step.ops[name], step.before[name], instance.sheet
    values = [after[key] for key in sheet.ins] + [before[key] for key in sheet.state]
    values += [after[key] for key, out in sheet.outs.items() if out.type == "bit"]
    return np.column_stack([np.broadcast_to(value, (*value.shape[:-1], reps)).reshape(-1, reps).T for value in values])


def _rows(part: Part, name: str, calls: NDArray[np.float64]) -> Iterator[tuple[str, str, bool, str, int]]:
    instance = part.net.instances[name]
    sheet, line = instance.sheet, instance.statement.line
    wires = {str(link.address) for signal in part.net.signals.values() for link in signal.links}
    slots = {(slot.key, slot.row): pin for pin, slot in sheet.slots.items()}
    keys = [(key, row) for key in (*sheet.ins, *sheet.state) for row in _family(instance, key)]
    outs = [(key, row) for key, out in sheet.outs.items() if out.type == "bit" for row in _family(instance, key)]
    answers = calls[:, len(keys) :]
    for column, out in enumerate(outs):
        pin = f"{name}.{slots[out]}"
        if pin in wires:
            lacks = [word for word, value in (("true", True), ("false", False)) if value not in answers[:, column]]
            yield "output", pin, not lacks, f"a tick in which it is {' and one in which it is '.join(lacks)}", line
    for column, (key, row) in enumerate(keys):
        pin = f"{name}.{slots[key, row]}"
        if key in sheet.ins and pin in wires:
            others = np.delete(calls[:, : len(keys)], column, axis=1)
            yield "input", pin, _matters(others, answers), "two calls that differ in it alone, and in what comes of it", line


def _family(instance: Instance, key: str) -> list[int | None]:
    """The rows of a pin: numbers of a family, None of a single one."""
    pin = instance.sheet.declared[key]
    return list(range(instance.sheet.count(pin))) if pin.many else [None]


def _matters(others: NDArray[np.float64], answers: NDArray[np.float64]) -> bool:
    return len(np.unique(np.column_stack([others, answers]), axis=0)) > len(np.unique(others, axis=0))
