"""Linked net: instances of ops, signals between their pins, settings, and threads that call them."""

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


@dataclass(frozen=True, slots=True)
class Instance:
    """Loaded op: its sized data sheet, domain, `loadrt` or `addf` statement, and settings from `setp`."""

    name: str
    sheet: Sheet
    domain: str
    statement: Statement
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """End of a signal: address, direction, type, and the domain of its values.

    The domain of a reduced end is empty, for it takes that of the instances that read it; `of` is then the domain reduced.
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
    """A named value: its type, its domain, at most one writer, any number of readers."""

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
    """Functions that run every `every` ticks, in order; `schedules` has the `addf` of each function."""

    name: str
    every: int
    functions: tuple[str, ...]
    schedules: tuple[Schedule, ...] = ()


@dataclass(frozen=True, slots=True)
class Net:
    """A linked netlist; `documented` wires only say what the tick does anyway, `flags` are set where it is loaded."""

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
        """Return the named signals and all signals that they move through ops of the net, without repeats."""
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
        """The signal on each pin; of a pin that is only reduced, the signal holds what it comes to, and is not on it."""
        links = [(link.address, signal.name) for signal in self.signals.values() for link in signal.links]
        return {str(where): name for where, name in links if isinstance(where, Pin)}

    @property
    def paths(self) -> tuple[tuple[Link, Path], ...]:
        ends = ((link, leaf) for signal in self.signals.values() for link in signal.links for leaf in leaves(link.address))
        return tuple((link, leaf) for link, leaf in ends if isinstance(leaf, Path))

    @property
    def derived(self) -> dict[str, Signal]:
        """The derived values, each with the signal that owns it: `cell-derived-trust` is `cell-trust`."""
        ends = ((derived_name(link.address), signal) for signal in self.signals.values() for link in signal.readers)
        return {name: signal for name, signal in ends if name}


def derived_name(where: Address) -> str:
    """Return the name of a derived value, `cell-trust` for `cell-derived-trust`, or an empty string.

    >>> derived_name(Row("cell", ("derived", "trust")))
    'cell-trust'
    """
    own = isinstance(where, Row) and where.fields[:1] == ("derived",) and not where.name
    return "-".join([where.domain, *where.fields[1:]]) if own and isinstance(where, Row) else ""


def leaves(where: Address | Constant) -> Iterator[Path | Row | Pin | Name]:
    """Yield the addresses that an address finally reads, without reducers and functions.

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
