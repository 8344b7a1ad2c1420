"""HAL commands that remove parts of a net, such as `delf` and `unload`. Each is recorded as an action and applied later."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from malsim.base.errors import nearest
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.statements import Blank, Load, Schedule, Set, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from malsim.netlist.hal.state import HalText
    from malsim.netlist.language.statements import Statement

MOST = 1_000


def without_pins(statements: Iterable[Statement], pins: Collection[str]) -> list[Statement]:
    return _without_ends(list(statements), lambda _, pin: pin in pins)


def without_functions(statements: Iterable[Statement], functions: Collection[str]) -> list[Statement]:
    return [statement for statement in statements if not (isinstance(statement, Schedule) and statement.op in functions)]


def without_instances(statements: Iterable[Statement], names: Collection[str]) -> list[Statement]:
    """Return the statements without these instances and their pins, settings and functions.

    Other instances of the same `loadrt` remain.
    """
    rest: list[Statement] = []
    for statement in without_functions(statements, names):
        if isinstance(statement, Load) and set(statement.names) & set(names):
            others = tuple(name for name in statement.names if name not in names)
            rest += [replace(statement, names=others)] if others else []
        elif not (isinstance(statement, Set) and _owner(statement.address) in names):
            rest.append(statement)
    return _without_ends(rest, lambda _, pin: _owner(pin) in names)


def _owner(pin: str) -> str:
    return pin.rpartition(".")[0]


def _without_ends(statements: list[Statement], is_removed: Callable[[Wire, str], bool]) -> list[Statement]:
    rest: list[Statement] = []
    for statement in statements:
        if not isinstance(statement, Wire):
            rest.append(statement)
        elif ends := tuple(end for end in statement.ends if not is_removed(statement, end.address)):
            rest.append(statement if ends == statement.ends else replace(statement, ends=ends))
    unwired = _signals(statements) - _signals(rest)
    return [statement for statement in rest if not (isinstance(statement, Set) and statement.address in unwired)]


def _signals(statements: Iterable[Statement]) -> set[str]:
    return {statement.signal for statement in statements if isinstance(statement, Wire)}


REMOVALS: dict[str, Callable[[Iterable[Statement], Collection[str]], list[Statement]]] = {
    "unlinkp": without_pins, "delf": without_functions, "unload": without_instances,
    "delsig": lambda lines, names: _without_ends(list(lines), lambda wire, _: "all" in names or wire.signal in names),
}  # fmt: skip


def unlinkp(text: HalText, words: list[str]) -> None:
    (hal_pin,) = words
    text.act("unlinkp", *text.pins(hal_pin))


def delsig(text: HalText, words: list[str]) -> None:
    (signal,) = words
    if signal != "all" and signal not in text.signals:
        text.fault(signal, "no such signal", hint=nearest(signal, text.signals))
        return
    text.signals -= set(text.signals) if signal == "all" else {signal}
    text.act("delsig", signal)


def delf(text: HalText, words: list[str]) -> None:
    function, *thread = words
    threads = [name for name, functions in text.threads.items() if function in functions and thread in ([], [name])]
    if not threads:
        text.fault(function, "this function is not on this thread" if thread else "this function is not on any thread")
        return
    text.threads[threads[0]].remove(function)
    text.act("delf", *instances_run(text, function))


def unload(text: HalText, words: list[str]) -> None:
    (name,) = words
    names = [loaded for loaded, instance in text.instances.items() if name in {"all", loaded, instance.component.name}]
    if not names and name != "all":
        text.fault(name, "no such instance or component", hint=nearest(name, text.instances))
        return
    parts = [part.name for item in names for part in text.instances.pop(item).parts]
    for function, ours in list(text.functions.items()):
        text.functions[function] = tuple(part for part in ours if part not in set(parts))
        if not text.functions[function]:
            del text.functions[function]
    for functions in text.threads.values():
        functions[:] = [function for function in functions if function in text.functions]
    text.act("unload", *parts)


def instances_run(text: HalText, function: str) -> tuple[str, ...]:
    """Return the malsim instances that a HAL function runs.

    If a component has several functions, only the last one runs its instances.
    """
    name, word = text.split(function)
    several = list(text.instances[name].component.functions) if name else []
    return () if len(several) > 1 and word != several[-1] else text.functions[function]


def remaining(text: HalText) -> list[Statement]:
    """Apply all removal commands in order and return the remaining statements.

    Raise `NetlistError` if there are too many commands.
    """
    removals = [action for action in text.actions if action.words[0] in REMOVALS]
    if len(removals) > MOST:
        blank = Blank(file=removals[MOST].file, line=removals[MOST].line)
        problem = "too many removal commands"
        raise NetlistError([Fault.at(blank, removals[MOST].words[0], problem, allowed=f"at most {MOST} in one text")])
    statements: list[Statement] = []
    start = 0
    for action in removals:
        statements += text.statements[start : action.after]
        start = action.after
        statements = REMOVALS[action.words[0]](statements, frozenset(action.words[1:]))
    return [*statements, *text.statements[start:]]
