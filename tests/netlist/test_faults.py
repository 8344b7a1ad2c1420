"""Tests of faults in netlist text, of statements that cannot be written as text, and of `malsim netlist check`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.netlist import load, render
from malsim.netlist.language.faults import NetlistError
from malsim.netlist.language.lexicon import LIMITS
from malsim.netlist.language.parse import parse, scan, undeclared_threads
from malsim.netlist.language.statements import (
    Body,
    Cell,
    Edge,
    Edges,
    End,
    Load,
    Option,
    Schedule,
    Set,
    Statement,
    Value,
    Wire,
)  # fmt: skip
from malsim.netlist.load import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory import Memory


def test_all_faults_are_reported_with_positions() -> None:
    text = 'net low\ndec_a3ee "t" conf(x) eff(!) conf\n\nlikes> b(1) \\\n  supports> c(y)\naddf weak slow\n"'
    with pytest.raises(NetlistError) as refused:
        parse(text, file="alarm.malnet")
    positions = [fault.where.removeprefix("alarm.malnet:") for fault in refused.value.faults]
    assert positions == ["1:8", "2:29", "4:1", "5:14", "6:11", "7:1"]
    assert len(str(refused.value).splitlines()) == 6


def test_every_wrong_word_on_a_line_is_reported() -> None:
    document, faults = scan('foo_a3ee "t" conf(x) eff(!) likes> b(z) [out:1]')
    assert document.statements
    assert [fault.column for fault in faults] == [1, 14, 22, 29, 37, 41]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("net s a <=> b", "not a valid arrow"),
        ("net s a=>b", "not a valid arrow"),
        ("net s a > > b", "two arrows"),
        ("net s a >", "nothing follows this arrow"),
        ("addf weak tick 0", "not a position"),
        ("addf weak tick soon", "not a position"),
        ("addf weak slow", "no such thread"),
        ("loadrt watch names=a,a", "given twice"),
        ("loadrt watch names=a count=2", "cannot be combined"),
        ("loadrt watch names=dec_a3ee", "name like a handle"),
        ("loadrt watch RED", "unknown argument of loadrt"),
        ("loadrt watch colour=red", "not a whole number"),
        ("loadrt watch count=10001", "out of bounds"),
        ("loadrt watch domain=moon", "no such domain"),
        ("thread slow every 0", "out of bounds"),
        ("thread slow 10", "thread statement"),
        ('source ""', "name of the file is missing"),
        ("dec_a3ee supports> b", "edge statement: the line is incomplete"),
        ("dec_a3ee-flags-annexed=true", "set statement"),
        ('setp a "b', "quote is never closed"),
        ('setp a"b c', "quote is inside a word"),
        ("addf a tick [k: v", "bracket is never closed"),
        ("net\u00a0a b", "U+00A0"),
        ("x> b = 5", "set statement"),
        ("a->b = 5", "set statement"),
        ("a>b = 5", "not an address"),
        ("net a b\\", "no line follows"),
    ],
)
def test_fault_message_names_the_problem(text: str, message: str) -> None:
    with pytest.raises(NetlistError) as refused:
        parse(text)
    (fault,) = refused.value.faults
    assert message in fault.problem
    assert fault.column


def test_message_about_a_line_with_a_secret_omits_the_secret() -> None:
    secret = "pass" + "word = " + "hunter" + "2222"
    with pytest.raises(NetlistError) as refused:
        parse(f"net ok\n{secret} x\nbody {secret.replace(' ', '')}\n")
    assert "hunter" not in str(refused.value)
    assert len(refused.value.faults) == 3


def test_unpaired_surrogate_is_refused_with_its_position() -> None:
    with pytest.raises(NetlistError, match=r"netlist:2:12: an unpaired surrogate.*ud800") as refused:
        parse('net a b\ndec_a3ee "a\ud800b"')
    assert len(refused.value.faults) == 1


def test_line_over_the_length_limit_is_refused_with_its_position() -> None:
    with pytest.raises(NetlistError, match=r"netlist:2: the line is too long \(70005 bytes\)"):
        parse('net a b\nbody "' + "x" * 69_998 + '"')
    with pytest.raises(NetlistError, match="the line is too long"):
        parse("é" * (LIMITS["file_bytes"] // 2 + 1))


def test_long_text_is_wrapped_and_reads_back_unchanged() -> None:
    body = Body("\\" * 30_001 + "漢" * 70_000 + "\\" + "\n" * 40_000 + " end")
    text = render([body])
    assert max(len(line.encode()) for line in text.split("\n")) <= LIMITS["line_bytes"]
    assert parse(text).statements == (body,)


def test_positions_are_correct_across_continuation_lines() -> None:
    (wire,) = parse("# a\nnet low \\\n  weak.in < \\\n dec_a3ee-scores-eff").statements[1:]
    assert isinstance(wire, Wire)
    assert [(end.address.line, end.address.column) for end in wire.ends] == [(3, 3), (4, 2)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "statement",
    [
        Wire("a b", (End("c"),)),
        Wire("s", (End("a", "writes"), End("b"))),
        Body("x", comment="no mark"),
        Body("x", comment="# a\n# b"),
        Body("x", comment="# c \\"),
        Set("net", "5", setp=False),
        Set("x>", "5", setp=False),
        Load("watch", ("a,b",)),
        Schedule("a", options=(Option("k", ("v]",)),)),
        Cell("dec_a3ee", "t", (Value("a(b", 1.0),)),
        Cell("dec_a3ee", "t", (Value("conf", float("inf")),)),
        Edges("", (Edge("supports", "b c", 1.0),)),
    ],
)
def test_statement_that_cannot_be_written_is_refused(statement: Statement) -> None:
    with pytest.raises(ValueError, match=r"this statement cannot be written on one line|keyword|finite"):
        render([statement])


LINES = """dec_aaaa "a" conf(.5)
dec_bbbb "b" conf(.6) supports> obs_cccc (+.4)
obs_cccc "c"
dec_aaaa "again"
dec_aaaa supersedes> dec_bbbb (0)
dec_bbbb supersedes> dec_aaaa (0)
dec_aaaa supports> dec_bbbb (-.4)
dec_aaaa supports> dec_aaaa (.4)
dec_bbbb likes> dec_aaaa (.1)
  likes> dec_aaaa (.1)
