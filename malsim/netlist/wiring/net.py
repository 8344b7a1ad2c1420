"""Linked net: op instances, the signals between their pins, settings, and the threads that call the instances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from malsim.netlist.language.address import Call, Constant, Path, Pin, Reduced, Row
from malsim.netlist.language.lexicon import ALARMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from malsim.netlist.language.address import Address, Name
    from malsim.netlist.language.statements import Schedule, Set, Statement, Wire
    from ops import Sheet


BELONGS = {
    "cell": ("run", "writer", "topic", "writer_topic"), "writer": ("run",), "topic": ("run",),
    "writer_topic": ("run", "writer", "topic"),
}  # fmt: skip


def belongs(many: str, group: str) -> bool:
    """Return True if each row of the domain `many` belongs to one row of the domain `group`.

    >>> belongs("cell", "writer"), belongs("writer", "cell")
    (True, False)
    """
    return group in BELONGS.get(many, ())


@dataclass(frozen=True, slots=True)
class Instance:
    """Op instance of a net: sized data sheet, domain, the statement that loaded the instance, and settings from `setp`."""

    name: str
    sheet: Sheet
    domain: str
    statement: Statement
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """End of a signal: its address, its direction, and the type and domain of its values.

    A reduced end has an empty `domain`, because the domain of its readers applies; `of` is then the domain that is reduced.
    """

    address: Address
    writes: bool
    type: str
    domain: str
    statement: Wire
    word: str
    of: str = ""

    @property
    def pin(self) -> Pin | None:
        where = self.address.inner if isinstance(self.address, Reduced) else self.address
        return where if isinstance(where, Pin) else None


@dataclass(frozen=True, slots=True)
class Signal:
    """Named value with a type, a domain, at most one writer and any number of readers."""

    name: str
    type: str
    domain: str
    links: tuple[Link, ...]

    @property
    def writer(self) -> Link | None:
        return next((link for link in self.links if link.writes), None)

    @property
    def readers(self) -> tuple[Link, ...]:
        return tuple(link for link in self.links if not link.writes)

    @property
    def derived_reads(self) -> list[str]:
        ends = leaves(self.writer.address) if self.writer else ()
        return [name for leaf in ends if (name := derived_name(leaf))]


@dataclass(frozen=True, slots=True)
class Thread:
    """Thread of a net: functions that run in order, every `every` ticks. `schedules` holds the `addf` of each function."""

    name: str
    every: int
    functions: tuple[str, ...]
    schedules: tuple[Schedule, ...] = ()


@dataclass(frozen=True, slots=True)
class Net:
    """Linked netlist. `documented` wires only describe what the tick computes; `flags` are set on cells at load time."""

    instances: Mapping[str, Instance] = field(default_factory=dict)
    signals: Mapping[str, Signal] = field(default_factory=dict)
    threads: tuple[Thread, ...] = ()
    programs: tuple[Schedule, ...] = ()
    settings_of_programs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    initial: Mapping[str, float | bool] = field(default_factory=dict)
    flags: tuple[Set, ...] = ()
    documented: tuple[Wire, ...] = ()

    @property
    def alarms(self) -> tuple[Signal, ...]:
        ops = ((name, instance.sheet.name) for name, instance in self.instances.items())
        pins = {Pin(name, ALARMS[op]) for name, op in ops if op in ALARMS}
        return tuple(signal for signal in self.signals.values() if signal.writer and signal.writer.address in pins)

    def fed_by(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the named signals and all signals downstream of them, each once."""
        moving = dict.fromkeys(names)
        while True:
            pins = [link.pin for name in moving for link in self.signals[name].readers if link.pin]
            through = {pin.instance for pin in pins} & self.instances.keys()
            writers = ((name, signal.writer) for name, signal in self.signals.items() if name not in moving)
            more = [name for name, writer in writers if writer and writer.pin and writer.pin.instance in through]
            if not more:
                return tuple(moving)
            moving |= dict.fromkeys(more)

    @property
    def pins(self) -> dict[str, str]:
        """Map from pin to signal name. Pins that are read only through a reducer are left out."""
        links = [(link.address, signal.name) for signal in self.signals.values() for link in signal.links]
        return {str(where): name for where, name in links if isinstance(where, Pin)}

    @property
    def paths(self) -> tuple[tuple[Link, Path], ...]:
        ends = ((link, leaf) for signal in self.signals.values() for link in signal.links for leaf in leaves(link.address))
        return tuple((link, leaf) for link, leaf in ends if isinstance(leaf, Path))

    @property
    def derived(self) -> dict[str, Signal]:
        """Map from derived value to the signal that owns it.

        Keys are short names, such as `cell-trust` for `cell-derived-trust`.
        """
        ends = ((derived_name(link.address), signal) for signal in self.signals.values() for link in signal.readers)
        return {name: signal for name, signal in ends if name}


def derived_name(where: Address) -> str:
    """Return the short name of a derived value (`cell-trust` for `cell-derived-trust`), or "" for any other address.

    >>> derived_name(Row("cell", ("derived", "trust")))
    'cell-trust'
    """
    if not isinstance(where, Row) or where.fields[:1] != ("derived",) or where.name:
        return ""
    return "-".join([where.domain, *where.fields[1:]])


def leaves(where: Address | Constant) -> Iterator[Path | Row | Pin | Name]:
    """Yield the addresses nested inside the reducers and functions of an address.

    >>> from malsim.netlist.language.address import address
    >>> [str(leaf) for leaf in leaves(address("div(mean(cell-scores-eff),low.out)"))]
    ['cell-scores-eff', 'low.out']
    """
    if isinstance(where, Call):
        for argument in where.arguments:
            yield from leaves(argument)
    elif isinstance(where, Reduced):
        yield from leaves(where.inner)
    elif not isinstance(where, Constant):
        yield where
