"""The commands of a `.hal` text, one by one.

Read are loadrt (threads too), net, setp and `=`, sets, addf, newsig, linksp, linkps, alias and start. HAL's arrows say
nothing, so ends come without roles and take the directions of their pins. HAL counts in seconds and a net in days: a day
stands for each second, so that every rate, slope and gain keeps its number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from malsim.netlist.faults import NetlistError
from malsim.netlist.hal.loadrt import loadrt
from malsim.netlist.hal.state import Text
from malsim.netlist.lines import comment_at, read_lines
from malsim.netlist.statements import Document, End, Schedule, Set, Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from malsim.netlist.faults import Fault

__all__ = ["Translated", "read_hal"]

_TOKEN = re.compile(r'"[^"]*"|[^\s"]+')
DAY = 8.64e7
_ARROWS = {"=>", "<=", "<=>"}


@dataclass(frozen=True)
class Translated:
    """HAL's text in our sentences, its base period in seconds (0 without threads), and what was left out."""

    document: Document
    period: float
    without: tuple[Fault, ...]

    @property
    def tick(self) -> float:
        """The length of a tick, in milliseconds, that runs the text at its own pace: its period with a day for a second."""
        return self.period * DAY


def read_hal(source: str | bytes, *, file: str = "netlist.hal") -> Translated:
    r"""Read `.hal` text.

    Parameters
    ----------
    source
        The text, or its bytes in UTF-8.
    file
        What notes call it.

    Raises
    ------
    NetlistError
        For bytes that are no text, or lines that are too long.

    >>> told = read_hal("loadrt lowpass\nsetp lowpass.0.gain .2\nloadusr halui")
    >>> told.document.statements[1].address, told.without[0].problem
    ('lowpass.0.gain', 'this command has no counterpart')
    """
    lines, faults = read_lines(source, file)
    if faults:
        raise NetlistError(faults)
    text = Text(file)
    commands = []
    for line in lines:
        end = comment_at(line.text)
        words = [word for word in _TOKEN.findall(line.text[:end]) if word not in _ARROWS]
        commands.append((line.number, words, line.text[end:].rstrip(" \t")))
        if words[:1] == ["setp"] and len(words) > 2:  # noqa: PLR2004 - a pin and a value
            text.foresee(words[1], words[2])
    for number_, words, comment in commands:
        text.line, text.comment = number_, comment
        _command(text, words)
    return Translated(Document(tuple(text.statements), file), text.period, tuple(text.without))


def _command(text: Text, words: list[str]) -> None:
    if not words:
        text.statements.append(text.where)
        return
    if words[1:2] == ["="] and len(words) > 2:  # noqa: PLR2004
        words = ["setp", words[0], *words[2:]]
    name, *rest = words
    run = _COMMANDS.get(name)
    if run is None:
        text.lack(name, "this command has no counterpart", hint="leave it to the tool that runs HAL")
        return
    before = len(text.statements)
    try:
        run(text, rest)
    except (IndexError, ValueError):
        text.lack(" ".join(words), "this command is not complete")
    if len(text.statements) == before and text.comment:
        text.statements.append(text.where)


def _net(text: Text, words: list[str]) -> None:
    signal, *pins = words
    ends = tuple(End(ours) for ours in map(text.pin, pins) if ours)
    if ends:
        text.statements.append(Wire(signal, ends, file=text.file, line=text.line, comment=text.comment))


def _linkps(text: Text, words: list[str]) -> None:
    pin, signal = words
    _net(text, [signal, pin])


def _setp(text: Text, words: list[str]) -> None:
    hals, value = words
    name, word = text.split(hals)
    if name and word in {*text.instances[name].component.defaults}:
        return  # it chose the op
    if ours := text.pin(hals):
        made = Set(ours, text.value(hals, value), file=text.file, line=text.line, comment=text.comment)
        text.statements.append(made)


def _sets(text: Text, words: list[str]) -> None:
    signal, value = words
    text.statements.append(Set(signal, value, setp=False, file=text.file, line=text.line, comment=text.comment))


def _addf(text: Text, words: list[str]) -> None:
    function, thread, *position = words
    name, _ = text.split(function)
    if not name:
        text.lack(function, "nothing that is loaded here has this function")
    elif name not in text.called:  # an op is one function; HAL's watchdog has two
        text.called.add(name)
        at = int(position[0]) if position else None
        text.statements.append(Schedule(name, thread, at, file=text.file, line=text.line, comment=text.comment))


def _alias(text: Text, words: list[str]) -> None:
    _, name, other = words
    text.aliases[other] = text.aliases.get(name, name)


def _nothing(text: Text, words: list[str]) -> None:
    """A command that needs no counterpart: signals come with their nets, and a scan starts by itself."""
    del text, words


_COMMANDS: dict[str, Callable[[Text, list[str]], None]] = {
    "loadrt": loadrt, "net": _net, "linksp": _net, "linkps": _linkps, "setp": _setp, "sets": _sets, "addf": _addf,
    "alias": _alias, "newsig": _nothing, "start": _nothing,
}  # fmt: skip
