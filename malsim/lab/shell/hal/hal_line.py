"""Typed lines in LinuxCNC syntax: how they are recognised, translated, and mapped to netlist names."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import ops
from malsim.base.errors import UsageError
from malsim.netlist.hal.read import translate
from malsim.netlist.hal.state import other_spelling
from malsim.netlist.language.faults import NetlistError
from malsim.netlist.language.statements import Set
from ops.pin.words import words as hal_components

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.lab.shell.session import Session
    from malsim.netlist.hal.state import HalText
    from malsim.netlist.language.statements import Statement
    from ops.pin.words import Component

ARROWS = {"=>", "<=", "<=>"}
LINKS = {"linkps": (1, 0), "linksp": (0, 1), "linkpp": ()}
"""Order of the operands of a link command in the equivalent `net` command."""


def wired(session: Session, statements: Sequence[Statement]) -> Session:
    """Return the session with additional statements. A signal that a statement sets takes its value immediately."""
    session = session.with_statements(statements) if statements else session
    for statement in statements:
        if isinstance(statement, Set) and not statement.setp and statement.address in session.net.initial:
            session = session.put(statement.address, session.net.initial[statement.address])
    return session


def is_hal(text: HalText, session: Session, words: Sequence[str]) -> bool:
    """Return whether a line refers to a LinuxCNC component, instance or function.

    A name shared by a component and an op means the component only if the session has no cells and all its instances come
    from LinuxCNC components.
    """
    name, first = words[0], words[1] if len(words) > 1 else ""
    if name == "loadrt":
        component = hal_components().get(first)
        return first == "threads" or (
            component is not None and (first not in ops.sheets() or _means_component(component, text, session, words))
        )
    if name in {"addf", "delf"}:
        return first in text.functions
    if name in {"unload", "unloadrt"}:
        return first in {*text.instances, *(instance.component.name for instance in text.instances.values())}
    if name == "setp" or words[1:2] == ["="]:
        return bool(text.split(first if name == "setp" else name)[0])
    return False


def _means_component(component: Component, text: HalText, session: Session, words: Sequence[str]) -> bool:
    arguments = {word.partition("=")[0] for word in words[2:]}
    instances = {part.name for instance in text.instances.values() for part in instance.parts}
    only_hal = session.memory.cells.is_empty() and set(session.net.instances) <= instances
    return only_hal and arguments <= {"names", "count", "num_chan", *component.arguments}


def translated(text: HalText, session: Session, words: Sequence[str]) -> HalText:
    """Return the translator state after a command. Raises `NetlistError` if the command has no netlist equivalent."""
    threads = {**{thread.name: list[str]() for thread in session.net.threads}, **text.threads}
    new = replace(
        text,
        statements=[], actions=[], faults=[],
        instances=dict(text.instances), all_instances=dict(text.all_instances),
        signals=set(text.signals), net_signals=set(text.net_signals), signal_types=dict(text.signal_types),
        functions=dict(text.functions), threads={name: list(functions) for name, functions in threads.items()},
        aliases=dict(text.aliases), presets=defaultdict(dict, text.presets),
    )  # fmt: skip
    _check_no_op_choice(text, words)
    translate(new, list(words))
    if new.faults:
        raise NetlistError(new.faults)
    return new


def _check_no_op_choice(text: HalText, words: Sequence[str]) -> None:
    """Raise `UsageError` for a setting that selects the op of a component that is already loaded."""
    pin, value = (words[0], words[-1]) if words[1:2] == ["="] else (words[1], words[-1]) if len(words) > 1 else ("", "")
    name, word = text.split(pin)
    if name and word in text.instances[name].component.defaults:
        hint = "put both lines in a .hal file and run it with -f, which reads settings before loading"
        raise UsageError(
            f"{pin} selects the op of {name}, so it cannot be set after {name} is loaded", given=value, hint=hint
        )


def respelled(line: str, text: HalText, session: Session) -> str:
    """Rewrite a line for the netlist parser: netlist pin names instead of LinuxCNC's, `net` for link commands, no arrows."""
    words = line.split()
    if words and words[0] in LINKS and len(operands := [word for word in words[1:] if word not in ARROWS]) == 2:  # noqa: PLR2004 - two ends
        name = operands[0].replace(".", "-") if words[0] == "linkpp" else ""
        words = ["net", name, *operands] if name else ["net", *(operands[index] for index in LINKS[words[0]])]
    if not words or words[0] not in {"net", "setp", "getp", "ptype", "unlinkp", "meter", "addf", "delf"}:
        return line
    start = 2 if words[0] == "net" else 1
    pins = [_address(word, text, session) for word in words[start:] if words[0] != "net" or word not in ARROWS]
    return " ".join([*words[:start], *pins])


def _address(word: str, text: HalText, session: Session) -> str:
    """Translate a pin name from LinuxCNC's spelling to the netlist's. Other words are returned unchanged."""
    address = text.address(word)
    instance, _, pin = address.rpartition(".")
    if instance in session.net.instances:
        slots = session.net.instances[instance].sheet.slots
        if pin not in slots and other_spelling(pin) in slots:
            return f"{instance}.{other_spelling(pin)}"
    return address
