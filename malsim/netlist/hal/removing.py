"""The commands of `.hal` text that take something away, kept as actions and told again on the statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.errors import nearest
from malsim.netlist.hal import removal
from malsim.netlist.language.faults import Fault, NetlistError
from malsim.netlist.language.statements import Blank

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.netlist.hal.state import Text
    from malsim.netlist.language.statements import Statement

MOST = 1_000

__all__ = ["REMOVALS", "delf", "delsig", "ran", "remaining", "unlinkp", "unload"]


def unlinkp(text: Text, words: list[str]) -> None:
    """Take a pin off its signal, if it is on one."""
    (hals,) = words
    text.act("unlinkp", *text.pins(hals))


def delsig(text: Text, words: list[str]) -> None:
    """Take every pin off a signal."""
    (signal,) = words
    if signal != "all" and signal not in text.signals:
        text.fault(signal, "no such signal", hint=nearest(signal, text.signals))
        return
    text.signals -= set(text.signals) if signal == "all" else {signal}
    text.act("delsig", signal)


def delf(text: Text, words: list[str]) -> None:
    """Take a function off its thread."""
    function, *thread = words
    on = [name for name, listed in text.threads.items() if function in listed and thread in ([], [name])]
    if not on:
        text.fault(function, "this function is on no such thread")
        return
    text.threads[on[0]].remove(function)
    text.act("delf", *ran(text, function))


def unload(text: Text, words: list[str]) -> None:
    """Take away the instances of a component, or one of them by its name, or all."""
    (name,) = words
    gone = [one for one, placed in text.instances.items() if name in {"all", one, placed.component.name}]
    if not gone and name != "all":
        text.fault(name, "nothing of this name is loaded", hint=nearest(name, text.instances))
        return
    parts = [part.name for one in gone for part in text.instances.pop(one).parts]
    for function, ours in list(text.functions.items()):
        text.functions[function] = tuple(one for one in ours if one not in set(parts))
        if not text.functions[function]:
            del text.functions[function]
    for listed in text.threads.values():
        listed[:] = [function for function in listed if function in text.functions]
    text.act("unload", *parts)


def ran(text: Text, function: str) -> tuple[str, ...]:
    """The instances of ours that run where HAL runs a function: none for the first of a watchdog's two."""
    name, word = text.split(function)
    several = list(text.instances[name].component.functions) if name else []
    return () if len(several) > 1 and word != several[-1] else text.functions[function]


REMOVALS: dict[str, Callable[[list[Statement], tuple[str, ...]], list[Statement]]] = {
    "unlinkp": lambda statements, pins: removal.without_pins(statements, set(pins)),
    "delsig": lambda statements, signals: removal.without_signal(statements, signals[0]),
    "delf": lambda statements, functions: removal.without_functions(statements, set(functions)),
    "unload": lambda statements, names: removal.without_instances(statements, set(names)),
}


def remaining(text: Text) -> list[Statement]:
    """What the whole text leaves standing: every statement that nothing after it took away."""
    left: list[Statement] = []
    done = 0
    _refuse_many(text)
    for action in text.actions:
        if action.words[0] in REMOVALS:
            left += text.statements[done : action.after]
            done = action.after
            left = REMOVALS[action.words[0]](left, action.words[1:])
    return [*left, *text.statements[done:]]


def _refuse_many(text: Text) -> None:
    """Each removal looks at all statements before it, so their number is bounded."""
    removed = [action for action in text.actions if action.words[0] in REMOVALS]
    if len(removed) > MOST:
        place = Blank(file=removed[MOST].file, line=removed[MOST].line)
        problem = "too many commands that take something away"
        raise NetlistError([Fault.at(place, removed[MOST].words[0], problem, allowed=f"at most {MOST} in a text")])
