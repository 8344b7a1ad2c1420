"""Property tests of netlist text: round trips, typed errors and linear parsing time."""

from __future__ import annotations

import random
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim
from malsim.base.errors import MalsimError
from malsim.memory.schema import KINDS, RELATIONS
from malsim.netlist import fmt, lint, load, render
from malsim.netlist.engine import Engine
from malsim.netlist.language import statements as says
from malsim.netlist.language.parse import parse, scan
from malsim.netlist.language.statements import Cell, Document, Edge, Edges, End, Option, Statement, Trailer, Value

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

PUBLISHED = (Path(__file__).parent / "published.malnet").read_text(encoding="utf-8")
EVERY_FORM = [
    *PUBLISHED.splitlines(),
    'RECALL_v5 "caps" conf(1!) [out:0 programs:0] ignored "words" [here]',
    '^dec_auth_a3ee "a \\" # quote" supports> obs_9c1f(.5)',
    "dec_a3ee supports->dec_signals_a2b7 (+.6) contradicts<-obs_9c1f(-1)",
    'body "line\\none \\\\ two"',
    'prop topics plant "cold room"',
    "dec_a3ee-flags-annexed = true",
    "addf watch tick [topics: a b] [delta: 0.15] # why",
    "addf weak tick -2",
    "thread slow every 10",
    'source "parts/an alarm.malnet"',
    "loadrt quorum count=3 domain=cell inputs=5",
    "net eff dec_a3ee < mean(dec_a3ee.~supports.*-scores-eff) > b <  c",
]

words = st.text(st.sampled_from("abcz019-_.@é漢"), min_size=1, max_size=9)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
small = st.integers(1, 9999)
tags = st.text("0123456789abcdef", min_size=4, max_size=8)
handles = st.builds("{}{}_{}".format, st.sampled_from(KINDS), st.sampled_from(["", "_auth", "_a_b2"]), tags)
handles |= st.sampled_from(["DEC_a3ee", "RECALL_v5"])
comments = st.just("") | st.text(st.sampled_from('ab "#\\.é'), max_size=9).map(lambda text: "#" + text.rstrip(" \\"))
edges = st.builds(Edge, st.sampled_from(RELATIONS), words, numbers, st.booleans())
values = st.builds(Value, st.text("abc_-", min_size=1).filter(lambda field: "->" not in field), numbers, st.booleans())
ends = st.one_of(
    st.lists(st.builds(End, words), min_size=1, max_size=4),
    st.lists(st.builds(End, words, st.sampled_from(["writes", "reads"])), min_size=1, max_size=5),
).map(tuple)
options = st.builds(Option, words, st.lists(words, max_size=3).map(tuple))
names = st.lists(st.text("abc-09", min_size=1, max_size=5), unique=True, max_size=3).map(tuple)


def some(strategy: st.SearchStrategy[object], least: int = 0) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(strategy, min_size=least, max_size=4).map(tuple)


def statements_of(
    kind: Callable[..., Statement], *parts: st.SearchStrategy[object], **more: st.SearchStrategy[object]
) -> st.SearchStrategy[Statement]:
    return st.builds(kind, *parts, comment=comments, **more)


trailers = st.none() | st.builds(Trailer, st.integers(0, 99), st.integers(0, 99))
statements = st.one_of(
    statements_of(says.Blank),
    statements_of(Cell, handles, texts, some(values), some(edges), trailers, st.booleans()),
    statements_of(Cell, handles, texts, trailer=st.just(Trailer(1, 2)), remark=st.just(("as", '"it was"', "[said]"))),
    statements_of(Edges, st.just("") | handles, some(edges, 1)),
    statements_of(says.Body, texts),
    statements_of(says.Prop, words, some(words | texts, 1)),
    statements_of(says.Set, words.filter(lambda word: word != "net"), words | texts, st.booleans()),
    statements_of(says.Wire, words, ends),
    statements_of(says.Schedule, words, st.just("tick"), st.none() | small | small.map(lambda n: -n), some(options)),
    statements_of(says.Load, words, names, domain=st.sampled_from(["", "cell", "run"]), type=st.sampled_from(["", "bit"])),
    statements_of(says.Load, words, count=st.none() | small, sizes=st.just((("depth", 3), ("inputs", 4)))),
    statements_of(says.Thread, words, small),
    statements_of(says.Source, words | texts.filter(bool)),
)


@given(st.lists(statements, max_size=6))
@settings(max_examples=400)
def test_written_netlist_reads_back_unchanged(sentences: list[Statement]) -> None:
    text = render(sentences)
    document, faults = scan(text)
    assert not faults
    assert document == Document(tuple(sentences))
    assert render(document) == text


