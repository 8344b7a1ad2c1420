"""Resolution of the addresses on wires to pins, cell fields, domain rows or reductions, with type and direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from malsim.base.errors import AddressError, nearest
from malsim.memory import schema
from malsim.netlist.language.address import Call, Constant, Path, Pin, Reduced, Row, column_of
from malsim.netlist.language.lexicon import ACTUATORS, FIELDS, FLAGS, GRIDS, LOOP_READS, LOOP_WRITES, SUMS, WORK
from malsim.netlist.language.values import handle
from malsim.netlist.wiring.net import derived_name
from ops.pin import In, Param

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.netlist.language.address import Address
    from malsim.netlist.wiring.net import Instance

_CODES = {("writer",), ("origin",), ("object",), ("kind",), ("root",)}
_WORDS = {**schema.WORDS, "status": schema.STATUS}
_BROAD = {("cell", "writer"), ("writer_topic", "writer")}  # each row of the first domain belongs to one row of the second


class Point(NamedTuple):
    """Resolved end of a wire: type, domain, whether it may write or read a signal, and the domain it reduces, if any."""

    address: Address
    type: str
    domain: str
    writes: bool
    reads: bool
    of: str = ""


def point(where: Address, instances: Mapping[str, Instance | None]) -> Point | None:
    """Resolve an address. Return None for a pin of a faulty instance; raise `AddressError` if a name is unknown."""
    if isinstance(where, Pin):
        return _pin(where, instances)
    if isinstance(where, Path):
        return _path(where)
    if isinstance(where, Row):
        return _row(where)
    if isinstance(where, Reduced):
        return _reducer(where, instances)
    if isinstance(where, Call):
        return _call(where, instances)
    raise AddressError("a bare name is not a pin", hint="write INSTANCE.PIN")


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
        pins = [name for name, entry in instance.sheet.slots.items() if not isinstance(entry.pin, Param)]
        problem = f"{instance.sheet.name} has no such pin"
        raise AddressError(problem, allowed=" ".join(pins[:40]), hint=nearest(where.name, pins))
    if isinstance(slot.pin, Param):
        raise AddressError("a parameter cannot be wired", hint=f"set it: setp {where} VALUE")
    reads = isinstance(slot.pin, In)
    return Point(where, slot.pin.type, instance.domain, writes=not reads, reads=reads)


def _path(where: Path) -> Point:
    if any(hop.every for hop in where.hops):
        raise AddressError("this address matches more than one cell", hint=f"reduce them: mean({where})")
    if not where.fields:
        raise AddressError("this address names a cell, but a value is required", hint=f"name a field: {where}-scores-eff")
    fixed = bool(where.hops) or handle(where.handle, short=True).immutable
    return _field(where, where.fields, schema.CELLS, "run", fixed=fixed)


def _row(where: Row) -> Point:
    if where.hops:
        raise AddressError("this address matches more than one cell", hint=f"reduce them: mean({where})")
    if derived_name(where):
        return Point(where, "float", where.domain, writes=True, reads=True)
    if where.domain in {"topic", *GRIDS} and where.fields in {(name,) for name in SUMS}:
        return Point(where, "float", where.domain, writes=True, reads=False)
    frames = {"cell": schema.CELLS, "writer": schema.WRITERS}
    if where.domain not in frames:
        hint = f"write mean(cell-scores-eff), {where.domain}-derived-NAME, or for topics -{', -'.join(SUMS)}"
        raise AddressError("only cells and writers have fields", allowed="cell-…, writer-…", hint=hint)
    domain = "run" if where.name else where.domain
    if where.domain == "cell" and is_computed(where.fields):
        return Point(where, "float", domain, writes=True, reads=False)
    return _field(where, where.fields, frames[where.domain], domain, fixed=bool(where.name) or where.domain != "cell")


def _field(where: Path | Row, fields: tuple[str, ...], columns: Mapping[str, object], domain: str, *, fixed: bool) -> Point:
    group, name = (fields[0], fields[-1]) if len(fields) > 1 else ("", fields[-1])
    column = FLAGS.get(name, name)
    actuator = group == "flags" and column in ACTUATORS
    if actuator and column not in columns:
        return Point(where, "bit", domain, writes=False, reads=not fixed)
    kind = _type(columns[column_of(fields, list(columns), where)])
    if not kind:
        raise AddressError("this field is not a number", hint="choose a field of type float, int or bit")
    return Point(where, kind, domain, writes=True, reads=actuator and not fixed)


def is_computed(fields: tuple[str, ...]) -> bool:
    """Return True if a cell field is computed rather than stored, such as `age`, `work-impact` or `status-annexed`."""
    first, *rest = fields or ("",)
    if len(rest) == 1:
        return (first == "work" and rest[0] in WORK) or rest[0] in _WORDS.get(first, ())
    return not rest and first in FIELDS


def _type(column: object) -> str:
    kind = pl.DataType.from_python(bool) if column is bool else column
    if kind == pl.Boolean:
        return "bit"
    if kind == pl.Float64:
        return "float"
    return "int" if kind in {pl.Int32, pl.Int64, pl.UInt32, pl.UInt64} else ""


def _reducer(where: Reduced, instances: Mapping[str, Instance | None]) -> Point | None:
    inner = where.inner
    kind = "int" if where.reducer in {"count", "distinct"} else "float"
    if isinstance(inner, Path):
        if inner.fields:
            _field(inner, inner.fields, schema.CELLS, "run", fixed=True)
        elif where.reducer != "count":
            raise AddressError(
                "this address names a cell, but a value is required",
                hint=f"name a field: {where.reducer}({inner}-scores-eff)",
            )
        return Point(where, kind, "run", writes=True, reads=False)
    if isinstance(inner, Row) and inner.hops:
        return _neighbours(where, inner, kind)
    of = inner.domain if isinstance(inner, Row) else "run"
    if isinstance(inner, (Pin, Call)):
        source = point(inner, instances)
        if source is None:
            return None
        if not source.writes:
            raise AddressError("a reducer cannot read an input", hint="name an output pin")
        of = source.domain
        if not of:
            raise AddressError("the reducer has no domain to reduce", hint="name a field of cell or writer in the reducer")
    elif isinstance(inner, Row) and where.reducer == "distinct" and inner.fields in _CODES:
        kind = "int"
    else:
        _row(inner)
    return Point(where, kind, "", writes=True, reads=False, of=of)


def _neighbours(where: Reduced, row: Row, kind: str) -> Point:
    if row.domain != "cell" or where.reducer == "series":
        problem = "only cells have neighbours, and neighbours have no series"
        raise AddressError(problem, allowed="mean(cell.~supports.*-scores-eff)")
    if not all(hop.every for hop in row.hops):
        raise AddressError("a hop from a row must reach every neighbour", hint=f"write {'.*'.join(map(str, row.hops))}.*")
    if row.fields and not (where.reducer == "distinct" and row.fields in _CODES):
        _row(Row("cell", row.fields))
    elif not row.fields and where.reducer != "count":
        raise AddressError(
            "this address names a cell, but a value is required", hint=f"name a field: {where.reducer}({row}-scores-eff)"
        )
    return Point(where, kind, "cell", writes=True, reads=False)


def _call(where: Call, instances: Mapping[str, Instance | None]) -> Point | None:
    points = []
    for argument in where.arguments:
        if not isinstance(argument, Constant):
            source = point(argument, instances)
            if source is None:
                return None
            if not source.writes:
                raise AddressError("a function can read only outputs and fields", given=str(argument))
            points.append(source)
    domains = {point.domain for point in points} - {"run"}
    of = next((point.of for point in points if point.of), "")
    finest = domains - {""}
    for many, single in _BROAD:
        finest -= {single} if many in finest else set()
    if len(finest) > 1:
        given = " and ".join(sorted(finest))
        raise AddressError("the arguments have different domains", given=given, hint="reduce one of them")
    domain = finest.pop() if finest else "" if domains else "run"
    return Point(where, "float", domain, writes=True, reads=False, of="" if domain else of)
