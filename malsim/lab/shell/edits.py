"""Removals in a shell: functions off their threads, pins off their signals, instances."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError, nearest
from malsim.lab.shell.session import signals_by_pin
from malsim.netlist.hal.removal import without_functions, without_instances, without_pins
from malsim.netlist.language.facts import instances as names_of
from malsim.netlist.language.statements import Load, Schedule, Set
from malsim.netlist.language.values import exact
from ops.pin import In

if TYPE_CHECKING:
    from malsim.lab.shell.session import Session
    from malsim.netlist.language.statements import Statement


def delf(session: Session, function: str, thread: str = "tick") -> Session:
    """Remove a function from a thread; the instance stays loaded."""
    threads = {name: one.name for one in session.net.threads for name in one.functions}
    if threads.get(function) != thread:
        on = f"it is on {threads[function]}" if function in threads else nearest(function, threads)
        raise UsageError("this function is not on this thread", given=f"{function} {thread}", hint=on or None)
    statements = without_functions(session.statements, {function})
    if isinstance(session.net.instances[function].statement, Schedule):  # its addf had loaded it
        statements.append(Load(function, names=(function,)))
    return session.with_wiring(statements)


def unlinkp(session: Session, *pins: str) -> Session:
    """Disconnect pins from their signals; an input keeps the value of the signal, as in HAL."""
    signals = signals_by_pin(session.net)
    for pin in pins:
        if pin not in signals:
            raise UsageError("this pin is on no signal", given=pin, hint=nearest(pin, signals))
    settings = [setting for pin in pins for setting in _last_value(session, pin)]
    return session.with_wiring([*without_pins(session.statements, pins), *settings])


def delsig(session: Session, signal: str) -> Session:
    """Disconnect all pins from a signal, or from all signals; a signal without pins is removed."""
    signals = session.net.signals
    if signal != "all" and signal not in signals:
        raise UsageError("no such signal", given=signal, hint=nearest(signal, signals))
    names = signals if signal == "all" else [signal]
    return unlinkp(session, *(str(link.address) for name in names for link in signals[name].links))


def unload(session: Session, name: str) -> Session:
    """Remove an instance, all instances of an op, or with `all` every instance, and their wires."""
    instances = session.net.instances
    names = {one for one, instance in instances.items() if name in {"all", one, instance.sheet.name}}
    if not names and name != "all":
        raise UsageError("nothing of this name is loaded", given=name, hint=nearest(name, instances))
    explicit = [
        replace(one, names=names_of(one), count=None) if isinstance(one, Load) else one for one in session.statements
    ]
    return session.with_wiring(without_instances(explicit, names))


def _last_value(session: Session, pin: str) -> list[Statement]:
    owner, _, name = pin.rpartition(".")
    instance, values = session.net.instances.get(owner), session.values(pin)
    if instance is None or not isinstance(instance.sheet.slots[name].pin, In) or values.size != 1 or values[0] != values[0]:
        return []
    return [Set(pin, exact(float(values[0])))]