@given(st.lists(st.sampled_from(EVERY_FORM), max_size=8).map("\n".join))
def test_formatting_is_idempotent(text: str) -> None:
    once = fmt("thread slow every 10\n" + text)
    assert fmt(once) == once
    assert parse(once) == parse("thread slow every 10\n" + text)


SHRAPNEL = [
    '"', "#", "\\", "\\\n", "(", ")", "[", "]", "<", ">", "->", "<-", "=", "=>", "<=>", ".", "-", "_", "@v2", "!", "^", "~",
    "*", " ", "\t", "\r", "\n", "\x00", "\x85", "\u00a0", "\ud800", "é", "net", "addf", "every", "0x", "1e999", "\ufeff",
    "(.5)", "9" * 400,
]  # fmt: skip


def shipped() -> list[str]:
    root = Path(malsim.__file__).parents[1]
    files = [*root.glob("malsim/netlist/shipped/*.malnet"), *root.glob("scenarios/*.malnet")]
    tables = [tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(root.glob("scenarios/*.toml"))]
    inline = [table["netlist"]["text"] for table in tables if "text" in table.get("netlist", {})]
    return [file.read_text(encoding="utf-8") for file in sorted(files)] + inline


SHIPPED = shipped()
HELD = load('obs_a1a1 "what the scenarios watch" conf(.6)').memory


def mutant(chance: random.Random, text: str = "") -> str | bytes:
    text = text or "\n".join(chance.choice(EVERY_FORM) for _ in range(chance.randint(1, 4)))
    for _ in range(chance.randint(0, 5)):
        start, end = sorted(chance.randrange(len(text) + 1) for _ in "ab")
        middle = chance.choice([chance.choice(SHRAPNEL), "", text[start:end] * 2])
        text = text[:start] + middle + text[end if chance.random() < 0.3 else start :]
    if chance.random() < 0.7:
        return text
    raw = bytearray(text.encode(errors="surrogatepass"))
    for _ in range(min(3, len(raw))):
        raw[chance.randrange(len(raw))] = chance.randrange(256)
    return bytes(raw)


def test_error_can_be_rebuilt_from_its_arguments() -> None:
    with pytest.raises(MalsimError) as error:
        load("loadrt no-such-op names=a\nnet x b.in")
    assert str(type(error.value)(*error.value.args)) == str(error.value)


@pytest.mark.parametrize("block", range(8))
def test_any_bytes_parse_or_raise_a_typed_error(block: int) -> None:
    chance = random.Random(block)  # noqa: S311 - reproducible, not secret
    read = 0
    for _ in range(500):
        source = mutant(chance)
        document, faults = scan(source)
        assert all(fault.line >= 1 for fault in faults)
        assert len("".join(map(str, faults))) < 1000 * len(faults) + 1
        if not faults:
            read += 1
            assert scan(render(document)) == (document, [])
    assert read > 20


@pytest.mark.parametrize("block", range(4))
def test_mutated_netlists_run_or_raise_typed_errors(block: int) -> None:
    chance = random.Random(1000 + block)  # noqa: S311 - reproducible, not secret
    whole = 0
    for _ in range(60):
        with suppress(MalsimError):
            document = load(mutant(chance, chance.choice(SHIPPED)), HELD)
            lint(parse(""), net=document.net)
            engine = Engine(document.net)
            engine.scan(engine.start(document.memory), document.memory)
            whole += 1
    assert whole > 1


HARD = [
    'body "' + "\\" * 40_000,
    "[" * 50_000,
    "mean(" * 10_000,
    "net s " + "a.b " * 12_000,
    'dec_a3ee "t" ' + "conf(1) " * 7_000,
    "dec_a3ee" + " supports> b(1)" * 4_000,
    'dec_a3ee "t" [' + '"' * 50_000,
    "supports" + "->" * 25_000,
    "a" * 60_000 + "(",
    "# " + "a.b://c:d@" * 6_000,
    "setp a " + "a." * 30_000 + ' "x',
    "setp a 0x" + "f" * 60_000,
    "\\\n" * 200_000,
    " \\\n" * 200_000 + "net a b",
    "\t" * 60_000 + "x",
]


def lines_executed(source: str) -> int:
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Callable[[FrameType, str, object], Any]:
        del frame, event, arg
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        scan(source)
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize("source", HARD, ids=range(len(HARD)))
def test_adversarial_text_is_read_or_refused(source: str) -> None:
    document, faults = scan(source)
    assert faults or scan(render(document)) == (document, [])


@pytest.mark.parametrize("form", EVERY_FORM)
def test_parsing_takes_linear_time(form: str) -> None:
    few = lines_executed(f"{form}\n" * 20)
    many = lines_executed(f"{form}\n" * 200)
    assert many <= 10.5 * few
