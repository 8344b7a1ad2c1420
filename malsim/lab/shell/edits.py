"""What a shell takes away again: functions off their threads, pins off their signals, instances."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.errors import UsageError, nearest
from malsim.lab.shell.session import linked
from malsim.netlist.hal.removal import without_functions, without_instances, without_pins
from malsim.netlist.language.facts import instances as names_of
from malsim.netlist.language.statements import Load, Schedule, Set
from malsim.netlist.language.values import exact
from ops.pin import In

if TYPE_CHECKING:
    from malsim.lab.shell.session import Session
    from malsim.netlist.language.statements import Statement

__all__ = ["delf", "delsig", "unlinkp", "unload"]


def delf(session: Session, function: str, thread: str = "tick") -> Session:
    """Take a function off a thread; the instance stays loaded."""
    added = {name: one.name for one in session.net.threads for name in one.functions}
    if added.get(function) != thread:
        on = f"it is on {added[function]}" if function in added else nearest(function, added)
        raise UsageError("this function is not on this thread", given=f"{function} {thread}", hint=on or None)
    kept = without_functions(session.statements, {function})
    if isinstance(session.net.instances[function].statement, Schedule):  # its addf had loaded it
        kept.append(Load(function, names=(function,)))
    return session.wired(kept)


def unlinkp(session: Session, *pins: str) -> Session:
    """Take pins off their signals; an input keeps the value the signal had, as in HAL."""
    on = linked(session.net)
    for pin in pins:
        if pin not in on:
            raise UsageError("this pin is on no signal", given=pin, hint=nearest(pin, on))
    kept = without_pins(session.statements, pins)
    return session.wired([*kept, *(setting for pin in pins for setting in _kept_value(session, pin))])


def delsig(session: Session, signal: str) -> Session:
    """Take every pin off a signal, or off all of them; with the last pin the signal goes."""
    signals = session.net.signals
    if signal != "all" and signal not in signals:
        raise UsageError("no such signal", given=signal, hint=nearest(signal, signals))
    gone = signals if signal == "all" else [signal]
    return unlinkp(session, *(str(link.address) for name in gone for link in signals[name].links))


def unload(session: Session, name: str) -> Session:
    """Take away an instance, all instances of an op, or with `all` everything, and what is wired to them."""
    known = session.net.instances
    gone = {one for one, instance in known.items() if name in {"all", one, instance.sheet.name}}
    if not gone and name != "all":
        raise UsageError("nothing of this name is loaded", given=name, hint=nearest(name, known))
    said = [replace(one, names=names_of(one), count=None) if isinstance(one, Load) else one for one in session.statements]
    return session.wired(without_instances(said, gone))


def _kept_value(session: Session, pin: str) -> list[Statement]:
    values = session.values(pin)
    instance, _, name = pin.rpartition(".")
    known = session.net.instances.get(instance)
    held = known is not None and isinstance(known.sheet.slots[name].pin, In) and values.size == 1 and values[0] == values[0]
    return [Set(pin, exact(float(values[0])))] if held else []
