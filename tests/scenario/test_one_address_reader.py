"""Tests that checks and run queries interpret each address identically: both return the same numbers or both refuse it."""

from __future__ import annotations

import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import MalsimError
from malsim.netlist.evaluate import one_value
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.properties.frames import trace_of

SCENARIO = parse("""
why = "x"
run = { days = 5 }
claim = [
  { at = "0d", writer = "ann", handle = "dec_a3ee", title = "a", confidence = 0.9, topics = ["store"] },
  { at = "1d", writer = "bob", handle = "obs_b0b1", title = "no", confidence = 0.8, edges = [
    { relation = "contradicts", target = "dec_a3ee" } ] },
  { at = "2d", writer = "bob", handle = "obs_b0b2", title = "yes", confidence = 0.7, edges = [
    { relation = "supersedes", target = "obs_b0b1" } ] },
]
netlist.text = '''
loadrt watch names=weak
loadrt latch names=alarm
loadrt watch names=each domain=cell
net low weak.in < dec_a3ee-scores-eff
net is-weak weak.below > alarm.set
net tripped alarm.out
net every each.in < cell-scores-eff
net dim each.below
setp weak.level 0.5
addf weak tick
addf alarm tick
addf each tick
'''
""")
NAMED = """
dec_a3ee-scores-eff dec_a3-scores-eff
dec_a3ee-scores-curr dec_a3ee-scores-conf dec_a3ee-scores-sal
dec_a3ee-scores-calib dec_a3ee-support_mass dec_a3ee-challenge_mass dec_a3ee-status obs_b0b1-status
dec_a3ee-flags-locked dec_a3ee-flags-review dec_a3ee@v1-scores-eff
obs_b0b1@v2-scores-eff obs_b0b1.~supersedes-scores-eff item(dec_a3ee)-scores-eff cell(dec_a3ee)-scores-eff
writer(ann)-claims writer(bob)-calibration low weak.in is-weak alarm.out every(dec_a3ee) each.in(obs_b0b2)
mean(dec_a3ee.~contradicts.*-scores-eff) max(cell-scores-eff) count(dec_a3ee.~contradicts.*) median(cell-scores-eff)
distinct(cell-scores-eff) share(cell-flags-locked) sum(dec_a3ee.~*.*-scores-eff) count(writer-claims)
"""
REFUSED = """
dec_a3ee-effective dec_a3ee-scores-effective dec_a3ee-stated dec_a3ee-locked dec_a3ee-flags-requires_review
dec_a3ee-scores-locked dec_a3ee-flags-eff dec_a3ee-scores dec_a3ee-scores-efff dec_a3ee-eff dec_a3ee- dec_a3ee-a-b-c
dec_ffff-scores-eff dec_A3EE-scores-eff dec_zzzz-scores-eff dec_a3ee@v9-scores-eff dec_a3ee.agrees.*-scores-eff
no-such writer(eve)-claims writer(ann)-age item(nobody)-scores-eff every(obs_ffff) nothing(dec_a3ee) every each.in
series(cell-scores-eff) dec_a3ee.~*.*-scores-eff mean(dec_a3ee-scores-eff-) div(cell-scores-eff,2)
dec_a3ee.~contradicts.*-x obs_-scores-eff
"""


@pytest.fixture(scope="module")
def made() -> ms.Run:
    return ms.run(SCENARIO)


def test_checks_and_queries_read_valid_addresses_alike(made: ms.Run) -> None:
    trace = trace_of(made)
    ticks = pl.DataFrame({"t": made.cells["t"].unique().sort()})
    for address in NAMED.split():
        values = ticks.join(one_value(address, made.frames).select("t", "value"), on="t", how="left")["value"].to_list()
        checked = [None if value != value else value for value in trace.read(address)[:, 0].tolist()]  # noqa: PLR0124  # NaN
        assert checked == values, address


@pytest.mark.parametrize("address", REFUSED.split())
def test_checks_and_queries_refuse_invalid_addresses_alike(made: ms.Run, address: str) -> None:
    doors = (lambda: trace_of(made).read(address), lambda: one_value(address, made.frames))
    for door in doors:
        with pytest.raises(MalsimError) as refused:
            door()
        assert refused.value.problem
        assert refused.value.allowed or refused.value.hint