dec_aaaa supports> dec_dead (.4)
junk junk @@
body "text"
prop created 3
loadrt watch names=weak
loadrt watch names=weak
loadrt nothing
net low weak.in < dec_aaaa-scores-eff
net low weak.below
net lone nobody.in
setp weak.level .5
addf weak tick
addf weak slow
thread slow every 3
dec_aaaa-flags-locked = true""".splitlines()


@cache
def standing() -> Memory:
    return load('obs_cccc "it stands"').memory


def faults(text: str, memory: Memory | None) -> set[str]:
    document, junk = scan(text)
    result = check(document, memory)
    needed = [f"no such cell {name}" for name in result.needed]
    return {str(fault) for fault in [*junk, *undeclared_threads(document.statements), *result.faults]} | {*needed}


@settings(max_examples=60)
@given(st.lists(st.sampled_from(LINES), max_size=8), st.sampled_from([None, standing()]))
def test_check_passes_exactly_the_netlists_that_load(lines: Sequence[str], memory: Memory | None) -> None:
    text = "\n".join(lines)
    problems = faults(text, memory)
    try:
        load(text, memory)
    except NetlistError as error:
        messages = {str(fault) for fault in error.faults if "no such cell" not in str(fault)}
        assert problems
        assert messages <= problems
    else:
        assert not problems


def test_all_faults_of_many_invalid_lines_are_reported() -> None:
    text = "\n".join(faults("\n".join(LINES), standing()))
    for problem in (
        "has this key", "memory already has", "supersedes itself", "wrong sign", "must join two cells", "no such relation",
        "not a statement", "no such cell", "this name is already used", "no such op", "no such instance", "no such thread",
    ):  # fmt: skip
        assert problem in text, problem
