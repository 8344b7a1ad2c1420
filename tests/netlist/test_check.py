"""`check` looks at a text as `load` would: it refuses what loading refuses, and reads on past a line that is junk."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.netlist import NetlistError, load
from malsim.netlist.language.parse import scan, undeclared_threads
from malsim.netlist.load import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.memory import Memory

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
def test_check_passes_exactly_what_loads(lines: Sequence[str], memory: Memory | None) -> None:
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


def test_all_faults_are_reported_among_invalid_lines() -> None:
    text = "\n".join(faults("\n".join(LINES), standing()))
    for problem in (
        "has this key", "memory already has", "supersedes itself", "wrong sign", "must join two cells", "no such relation",
        "not a statement", "no such cell", "this name is already used", "no such op", "no such instance", "no such thread",
    ):  # fmt: skip
        assert problem in text, problem
