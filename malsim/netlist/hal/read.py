"""Translator from `.hal` commands to netlist statements.

Wiring commands become statements; commands with an effect (`start`, `loadusr`, `show` …) become actions. Arrows have no
meaning in HAL, so wire ends have no roles. HAL counts time in seconds and a net in days: one day stands for one second,
so that all rates, slopes and gains keep their values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from malsim.base.errors import nearest
from malsim.netlist.hal.parts import loadrt
from malsim.netlist.hal.removal import delf, delsig, instances_run, remaining, unlinkp, unload
from malsim.netlist.hal.state import SIGNAL_TYPES, HalText
from malsim.netlist.hal.tokens import commands
from malsim.netlist.language.facts import insertion_index
from malsim.netlist.language.faults import NetlistError
from malsim.netlist.language.statements import Document, End, Schedule, Set, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from malsim.netlist.hal.state import Action, HalInstance
    from malsim.netlist.language.statements import Statement

DAY = 8.64e7
ACTIONS = (
    "start", "stop", "loadusr", "unloadusr", "waitusr", "show", "list", "print", "echo", "unecho", "status", "getp", "gets",
    "ptype", "stype", "save", "step", "help", "debug",
)  # fmt: skip
PROGRAMS = {"halstreamer", "halsampler", "sleep", "sh", "bash"}


@dataclass(frozen=True)
class Translated:
    """Translated `.hal` text: the document, the base period in seconds (0 without threads), and the commands to execute.

    `statements` holds all statements in order; the document holds only the statements that no action has removed.
    """

    document: Document
    period: float
    actions: tuple[Action, ...] = ()
    statements: tuple[Statement, ...] = ()
    instances: Mapping[str, HalInstance] = field(default_factory=dict)
    text: HalText = field(default_factory=lambda: HalText(""), compare=False)

    @property
    def tick(self) -> float:
        """Tick length in milliseconds. One second of HAL time is simulated as one day."""
        return self.period * DAY


def read_hal(
    source: str | bytes, *, file: str = "netlist.hal", folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> Translated:
    r"""Translate `.hal` text, or its UTF-8 bytes, to a netlist.

    Raise `NetlistError` listing every line that has no counterpart.

    `file` is the name that faults give for the text; sourced files are read from `folder`, if given. `variables` maps
    names to values: `NAME` for `$NAME`, `SECTION.NAME` for `[SECTION]NAME`.

    >>> hal = read_hal("loadrt threads period1=1000000\nloadrt lowpass\nsetp lowpass.0.gain .2\naddf lowpass.0 thread1")
    >>> hal.document.statements[2].address, hal.period
    ('lowpass.0.gain', 0.001)
    >>> read_hal("loadrt bldc")
    Traceback (most recent call last):
        ...
    malsim.netlist.language.faults.NetlistError: netlist.hal:1: no op for this component; given: 'bldc'; ...
    """
    text = HalText(file)
    lines = commands(text, source, file, folder, variables or {})
    for _, words, _ in lines:
        signal_index = {"net": 1, "linksp": 1, "linkps": 2}.get(words[0] if words else "", len(words))
        text.net_signals |= set(words[signal_index : signal_index + 1])
        if words[:1] == ["setp"] and len(words) > 2:  # noqa: PLR2004 - a pin and a value
            text.foresee(words[1], words[2])
        elif words[1:2] == ["="] and len(words) > 2:  # noqa: PLR2004
            text.foresee(words[0], words[2])
    for (text.file, text.line), words, text.comment in lines:
        translate(text, words)
    if text.faults:
        raise NetlistError(text.faults)
    document = Document(tuple(remaining(text)), file)
    return Translated(document, text.period, tuple(text.actions), tuple(text.statements), text.all_instances, text)


def translate(text: HalText, words: list[str]) -> None:
    count = len(text.faults)
    _translate(text, words)
    del text.faults[count + 1 :]


def _translate(text: HalText, words: list[str]) -> None:
    if not words:
        text.statements.append(text.where)
        return
    if words[1:2] == ["="] and len(words) > 2:  # noqa: PLR2004
        words = ["setp", words[0], *words[2:]]
    name, *rest = words
    before = len(text.statements)
    if name == "loadusr" and not PROGRAMS & set(rest):
        text.fault(" ".join(words), "this program is not supported", allowed=" ".join(sorted(PROGRAMS)))
    elif name in ACTIONS:
        plain = name in {"loadusr", "waitusr", "print", "echo"}
        text.act(name, *(rest if plain else map(text.address, rest)))
    elif name in _COMMANDS:
        try:
            _COMMANDS[name](text, rest)
        except (IndexError, ValueError):
            text.fault(" ".join(words), "this command is incomplete")
    else:
        text.fault(name, "this command is not supported", allowed=" ".join([*_COMMANDS, *ACTIONS, "source"]))
    if len(text.statements) == before and text.comment:
        text.statements.append(text.where)


def _net(text: HalText, words: list[str]) -> None:
    signal, *pins = words
    if not pins:
        raise ValueError
    ends = tuple(End(ours) for hal_pin in pins for ours in text.pins(hal_pin))
    if signal in text.signal_types:
        text.types_agree(text.signal_types[signal], pins)
    if ends:
        text.signals.add(signal)
        text.statements.append(Wire(signal, ends, file=text.file, line=text.line, comment=text.comment))


def _linkps(text: HalText, words: list[str]) -> None:
    pin, signal = words
    _net(text, [signal, pin])


def _linkpp(text: HalText, words: list[str]) -> None:
    first, second = words
    _net(text, [first.replace(".", "-"), first, second])


def _setp(text: HalText, words: list[str]) -> None:
    hal_pin, value = words
    name, word = text.split(hal_pin)
    if name and word in text.instances[name].component.defaults:
        return  # the setting has already been used to choose the op
    text.statements += text.settings(hal_pin, value)


def _sets(text: HalText, words: list[str]) -> None:
    signal, value = words
    if signal in text.signal_types and signal not in text.net_signals:
        text.act("sets", signal, value)
        return
    text.statements.append(Set(signal, value, setp=False, file=text.file, line=text.line, comment=text.comment))


def _addf(text: HalText, words: list[str]) -> None:
    function, thread, *position = words
    parts = text.functions.get(function)
    if parts is None:
        text.fault(function, "no such function", allowed=" ".join(list(text.functions)[:40]))
        return
    if thread not in text.threads:
        hint = f"declare it first: loadrt threads name1={thread} period1=1000000"
        text.fault(thread, "no such thread", allowed=" ".join(text.threads), hint=hint)
        return
    if any(function in functions for functions in text.threads.values()):
        text.fault(function, "this function has already been added", hint="keep one addf")
        return
    functions = text.threads[thread]
    slot = insertion_index(int(position[0]) if position else None, len(functions))
    if (position and int(position[0]) == 0) or not 0 <= slot <= len(functions):
        allowed = f"1 to {len(functions) + 1}, or from the end -1 to -{len(functions) + 1}"
        text.fault(position[0], "no such position", allowed=allowed)
        return
    ours = sum(len(instances_run(text, earlier)) for earlier in functions[:slot])
    functions.insert(slot, function)
    for index, name in enumerate(instances_run(text, function)):
        where = ours + index + 1 if slot < len(functions) - 1 else None
        schedule = Schedule(name, thread, where, file=text.file, line=text.line, comment="" if index else text.comment)
        text.statements.append(schedule)


def _alias(text: HalText, words: list[str]) -> None:
    _, name, other = words
    text.aliases[other] = text.aliases.get(name, name)
    text.act("alias", text.address(name), other)


def _unalias(text: HalText, words: list[str]) -> None:
    _, name = words
    aliases = [alias for alias, pin in text.aliases.items() if name in {alias, pin}]
    if not aliases:
        text.fault(name, "no such alias", hint=nearest(name, text.aliases))
    for alias in aliases:
        pin = text.aliases.pop(alias)
        text.act("alias", text.address(pin), pin)


def _newsig(text: HalText, words: list[str]) -> None:
    signal, kind = words
    if kind not in SIGNAL_TYPES:
        text.fault(kind, "no such signal type", allowed=" ".join(SIGNAL_TYPES))
    elif signal in text.signals:
        text.fault(signal, "this name is already used", hint="choose another name")
    else:
        text.signal_types[signal] = SIGNAL_TYPES[kind]
        if signal not in text.net_signals:
            text.act("newsig", signal, kind)
    text.signals.add(signal)


_COMMANDS: dict[str, Callable[[HalText, list[str]], None]] = {
    "loadrt": loadrt, "net": _net, "linksp": _net, "linkps": _linkps, "linkpp": _linkpp, "unlinkp": unlinkp,
    "delsig": delsig, "setp": _setp, "sets": _sets, "addf": _addf, "delf": delf, "unload": unload, "unloadrt": unload,
    "alias": _alias, "unalias": _unalias, "newsig": _newsig,
    **dict.fromkeys(("lock", "unlock", "setexact_for_test_suite_only"), lambda *_: None),
}  # fmt: skip
