"""Parsers of the wiring statements: set, net, addf, loadrt, thread, source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from malsim.netlist.language.handles import reads_as_handle
from malsim.netlist.language.lexicon import DOMAINS, FORMS, LIMITS, TYPES
from malsim.netlist.language.statements import End, Load, Option, Schedule, Set, Source, Thread, Wire

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Token

    from malsim.netlist.language.sentences.reading import Parts, Reading, Where
    from malsim.netlist.language.statements import Role

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_ADDRESS = re.compile(r"(?:[^<>]|(?<=\.)[<>](?=[^<>-]))+")
_BILLION = 10**9 - 1
_WORDED = ("names", "domain", "type")
_SIZE = re.compile(r"[a-z][a-z0-9_-]*")


def set_(reading: Reading, parts: Parts, where: Where) -> Set:
    address, _, value = parts.words
    if not _ADDRESS.fullmatch(address):
        reading.fault(address, "not an address", allowed="< and > only where a hop begins, as in dec_a3ee.<supports")
    return Set(reading.word(address), reading.word(value), setp=False, **where)


def setp(reading: Reading, parts: Parts, where: Where) -> Set:
    address, value = map(reading.word, parts.words)
    return Set(address, value, setp=True, **where)


def wire(reading: Reading, parts: Parts, where: Where) -> Wire:
    signal, *rest = parts.words
    ends = tuple(_ends(reading, rest))
    if all(word.type == "ARROW" for word in rest):
        reading.fault(signal, "this net has no pin", allowed=FORMS["net"])
    return Wire(reading.word(signal), ends, **where)


def _ends(reading: Reading, words: list[Token]) -> Iterator[End]:
    arrows = [word for word in words if word.type == "ARROW"]
    role: Role = ""
    if arrows:
        role = "writes" if ">" in arrows[0] else "reads"
    last: Token | None = None
    for word in words:
        if word.type == "ARROW":
            role = "reads" if ">" in word else "writes"
            if last is not None and last.type == "ARROW":
                reading.fault(word, "two arrows in a row", hint="write one")
        elif "=>" in word or "<=" in word:
            problem, hint = "this arrow needs a space on each side and one direction", "put > or < between spaces"
            reading.fault(word, problem, hint=hint)
        else:
            yield End(reading.word(word), role)
        last = word
    if last is not None and last.type == "ARROW":
        reading.fault(last, "this arrow leads nowhere", hint="name a pin after it")


def schedule(reading: Reading, parts: Parts, where: Where) -> Schedule:
    op, thread_, *rest = parts.words
    options = tuple(_option(reading, word) for word in rest if word.type == "BRACKET")
    position = None
    for word in rest:
        if word.type == "WORD" and not (position := _position(word)):
            problem = "there is no position 0" if position == 0 else "this is neither a position nor a bracket"
            reading.fault(word, problem, allowed="1 for the first, -1 for the last, or [key: values]")
    return Schedule(reading.word(op), reading.word(thread_), position, options, **where)


def _position(word: str) -> int | None:
    return int(word) if _WHOLE.fullmatch(word) else None


def _option(reading: Reading, word: Token) -> Option:
    key, colon, values = word[1:-1].partition(":")
    if not colon or not key.strip():
        reading.fault(word, "a bracket names a key and its values", allowed="[key: value value]")
    return Option(key.strip(), tuple(values.split()))


def load(reading: Reading, parts: Parts, where: Where) -> Load:
    """`loadrt op names=a,b domain=cell inputs=4`."""
    op, *rest = parts.words
    arguments = _arguments(reading, rest)
    if "names" in arguments and "count" in arguments:
        reading.fault(arguments["count"], "names= and count= exclude each other", hint="keep one")
    wholes = {
        key: reading.whole(word, word.partition("=")[2], low=1, high=LIMITS["instances"])
        for key, word in arguments.items()
        if key not in _WORDED
    }
    return Load(
        reading.word(op),
        _names(reading, arguments["names"]) if "names" in arguments else (),
        count=wholes.pop("count", None),
        domain=_one_of(reading, arguments.get("domain"), DOMAINS),
        type=_one_of(reading, arguments.get("type"), TYPES),
        sizes=tuple(sorted(wholes.items())),
        **where,
    )


def _arguments(reading: Reading, words: list[Token]) -> dict[str, Token]:
    arguments: dict[str, Token] = {}
    for word in words:
        key, _, value = word.partition("=")
        if not _SIZE.fullmatch(key) or not value:
            allowed = "names=A,B or count=N, domain=, type=, and the op's own sizes such as inputs=N"
            reading.fault(word, "unknown argument of loadrt", allowed=allowed)
        elif key in arguments:
            reading.fault(word, f"{key}= is given twice", hint="keep one")
        else:
            arguments[key] = word
    return arguments


def _one_of(reading: Reading, word: Token | None, allowed: tuple[str, ...]) -> str:
    if word is None:
        return ""
    key, _, value = word.partition("=")
    if value not in allowed:
        reading.fault(word, f"no such {key}", allowed=" ".join(allowed))
    return value


def _names(reading: Reading, word: Token) -> tuple[str, ...]:
    names = []
    at = len("names=")
    for name in word[at:].split(","):
        if not name or name in names:
            reading.fault(word, "a name is empty or given twice", allowed="names=a,b", skip=at)
        elif reads_as_handle(name):
            reading.fault(word, "an instance's name may not read as a handle", hint="use - for _", skip=at)
        names.append(reading.part(word, at, name))
        at += len(name) + 1
    return tuple(names)


def thread(reading: Reading, parts: Parts, where: Where) -> Thread:
    name, every = parts.words
    return Thread(reading.word(name), reading.whole(every, every, low=1, high=_BILLION), **where)


def source(reading: Reading, parts: Parts, where: Where) -> Source:
    path = reading.word(parts.words[0])
    if not path:
        reading.fault(parts.words[0], "the name of the file is missing", allowed=FORMS["source"])
    return Source(path, **where)
