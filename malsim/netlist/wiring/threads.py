"""Threads: which functions run at every so many ticks, in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.base.errors import nearest
from malsim.netlist.language.facts import place
from malsim.netlist.language.faults import Fault, at_line
from malsim.netlist.language.lexicon import COMPILED, PROGRAMS
from malsim.netlist.language.statements import Schedule
from malsim.netlist.language.statements import Thread as Declared
from malsim.netlist.wiring.instances import is_program
from malsim.netlist.wiring.net import Thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from malsim.netlist.language.statements import Statement
    from malsim.netlist.wiring.net import Instance


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
    for one in standing:
        if one.op not in PROGRAMS:
            hint = nearest(one.op, PROGRAMS, "an op is added without brackets")
            faults.append(Fault.at(one, one.op, "no such standing program", allowed=" ".join(PROGRAMS), hint=hint))
    return tuple(one for one in standing if one.op in PROGRAMS)
