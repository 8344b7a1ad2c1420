"""Settings from `setp` and `=`: pins and parameters within bounds, unwritten signals, cell flags."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from malsim.base.errors import AddressError, nearest
from malsim.netlist.language.address import Name, Path, Pin, address
from malsim.netlist.language.faults import Fault
from malsim.netlist.language.handles import handle
from malsim.netlist.language.lexicon import FLAGS
from malsim.netlist.language.statements import Set
from malsim.netlist.language.values import bit, number
from ops import OpError
from ops.pin import Out
from ops.pin.binding import bind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring.net import Instance, Signal

_FLAGS = {(name,) for name in (*FLAGS, *FLAGS.values())}


@dataclass(frozen=True)
class Settings:
    """Values by instance or standing program and pin, values by signal, and the flags to set."""

    pins: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    initial: dict[str, float | bool] = field(default_factory=dict)
    flags: list[Set] = field(default_factory=list)


def settings(
    statements: Iterable[Statement],
    instances: Mapping[str, Instance | None],
    signals: Mapping[str, Signal],
    programs: Collection[str],
    faults: list[Fault],
) -> Settings:
    """Gather every `set`, the last of several. What a program makes of its settings is its own business."""
    result = Settings()
    links = ((link.address, signal.name) for signal in signals.values() for link in signal.links)
    signal_of = {where: name for where, name in links if isinstance(where, Pin)}
    for statement in statements:
        if isinstance(statement, Set) and statement.address.partition(".")[0] in programs:
            name, _, setting = statement.address.partition(".")
            result.pins[name][setting] = statement.value
        elif isinstance(statement, Set):
            try:
                _set(statement, instances, signals, signal_of, result)
            except (AddressError, OpError) as error:
                allowed, hint = error.allowed or "", error.hint or ""
                word = statement.value if isinstance(error, OpError) else statement.address
                faults.append(Fault.at(statement, word, error.problem, allowed=allowed, hint=hint))
    return result


def _set(
    statement: Set,
    instances: Mapping[str, Instance | None],
    signals: Mapping[str, Signal],
    signal_of: Mapping[Pin, str],
    result: Settings,
) -> None:
    where = address(statement.address)
    if isinstance(where, Pin) and str(where) in signals:  # of a block: its name stands before the signal's
        where = Name(str(where))
    if isinstance(where, Pin):
        if where in signal_of:
            raise AddressError("a linked pin is written by its signal", hint=f"remove it from the net {signal_of[where]}")
        _pin(statement, where, instances, result)
    elif isinstance(where, Name):
        result.initial[where.text] = _signal(statement, where, signals)
    elif isinstance(where, Path):
        result.flags.append(_flag(statement, where))
    else:
        raise AddressError("only a pin, a parameter, a signal or a flag of a cell is set")


def _pin(statement: Set, where: Pin, instances: Mapping[str, Instance | None], result: Settings) -> None:
    if where.instance not in instances:
        hint = nearest(where.instance, instances, f"load it: loadrt OP names={where.instance}")
        raise AddressError("no such instance", hint=hint)
    instance = instances[where.instance]
    if instance is None:
        return
    slot = instance.sheet.slots.get(where.name)
    if slot is not None and isinstance(slot.pin, Out):
        raise AddressError("an output is not set", hint="wire it to what should read it")
    if slot is None and not any(name.rpartition("-")[0] == where.name for name in instance.sheet.slots):
        can = [name for name, entry in instance.sheet.slots.items() if not isinstance(entry.pin, Out)]
        problem = f"{instance.sheet.name} has no such pin or parameter"
        raise AddressError(problem, allowed=" ".join(can[:40]), hint=nearest(where.name, can))
    bind(instance.sheet, {where.name: statement.value})
    result.pins[where.instance][where.name] = statement.value


def _signal(statement: Set, where: Name, signals: Mapping[str, Signal]) -> float | bool:
    signal = signals.get(where.text)
    if signal is None:
        raise AddressError("no such signal", hint=nearest(where.text, signals))
    if signal.writer is not None:
        raise AddressError("this signal is written by a pin", hint=f"set what writes it: {signal.writer.word}")
    value = bit(statement.value) if signal.type == "bit" else number(statement.value)
    if value is None or (signal.type == "int" and not float(value).is_integer()):
        raise OpError("not an int" if signal.type == "int" else f"not a {signal.type}")
    return value


def _flag(statement: Set, where: Path) -> Set:
    if where.hops or where.fields[:1] != ("flags",) or where.fields[1:] not in _FLAGS:
        allowed = " ".join(f"{where.handle}-flags-{flag}" for flag in FLAGS)
        raise AddressError("of a cell only a flag is set", allowed=allowed)
    if where.version is not None:
        hint = f"write the handle that {where.handle}@v{where.version} has"
        raise AddressError("a flag is set on a cell by its own handle", hint=hint)
    if handle(where.handle, short=True).immutable:
        raise AddressError("an immutable cell is not changed")
    if bit(statement.value) is None:
        raise OpError("not a bit", allowed="true or false")
    return statement
