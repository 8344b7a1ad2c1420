"""Tests of the semantic comparison of two netlists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.netlist import fmt, parse
from malsim.netlist.language.facts import diff

if TYPE_CHECKING:
    import random

BASE = """\
dec_a3ee "add watchdog op" conf(.7!) eff(.61) supports> obs_9c1f(.5)
  body "text"
  prop topics plant lab
obs_9c1f contradicts> dec_a3ee(-1)
loadrt watch names=weak,stale
loadrt quorum count=2 domain=cell inputs=5
net low weak.in < dec_a3ee-scores-eff
setp weak.level 0.5
thread slow every 10
addf weak tick
addf stale tick
addf quorum.0 slow
addf watch tick [delta: 0.15] [topics: a]
"""


def test_formatting_is_not_a_difference() -> None:
    other = """\
# a comment
dec_a3ee "add watchdog op"  conf(0.70!) eff(6.1e-1)   # the same

  body "text"
  prop topics plant lab
  supports->obs_9c1f (+.5) contradicts< obs_9c1f(-1.0)
loadrt watch names=stale
loadrt watch names=weak
loadrt quorum count=2 inputs=5 domain=cell
net low dec_a3ee-scores-eff > weak.in
thread slow every 10
addf quorum.0 slow
addf stale tick
addf weak tick 1
addf watch tick [delta: 0.15] [topics: a]
weak.level = .5
"""
    assert diff(parse(BASE), parse(other)) == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("conf(.7!)", "conf(.8!)", "~ field dec_a3ee-conf: 0.7! → 0.8!"),
        ("conf(.7!)", "conf(.7)", "~ field dec_a3ee-conf: 0.7! → 0.7"),
        ('body "text"', 'body "other"', "~ body dec_a3ee: text → other"),
        ("plant lab", "plant", "~ field dec_a3ee-topics: plant lab → plant"),
        ("obs_9c1f(.5)", "obs_9c1f(.6)", "~ edge dec_a3ee supports> obs_9c1f: 0.5 → 0.6"),
        ("obs_9c1f contradicts> dec_a3ee(-1)\n", "", "- edge obs_9c1f contradicts> dec_a3ee: -1"),
        ("inputs=5", "inputs=6", "~ instance quorum.0: quorum domain=cell inputs=5 → quorum domain=cell inputs=6"),
        ("weak.in <", "stale.in <", "+ wire low stale.in: reads"),
        ("level 0.5", "level 0.4", "~ value weak.level: 0.5 → 0.4"),
        ("every 10", "every 20", "~ thread slow: every 10 → every 20"),
        ("addf stale tick", "addf stale tick 1", "~ order tick: weak stale watch → stale weak watch"),
        ("[topics: a]", "[topics: b]", "~ program watch: [delta: 0.15] [topics: a] → [delta: 0.15] [topics: b]"),
    ],
)
def test_content_change_is_reported(old: str, new: str, line: str) -> None:
    changes = diff(parse(BASE), parse(BASE.replace(old, new)))
    assert line in map(str, changes)
    assert len(changes) <= 2


@given(st.randoms())
def test_reversed_diff_equals_diff_of_reversed_texts(chance: random.Random) -> None:
    lines = BASE.splitlines()
    other = parse("\n".join(line for line in lines if chance.random() < 0.7 or line.startswith("thread")))
    base = parse(BASE)
    forth, back = diff(base, other), diff(other, base)
    assert [(c.kind, c.subject, c.before, c.after) for c in forth] == [(c.kind, c.subject, c.after, c.before) for c in back]
    assert diff(other, other) == []
    assert diff(base, parse(fmt(BASE))) == []
