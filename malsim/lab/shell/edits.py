"""What a shell takes away again: a function off its thread, a pin off its signal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.errors import UsageError
from malsim.lab.shell.session import linked
from malsim.netlist.faults import nearest
from malsim.netlist.statements import Load, Schedule, Set, Wire
from malsim.netlist.values import exact
from ops.pin import In

if TYPE_CHECKING:
    from malsim.lab.shell.session import Session
    from malsim.netlist.statements import Statement

__all__ = ["delf", "unlinkp"]


def delf(session: Session, function: str, thread: str = "tick") -> Session:
    """Take a function off a thread; the instance stays loaded."""
    added = {name: one.name for one in session.net.threads for name in one.functions}
    if added.get(function) != thread:
        on = f"it is on {added[function]}" if function in added else nearest(function, added)
        raise UsageError("this function is not on this thread", given=f"{function} {thread}", hint=on or None)
    loaded = {name for name, instance in session.net.instances.items() if isinstance(instance.made, Load)}
    kept: list[Statement] = []
    for statement in session.statements:
        if not (isinstance(statement, Schedule) and (statement.op, statement.thread) == (function, thread)):
            kept.append(statement)
        elif function not in loaded:  # its addf had loaded it
            kept.append(Load(function, names=(function,)))
    return session.wired(kept)


def unlinkp(session: Session, pin: str) -> Session:
    """Take a pin off its signal; an input keeps the value the signal had, as in HAL."""
    signal = linked(session.net).get(pin)
    if signal is None:
        raise UsageError("this pin is on no signal", given=pin, hint=nearest(pin, linked(session.net)) or None)
    kept: list[Statement] = []
    for statement in session.statements:
        if isinstance(statement, Wire):
            ends = tuple(end for end in statement.ends if end.address != pin)
            if ends:
                kept.append(replace(statement, ends=ends))
        else:
            kept.append(statement)
    values = session.values(pin)
    instance, _, name = pin.rpartition(".")
    known = session.net.instances.get(instance)
    if known is not None and isinstance(known.sheet.slots[name].pin, In) and values.size == 1 and values[0] == values[0]:
        kept.append(Set(pin, exact(float(values[0]))))
    return session.wired(kept)
