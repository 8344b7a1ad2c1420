"""Instances of ops: what `loadrt` loads, and what an `addf` of an op's name loads by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.base.errors import nearest
from malsim.netlist.language.facts import instances as names_of
from malsim.netlist.language.facts import place
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
    """Return the threads with their functions, the fastest first, which also runs first at a shared tick."""
    every = {"tick": 1}
    functions: dict[str, list[str]] = {"tick": []}
    schedules: dict[str, Schedule] = {}
    for statement in statements:
        if isinstance(statement, Declared):
            if statement.name in every:
                faults.append(Fault.at(statement, statement.name, "this name is already used", hint="take another name"))
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
        problem = f"this function was added already{where and ','}{where}"
        faults.append(Fault.at(statement, statement.op, problem, hint="a function is on one thread, once"))
        return
    schedules[statement.op] = statement
    at = place(statement.position, len(functions))
    if not 0 <= at <= len(functions):
        problem = f"there is no position {statement.position} among {len(functions)}"
        allowed = f"1 to {len(functions) + 1}, or -1 to -{len(functions) + 1}"
        faults.append(Fault.at(statement, statement.op, problem, allowed=allowed))
        return
    functions.insert(at, statement.op)


def programs(statements: Iterable[Statement], faults: list[Fault]) -> tuple[Schedule, ...]:
    standing = [statement for statement in statements if isinstance(statement, Schedule) and is_program(statement)]
    for item in standing:
        if item.op not in PROGRAMS:
            hint = nearest(item.op, PROGRAMS, "an op is added without brackets")
            faults.append(Fault.at(item, item.op, "no such standing program", allowed=" ".join(PROGRAMS), hint=hint))
    return tuple(program for program in standing if program.op in PROGRAMS)


class _Sheets:
    """The sheets found so far, or their errors: many lines load the same op, and a look-up costs more than they."""

    def __init__(self, palette: Callable[[str], Sheet]) -> None:
        self.palette = palette
        self.cache: dict[tuple[str, tuple[tuple[str, object], ...]], Sheet | OpError] = {}

    def get(self, op: str, choices: tuple[tuple[str, object], ...] = ()) -> Sheet:
        key = (op, choices)
        if key not in self.cache:
            try:
                self.cache[key] = self.get(op).sized(**dict(choices)) if choices else self.palette(op)
            except OpError as error:
                self.cache[key] = error
        answer = self.cache[key]
        if isinstance(answer, OpError):
            raise answer
        return answer


def instances(
    statements: Iterable[Statement], palette: Callable[[str], Sheet], faults: list[Fault]
) -> dict[str, Instance | None]:
    """Return the instances by name; None for a faulty `loadrt`, so that its pins are not reported as well."""
    sheets = _Sheets(palette)
    by_name: dict[str, Instance | None] = {}
    schedules: list[Schedule] = []
    for statement in statements:
        if isinstance(statement, Load):
            _load(statement, sheets, by_name, faults)
        elif isinstance(statement, Schedule) and not is_program(statement):
            schedules.append(statement)
    for statement in schedules:
        if statement.op not in by_name and statement.op not in COMPILED:
            by_name[statement.op] = _implicit(statement, sheets, by_name, faults)
    return by_name


def is_program(statement: Schedule) -> bool:
    """Return True if an `addf` declares a standing program: it has brackets, or a name that no op can have."""
    return bool(statement.options) or (statement.op in PROGRAMS and ("_" in statement.op or statement.op == "allocate"))


def _load(statement: Load, sheets: _Sheets, by_name: dict[str, Instance | None], faults: list[Fault]) -> None:
    choices = (("type", statement.type),) if statement.type else ()
    sheet: Sheet | None = None
    try:
        sheet = sheets.get(statement.op, (*choices, *statement.sizes))
    except OpError as error:
        faults.append(Fault.at(statement, statement.op, error.problem, allowed=error.allowed or "", hint=error.hint or ""))
    for name in names_of(statement):
        if name in by_name:
            before = by_name[name]
            where = at_line(before.statement, statement) if before else ""
            faults.append(Fault.at(statement, name, f"an instance of this name is loaded already{where}"))
        by_name[name] = Instance(name, sheet, statement.domain or "run", statement) if sheet else None


def _implicit(
    statement: Schedule, sheets: _Sheets, by_name: dict[str, Instance | None], faults: list[Fault]
) -> Instance | None:
    try:
        return Instance(statement.op, sheets.get(statement.op), "run", statement)
    except OpError as error:
        hint = nearest(statement.op, by_name) or error.hint or ""
        allowed = "a loaded instance, or an op"
        faults.append(Fault.at(statement, statement.op, "no such function", allowed=allowed, hint=hint))
        return None


def with_type(instance: Instance, kind: str) -> Instance:
    return replace(instance, sheet=instance.sheet.sized(type=kind))
