"""Conversion of `net` statements to signals: ends are resolved, and types, writers, domains and arrows are checked."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.base.errors import AddressError
from malsim.netlist.language.address import Call, Path, Pin, Reduced, Row, address
from malsim.netlist.language.faults import Fault, at_line
from malsim.netlist.language.lexicon import SCORES
from malsim.netlist.language.statements import Wire
from malsim.netlist.wiring.net import BELONGS, Link, Signal, belongs, derived_name
from malsim.netlist.wiring.points import point

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from malsim.netlist.language.statements import End, Statement
    from malsim.netlist.wiring.net import Instance
    from malsim.netlist.wiring.points import Point


def documents(wire: Wire) -> bool:
    """Return True if a wire only documents a score that the tick computes: `net eff dec_a3ee < conf supports.*`."""
    return wire.signal in SCORES and "-" not in wire.ends[0].address and "." not in wire.ends[0].address


def signals(
    statements: Iterable[Statement], instances: dict[str, Instance | None], faults: list[Fault]
) -> dict[str, Signal]:
    links: dict[str, list[Link]] = defaultdict(list)
    for statement in statements:
        if isinstance(statement, Wire) and not documents(statement):
            owner, _, pin = statement.signal.rpartition(".")
            if (instance := instances.get(owner)) and pin in instance.sheet.slots:
                hint = "write the signal's name after net"
                faults.append(Fault.at(statement, statement.signal, "a signal cannot have the name of a pin", hint=hint))
            links[statement.signal] += _links(statement, instances, faults)
    _infer(links, instances)
    by_end: dict[str, Signal] = {}
    by_name = {}
    for name, ends in links.items():
        by_name[name] = _signal(name, _with_types(ends, instances), faults)
        _check_ends(by_name[name], by_end, faults)
    return by_name


def _links(wire: Wire, instances: Mapping[str, Instance | None], faults: list[Fault]) -> Iterator[Link]:
    points: list[tuple[End, Point]] = []
    for end in wire.ends:
        try:
            end_point = point(address(end.address), instances)
        except AddressError as error:
            faults.append(Fault.at(wire, end.address, error.problem, allowed=error.allowed or "", hint=error.hint or ""))
        else:
            if end_point is not None:
                points.append((end, end_point))
    has_writer = any(end_point.writes and not end_point.reads for _, end_point in points)
    for end, end_point in points:
        if problem := _wrong_arrow(end, end_point):
            faults.append(Fault.at(wire, end.address, problem, hint="reverse the arrow, or name another pin"))
            continue
        writes = end.role == "writes" if end.role else end_point.writes and not (end_point.reads and has_writer)
        yield Link(end_point.address, writes, end_point.type, end_point.domain, wire, end.address, end_point.of)


def _wrong_arrow(end: End, target: Point) -> str:
    if end.role == "writes" and not target.writes:
        return "an input cannot write a signal"
    if end.role == "reads" and not target.reads:
        is_value = isinstance(target.address, (Path, Row, Reduced, Call))
        return "a wire cannot write this value" if is_value else "an output cannot read a signal"
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
                instances[instance.name] = replace(instance, sheet=instance.sheet.sized(type=kind))
                waiting.extend(touching[instance.name])
    for name, instance in instances.items():
        if instance is not None and any(slot.pin.type == "any" for slot in instance.sheet.slots.values()):
            instances[name] = replace(instance, sheet=instance.sheet.sized(type="float"))


def _with_types(links: Iterable[Link], instances: Mapping[str, Instance | None]) -> list[Link]:
    current = []
    for link in links:
        instance = instances.get(link.address.instance) if link.type == "any" and isinstance(link.address, Pin) else None
        current.append(replace(link, type=instance.sheet.slots[link.address.name].pin.type) if instance else link)  # type: ignore[union-attr]
    return current


def _signal(name: str, ends: list[Link], faults: list[Fault]) -> Signal:
    # If a link occurs more than once, the first one is kept.
    links = list({(link.address, link.writes): link for link in reversed(ends)}.values())[::-1]
    writers = [link for link in links if link.writes]
    for link in writers[1:]:
        reads = isinstance(link.address, (Path, Row, Reduced, Call))
        hint = "reduce the values: mean(…)" if reads else "merge the outputs with an op such as or2"
        problem = f"{name} already has a writer, {writers[0].word}{at_line(writers[0].statement, link.statement)}"
        faults.append(Fault.at(link.statement, link.word, problem, hint=hint))
    kind = (writers or links)[0].type if links else "float"
    for link in links:
        # A derived value can be written by a signal of any type.
        if link.type != kind and (link.writes or not derived_name(link.address)):
            problem = f"{name} carries a {kind}, but this end is a {link.type}"
            faults.append(Fault.at(link.statement, link.word, problem, hint=f"convert it with to-{link.type}"))
    return Signal(name, kind, _domain(name, writers, links, faults), tuple(links))


def _domain(name: str, writers: list[Link], links: list[Link], faults: list[Fault]) -> str:
    readers = [link for link in links if not link.writes]
    domain = writers[0].domain if writers else "run"
    domain = domain or next((link.domain for link in readers), "run")
    for link in readers:
        if link.domain != domain and (domain != "run" or (writers and not writers[0].domain)):
            problem = f"{name} has a value per {domain}, but this input needs one per {link.domain}"
            faults.append(Fault.at(link.statement, link.word, problem, hint="reduce it on a separate net: mean(…)"))
    if writers and writers[0].of and not belongs(writers[0].of, domain):
        allowed = ", ".join(f"{many} to {group}" for many, groups in BELONGS.items() for group in groups)
        problem = f"a {writers[0].of} does not belong to one {domain}, so its values cannot be reduced to it"
        faults.append(Fault.at(writers[0].statement, writers[0].word, problem, allowed=allowed))
    return domain


def _check_ends(signal: Signal, by_end: dict[str, Signal], faults: list[Fault]) -> None:
    for link in signal.links:
        if not isinstance(link.address, Pin) and link.writes:
            continue
        other = by_end.setdefault(str(link.address), signal)
        if other is not signal:
            problem = f"this end is already on the signal {other.name}"
            faults.append(Fault.at(link.statement, link.word, problem, hint=f"add the other ends to the net {other.name}"))
