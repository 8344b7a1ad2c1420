"""Op instances of a netlist, loaded by `loadrt` or implicitly by `addf`, and the threads they run on."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from malsim.base.errors import nearest
from malsim.netlist.language.facts import insertion_index
from malsim.netlist.language.facts import instances as names_of
from malsim.netlist.language.faults import Fault, at_line
from malsim.netlist.language.lexicon import COMPILED, PROGRAMS
from malsim.netlist.language.statements import Load, Schedule
from malsim.netlist.language.statements import Thread as Declared
from malsim.netlist.wiring.net import Instance, Thread
from ops import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from malsim.netlist.language.statements import Statement
    from ops import Sheet


def threads(
    statements: Iterable[Statement], instances: Mapping[str, Instance | None], faults: list[Fault]
) -> tuple[Thread, ...]:
    """Return the threads with their functions, fastest thread first. Within a tick, threads run in this order."""
    every = {"tick": 1}
    functions: dict[str, list[str]] = {"tick": []}
    schedules: dict[str, Schedule] = {}
    for statement in statements:
        if isinstance(statement, Declared):
            if statement.name in every:
                faults.append(Fault.at(statement, statement.name, "this name is already used", hint="choose another name"))
            every[statement.name] = statement.every
            functions.setdefault(statement.name, [])
        elif isinstance(statement, Schedule) and not is_program(statement) and statement.op not in COMPILED:
            _add(statement, functions.setdefault(statement.thread, []), schedules, faults)
    order = []
    for name, period in sorted(every.items(), key=lambda thread: thread[1]):
        names = tuple(function for function in functions[name] if instances.get(function))
        order.append(Thread(name, period, names, tuple(schedules[function] for function in names)))
    return tuple(order)


def _add(statement: Schedule, functions: list[str], schedules: dict[str, Schedule], faults: list[Fault]) -> None:
    if before := schedules.get(statement.op):
        where = at_line(before, statement)
        problem = f"this function has already been added{where and ','}{where}"
        faults.append(Fault.at(statement, statement.op, problem, hint="keep one addf"))
        return
    schedules[statement.op] = statement
    index = insertion_index(statement.position, len(functions))
    if not 0 <= index <= len(functions):
        problem = f"position {statement.position} is out of bounds"
        allowed = f"1 to {len(functions) + 1}, or -1 to -{len(functions) + 1}"
        faults.append(Fault.at(statement, statement.op, problem, allowed=allowed))
        return
    functions.insert(index, statement.op)


def programs(statements: Iterable[Statement], faults: list[Fault]) -> tuple[Schedule, ...]:
    schedules = [statement for statement in statements if isinstance(statement, Schedule) and is_program(statement)]
    for schedule in schedules:
        if schedule.op not in PROGRAMS:
            hint = nearest(schedule.op, PROGRAMS, "add an op without brackets")
            allowed = " ".join(PROGRAMS)
            faults.append(Fault.at(schedule, schedule.op, "no such standing program", allowed=allowed, hint=hint))
    return tuple(program for program in schedules if program.op in PROGRAMS)


def instances(
    statements: Iterable[Statement], palette: Callable[[str], Sheet], faults: list[Fault]
) -> dict[str, Instance | None]:
    """Return the op instances keyed by name. A faulty `loadrt` yields None, so that its pins cause no further faults."""

    @cache  # cached because many lines load the same op, and each lookup is slow
    def sheet_of(op: str, choices: tuple[tuple[str, object], ...] = ()) -> Sheet | OpError:
        try:
            return palette(op).sized(**dict(choices)) if choices else palette(op)
        except OpError as error:
            return error

    by_name: dict[str, Instance | None] = {}
    statements = list(statements)
    for load in (statement for statement in statements if isinstance(statement, Load)):
        _load(load, sheet_of, by_name, faults)
    for schedule in (statement for statement in statements if isinstance(statement, Schedule)):
        op = schedule.op
        if op in by_name or op in COMPILED or is_program(schedule):
            continue
        sheet = sheet_of(op)
        by_name[op] = None if isinstance(sheet, OpError) else Instance(op, sheet, "run", schedule)
        if isinstance(sheet, OpError):
            hint = nearest(op, [name for name in by_name if name != op]) or sheet.hint or ""
            faults.append(Fault.at(schedule, op, "no such function", allowed="a loaded instance, or an op", hint=hint))
    return by_name


def is_program(statement: Schedule) -> bool:
    """Return True if an `addf` declares a standing program, by its options in brackets or by a name that no op has."""
    return bool(statement.options) or (statement.op in PROGRAMS and ("_" in statement.op or statement.op == "allocate"))


def _load(
    statement: Load, sheet_of: Callable[..., Sheet | OpError], by_name: dict[str, Instance | None], faults: list[Fault]
) -> None:
    choices = (("type", statement.type),) if statement.type else ()
    sheet = sheet_of(statement.op, (*choices, *statement.sizes))
    if isinstance(sheet, OpError):
        faults.append(Fault.at(statement, statement.op, sheet.problem, allowed=sheet.allowed or "", hint=sheet.hint or ""))
    for name in names_of(statement):
        if name in by_name:
            before = by_name[name]
            where = at_line(before.statement, statement) if before else ""
            faults.append(Fault.at(statement, name, f"this name is already used{where}", hint="choose another name"))
        domain = statement.domain or "run"
        by_name[name] = None if isinstance(sheet, OpError) else Instance(name, sheet, domain, statement)
