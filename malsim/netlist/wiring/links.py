"""Conversion of wires to signals: ends are resolved; types, writers, domains and arrows are checked."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.base.errors import AddressError
from malsim.netlist.language.address import Call, Path, Pin, Reduced, Row
from malsim.netlist.language.faults import Fault, at_line
from malsim.netlist.language.lexicon import SCORES
from malsim.netlist.language.statements import Wire
from malsim.netlist.wiring.instances import with_type
from malsim.netlist.wiring.net import Link, Signal, derived_name
from malsim.netlist.wiring.points import point

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from malsim.netlist.language.address import Address
    from malsim.netlist.language.statements import End, Statement
    from malsim.netlist.wiring.net import Instance
    from malsim.netlist.wiring.points import Point

_BELONGS = (
    ("cell", "run"), ("cell", "writer"), ("cell", "topic"), ("cell", "writer_topic"), ("writer", "run"), ("topic", "run"),
    ("writer_topic", "writer"), ("writer_topic", "topic"), ("writer_topic", "run"),
)  # fmt: skip


def documents(wire: Wire) -> bool:
    """Return True if a wire only documents the tick: `net eff dec_a3ee < conf supports.*` on a tick-owned score."""
    return wire.signal in SCORES and "-" not in wire.ends[0].address and "." not in wire.ends[0].address


def signals(
    statements: Iterable[Statement], instances: dict[str, Instance | None], faults: list[Fault]
) -> dict[str, Signal]:
    links: dict[str, list[Link]] = defaultdict(list)
    for statement in statements:
        if isinstance(statement, Wire) and not documents(statement):
            if _is_pin(statement.signal, instances):
                hint = "write the signal's name after net"
                faults.append(Fault.at(statement, statement.signal, "a signal may not be named like a pin", hint=hint))
            links[statement.signal] += _links(statement, instances, faults)
    _infer(links, instances)
    by_end: dict[str, Signal] = {}
    by_name = {}
    for name, ends in links.items():
        by_name[name] = _signal(name, _with_types(_distinct(ends), instances), faults)
        _once(by_name[name], by_end, faults)
    return by_name


def _is_pin(name: str, instances: Mapping[str, Instance | None]) -> bool:
    owner, _, pin = name.rpartition(".")
    instance = instances.get(owner)
    return instance is not None and pin in instance.sheet.slots


def _links(wire: Wire, instances: Mapping[str, Instance | None], faults: list[Fault]) -> Iterator[Link]:
    points: list[tuple[End, Point]] = []
    for end in wire.ends:
        try:
            end_point = point(end.address, instances)
        except AddressError as error:
            faults.append(Fault.at(wire, end.address, error.problem, allowed=error.allowed or "", hint=error.hint or ""))
        else:
            if end_point is not None:
                points.append((end, end_point))
    has_writer = any(end_point.writes and not end_point.reads for _, end_point in points)
    for end, end_point in points:
        if wrong := _against(end, end_point):
            faults.append(Fault.at(wire, end.address, wrong, hint="turn the arrow round, or name what it should reach"))
            continue
        writes = end.role == "writes" if end.role else end_point.writes and not (end_point.reads and has_writer)
        yield Link(end_point.address, writes, end_point.type, end_point.domain, wire, end.address, end_point.of)


def _against(end: End, place: Point) -> str:
    if end.role == "writes" and not place.writes:
        return "this arrow leads away from an input"
    if end.role == "reads" and not place.reads:
        is_value = isinstance(place.address, (Path, Row, Reduced, Call))
        return "this value is not a wire's to write" if is_value else "this arrow leads to an output"
    return ""


def _infer(links: Mapping[str, list[Link]], instances: dict[str, Instance | None]) -> None:
    generic = {name: ends for name, ends in links.items() if any(link.type == "any" for link in ends)}
    touching: dict[str, list[str]] = defaultdict(list)
    for name, ends in generic.items():
        for link in ends:
            if isinstance(link.address, Pin):
                touching[link.address.instance].append(name)
    waiting = deque(generic)
    while waiting:
        ends = _with_types(generic[waiting.popleft()], instances)
        kind = next((link.type for link in ends if link.type != "any"), "")
        for link in ends if kind else ():
            if link.type == "any" and isinstance(link.address, Pin) and (instance := instances[link.address.instance]):
                instances[instance.name] = with_type(instance, kind)
                waiting.extend(touching[instance.name])
    for name, instance in instances.items():
        if instance is not None and any(slot.pin.type == "any" for slot in instance.sheet.slots.values()):
            instances[name] = with_type(instance, "float")


def _with_types(links: Iterable[Link], instances: Mapping[str, Instance | None]) -> list[Link]:
    current = []
    for link in links:
        instance = instances.get(link.address.instance) if link.type == "any" and isinstance(link.address, Pin) else None
        current.append(replace(link, type=instance.sheet.slots[link.address.name].pin.type) if instance else link)  # type: ignore[union-attr]
    return current


def _distinct(links: Iterable[Link]) -> Iterable[Link]:
    first: dict[tuple[Address, bool], Link] = {}
    for link in links:
        first.setdefault((link.address, link.writes), link)
    return first.values()


def _signal(name: str, links: list[Link], faults: list[Fault]) -> Signal:
    writers = [link for link in links if link.writes]
    for link in writers[1:]:
        reads = isinstance(link.address, (Path, Row, Reduced, Call))
        hint = "reduce them: mean(…)" if reads else "merge them with an op such as or2"
        problem = f"{name} is written already, by {writers[0].word}{at_line(writers[0].statement, link.statement)}"
        faults.append(Fault.at(link.statement, link.word, problem, hint=hint))
    kind = (writers or links)[0].type if links else "float"
    for link in links:
        if link.type != kind and (link.writes or not derived_name(link.address)):  # a derived value takes any number
            problem = f"{name} carries a {kind}, and this is a {link.type}"
            faults.append(Fault.at(link.statement, link.word, problem, hint=f"put a to-{link.type} between"))
    return Signal(name, kind, _domain(name, writers, links, faults), tuple(links))


def _domain(name: str, writers: list[Link], links: list[Link], faults: list[Fault]) -> str:
    readers = [link for link in links if not link.writes]
    domain = writers[0].domain if writers else "run"
    domain = domain or next((link.domain for link in readers), "run")
    for link in readers:
        if link.domain != domain and (domain != "run" or (writers and not writers[0].domain)):
            problem = f"{name} has a value for every {domain}, and this takes one for every {link.domain}"
            faults.append(Fault.at(link.statement, link.word, problem, hint="reduce it on a net of its own: mean(…)"))
    if writers and writers[0].of and (writers[0].of, domain) not in _BELONGS:
        allowed = ", ".join(f"{many} to {belong}" for many, belong in _BELONGS)
        problem = f"a {writers[0].of} does not belong to one {domain}, so its values cannot be reduced to it"
        faults.append(Fault.at(writers[0].statement, writers[0].word, problem, allowed=allowed))
    return domain


def _once(signal: Signal, by_end: dict[str, Signal], faults: list[Fault]) -> None:
    for link in signal.links:
        if not isinstance(link.address, Pin) and link.writes:
            continue
        other = by_end.setdefault(str(link.address), signal)
        if other is not signal:
            problem = f"already on the signal {other.name}"
            faults.append(Fault.at(link.statement, link.word, problem, hint=f"add what you want to the net {other.name}"))
