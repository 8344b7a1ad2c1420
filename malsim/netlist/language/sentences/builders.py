"""Functions that build netlist statements from the words of one line."""

from __future__ import annotations

import re
from sys import intern
from typing import TYPE_CHECKING

from malsim.memory.schema import RELATIONS
from malsim.netlist.language.lexicon import DOMAINS, FORMS, LIMITS, TYPES
from malsim.netlist.language.sentences.reading import plain
from malsim.netlist.language.statements import (
    Body,
    Cell,
    Edge,
    Edges,
    End,
    Load,
    Option,
    Prop,
    Schedule,
    Set,
    Source,
    Thread,
    Trailer,
    Value,
    Wire,
)  # fmt: skip
from malsim.netlist.language.values import reads_as_handle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Token

    from malsim.netlist.language.sentences.reading import Parts, Reading, Where
    from malsim.netlist.language.statements import Role

_ARROW = re.compile(r"(->|<-|>|<)")
_TRAILER = re.compile(r"\[out:([0-9]{1,9}) programs:([0-9]{1,9})\]")
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_ADDRESS = re.compile(r"(?:[^<>]|(?<=\.)[<>](?=[^<>-]))+")
_BILLION = 10**9 - 1
_WORDED = ("names", "domain", "type")
_SIZE = re.compile(r"[a-z][a-z0-9_-]*")


def cell(reading: Reading, parts: Parts, where: Where) -> Cell:
    first, title, *rest = parts.words
    expand = first.startswith("^")
    return Cell(
        reading.handle(first, skip=int(expand)),
        plain(title),
        values=tuple(_value(reading, word) for word in rest if word.type == "VALUE"),
        edges=_edges(reading, parts),
        trailer=_trailer(reading, rest),
        expand=expand,
        remark=tuple(map(str, parts.remark)),
        **where,
    )


def edges(reading: Reading, parts: Parts, where: Where) -> Edges:
    source = reading.handle(parts.words[0]) if parts.words else ""
    return Edges(source, _edges(reading, parts), remark=tuple(map(str, parts.remark)), **where)


def body(_: Reading, parts: Parts, where: Where) -> Body:
    return Body(plain(parts.words[0]), **where)


def prop(reading: Reading, parts: Parts, where: Where) -> Prop:
    field, *values = parts.words
    return Prop(reading.word(field), tuple(map(plain, values)), **where)


def _edges(reading: Reading, parts: Parts) -> tuple[Edge, ...]:
    edges = []
    for first, *between, weight in parts.edges:
        relation, arrow, target_text = _ARROW.split(first, maxsplit=1)
        if relation not in RELATIONS:
            reading.fault(first, "no such relation", allowed=" ".join(RELATIONS))
        target = reading.word(between[0]) if between else reading.word(first, skip=len(first) - len(target_text))
        edges.append(Edge(intern(relation), target, reading.number(weight, weight[1:-1]), incoming="<" in arrow))
    return tuple(edge for edge in edges if edge.relation in RELATIONS)


def _value(reading: Reading, word: Token) -> Value:
    field, _, inside = word[:-1].partition("(")
    immutable = inside.endswith("!")
    return Value(intern(field), reading.number(word, inside[:-1] if immutable else inside), immutable)


def _trailer(reading: Reading, words: list[Token]) -> Trailer | None:
    brackets = [word for word in words if word.type == "BRACKET"]
    if not brackets:
        return None
    match = _TRAILER.fullmatch(brackets[0])
    if match is None:
        reading.fault(brackets[0], "unknown bracket on a cell's line", allowed="[out:N programs:M]")
        return None
    return Trailer(int(match[1]), int(match[2]))


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
        reading.fault(signal, "a pin is missing in this net", allowed=FORMS["net"])
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
                reading.fault(word, "two arrows in a row", hint="keep one")
        elif "=>" in word or "<=" in word:
            problem, hint = "not a valid arrow", "write > or < with a space on each side"
            reading.fault(word, problem, hint=hint)
        else:
            yield End(reading.word(word), role)
        last = word
    if last is not None and last.type == "ARROW":
        reading.fault(last, "nothing follows this arrow", hint="write a pin after it")


def schedule(reading: Reading, parts: Parts, where: Where) -> Schedule:
    op, thread_, *rest = parts.words
    options = []
    position = None
    for word in rest:
        if word.type == "BRACKET":
            key, colon, values = word[1:-1].partition(":")
            if not colon or not key.strip():
                reading.fault(word, "not a key with values", allowed="[key: value value]")
            options.append(Option(key.strip(), tuple(values.split())))
        else:
            position = int(word) if _WHOLE.fullmatch(word) else None
            if not position:
                reading.fault(word, "not a position", allowed="1 for the first, -1 for the last, or [key: values]")
    return Schedule(reading.word(op), reading.word(thread_), position, tuple(options), **where)


def load(reading: Reading, parts: Parts, where: Where) -> Load:
    op, *rest = parts.words
    arguments = _arguments(reading, rest)
    if "names" in arguments and "count" in arguments:
        reading.fault(arguments["count"], "names= and count= cannot be combined", hint="leave out count=")
    numbers = {
        key: reading.whole(word, word.partition("=")[2], low=1, high=LIMITS["instances"])
        for key, word in arguments.items()
        if key not in _WORDED
    }
    return Load(
        reading.word(op),
        _names(reading, arguments["names"]) if "names" in arguments else (),
        count=numbers.pop("count", None),
        domain=_one_of(reading, arguments.get("domain"), DOMAINS),
        type=_one_of(reading, arguments.get("type"), TYPES),
        sizes=tuple(sorted(numbers.items())),
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
            reading.fault(word, f"{key}= given twice", hint="keep one")
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
    offset = len("names=")
    for name in word[offset:].split(","):
        if not name or name in names:
            reading.fault(word, "a name is empty or given twice", allowed="names=a,b", skip=offset)
        elif reads_as_handle(name):
            reading.fault(word, "an instance cannot have a name like a handle", hint="use - for _", skip=offset)
        names.append(reading.part(word, offset, name))
        offset += len(name) + 1
    return tuple(names)


def thread(reading: Reading, parts: Parts, where: Where) -> Thread:
    name, every = parts.words
    return Thread(reading.word(name), reading.whole(every, every, low=1, high=_BILLION), **where)


def source(reading: Reading, parts: Parts, where: Where) -> Source:
    path = reading.word(parts.words[0])
    if not path:
        reading.fault(parts.words[0], "the name of the file is missing", allowed=FORMS["source"])
    return Source(path, **where)
