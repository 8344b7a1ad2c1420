"""What an address on a wire is: a pin, a cell's field, a row of a domain, many values reduced to one; its type, its ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from malsim.errors import AddressError
from malsim.memory import schema
from malsim.netlist.language.address import Path, Pin, Reduced, Row, address, column_of
from malsim.netlist.language.faults import nearest
from malsim.netlist.language.handles import handle
from malsim.netlist.language.lexicon import ACTUATORS, FLAGS, LOOP_READS, LOOP_WRITES
from ops.pin import In, Param

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.netlist.language.address import Address
    from malsim.netlist.wiring.net import Instance

__all__ = ["Point", "point"]


class Point(NamedTuple):
    """One place a wire can end: its type, the domain it lives on, whether it may write or read a signal, what it reduces."""

    address: Address
    type: str
    domain: str
    writes: bool
    reads: bool
    of: str = ""


def point(text: str, instances: Mapping[str, Instance | None]) -> Point | None:
    """The place an address names; none for a pin of an instance that is itself at fault.

    Raises
    ------
    AddressError
        For no address, an unknown name, a parameter, or many values where one is wanted.
    """
    where = address(text)
    if isinstance(where, Pin):
        return _pin(where, instances)
    if isinstance(where, Path):
        return _path(where)
    if isinstance(where, Row):
        return _row(where)
    if isinstance(where, Reduced):
        return _reduced(where, instances)
    raise AddressError("a bare name is no pin", hint="write INSTANCE.PIN, or the signal's name before it")


def _pin(where: Pin, instances: Mapping[str, Instance | None]) -> Point | None:
    if str(where) in LOOP_WRITES:
        return Point(where, LOOP_WRITES[str(where)][0], "run", writes=True, reads=False)
    for name in (str(where), where.instance):
        if name in LOOP_READS:
            return Point(where, LOOP_READS[name][0], "run", writes=False, reads=True)
    if where.instance not in instances:
        loop = [*LOOP_WRITES, *LOOP_READS]
        raise AddressError("no such instance", hint=nearest(where.instance, instances) or nearest(str(where), loop))
    instance = instances[where.instance]
    if instance is None:
        return None
    slot = instance.sheet.slots.get(where.name)
    if slot is None:
        pins = [name for name, known in instance.sheet.slots.items() if not isinstance(known.pin, Param)]
        problem = f"{instance.sheet.name} has no such pin"
        raise AddressError(problem, allowed=" ".join(pins[:40]), hint=nearest(where.name, pins))
    if isinstance(slot.pin, Param):
        raise AddressError("a parameter is set, not wired", hint=f"setp {where} VALUE")
    reads = isinstance(slot.pin, In)
    return Point(where, slot.pin.type, instance.domain, writes=not reads, reads=reads)


def _path(where: Path) -> Point:
    if any(hop.every for hop in where.hops):
        raise AddressError("many cells stand at this address", hint=f"reduce them: mean({where})")
    if not where.fields:
        raise AddressError("a cell is no value", hint=f"name a field: {where}-scores-eff")
    return _field(
        where, where.fields, schema.CELLS, "run", fixed=bool(where.hops) or handle(where.handle, short=True).immutable
    )


def _row(where: Row) -> Point:
    frames = {"cell": schema.CELLS, "writer": schema.WRITERS}
    if where.domain not in frames:
        allowed = "cell-…, writer-…"
        raise AddressError("only cells and writers have fields of their own", allowed=allowed)
    domain = "run" if where.name else where.domain
    return _field(where, where.fields, frames[where.domain], domain, fixed=bool(where.name) or where.domain != "cell")


def _field(where: Path | Row, fields: tuple[str, ...], columns: Mapping[str, object], domain: str, *, fixed: bool) -> Point:
    """A field may be read where it is a number; of flags, those that are actuators may be written too."""
    group, name = (fields[0], fields[-1]) if len(fields) > 1 else ("", fields[-1])
    column = FLAGS.get(name, name)
    actuator = group == "flags" and column in ACTUATORS
    if actuator and column not in columns:
        return Point(where, "bit", domain, writes=False, reads=not fixed)
    kind = _type(columns[column_of(fields, list(columns), where)])
    if not kind:
        raise AddressError("this field is no number", hint="a wire carries a float, an int or a bit")
    return Point(where, kind, domain, writes=True, reads=actuator and not fixed)


def _type(column: object) -> str:
    kind = pl.DataType.from_python(bool) if column is bool else column
    if kind == pl.Boolean:
        return "bit"
    if kind == pl.Float64:
        return "float"
    return "int" if kind in {pl.Int32, pl.Int64, pl.UInt32, pl.UInt64} else ""


def _reduced(where: Reduced, instances: Mapping[str, Instance | None]) -> Point | None:
    """Values of many cells, of a domain's rows, or of every row of an instance; the domain is that of who reads it."""
    inner = where.inner
    kind = "int" if where.reducer == "count" else "float"
    if isinstance(inner, Path):
        if inner.fields:
            _field(inner, inner.fields, schema.CELLS, "run", fixed=True)
        elif where.reducer != "count":
            raise AddressError("a cell is no value", hint=f"name a field: {where.reducer}({inner}-scores-eff)")
        return Point(where, kind, "run", writes=True, reads=False)
    of = inner.domain if isinstance(inner, Row) else "run"
    if isinstance(inner, Pin):
        source = _pin(inner, instances)
        if source is None:
            return None
        if not source.writes:
            raise AddressError("a reducer reads an output", hint="name an output pin")
        of = source.domain
    else:
        _row(inner)
    return Point(where, kind, "", writes=True, reads=False, of=of)
