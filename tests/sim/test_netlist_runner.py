"""Tests of a netlist in a run: addresses that are read, outputs that are driven, and signals that are recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from malsim import api
from malsim.base.errors import MalsimError, ScenarioError
from malsim.cli import main
from malsim.scenario.file.scenario_file import parse, read
from malsim.scenario.judge.judge import judge_run
from malsim.scenario.rerun import rerun
from malsim.sim.bench import run
from malsim.sim.run import FRAMES
from malsim.sim.why.signal_cause import because, wired

if TYPE_CHECKING:
    from pathlib import Path

TRIP = """\
loadrt watch names=weak
loadrt latch names=alarm
net low weak.in < dec_a3ee-scores-eff
net is-weak weak.below > alarm.set
net ack reviewer.ack > alarm.reset
net tripped alarm.out > dec_a3ee-flags-review
setp weak.level 0.5
addf weak tick
addf alarm tick
"""
CLAIMS = """
[[claim]]
at = "0d"
writer = "ann"
handle = "dec_a3ee"
title = "use SQLite"
confidence = 0.9
verification = "external"

[[claim]]
at = "3d"
writer = "bob"
handle = "obs_b0b1"
title = "it locked"
confidence = 1.0
verification = "external"
edges = [{ relation = "contradicts", target = "dec_a3ee" }]
"""
WORLD = """
[[facts]]
name = "host"
count = 3
hazard = 0.1

[[writers]]
behaviour = "honest"
count = 3
rate = 0.5

[reader]
"""


def scenario(wires: str = TRIP, more: str = "", *, run: str = "", claims: str = CLAIMS, netlist: str = "") -> str:
    settings = f"[run]\ndays = 10\n{run}\n[rules]\ncalibration = 'none'\n"
    return f"why = 'x'\n{settings}{claims}\n[netlist]\n{netlist}\ntext = '''\n{wires}'''\n{more}"


ACK = '[[netlist.input]]\nsignal = "reviewer.ack"\nat = "7d"\nvalue = true\n'


def test_wires_read_the_last_tick_and_drive_the_next_turn() -> None:
    held = ACK.replace("7d", "2d") + ACK.replace("7d", "9d").replace("true", "false")
    made = run(parse(scenario(TRIP.replace("0.5", "0.45"), held)))
    seen = made.signals.pivot(on="signal", index="t", values="value")
    eff = made.cells.filter(cell="dec_a3ee")["effective"].to_list()
    assert seen["low"].to_list() == eff
    assert seen["tripped"].to_list() == [0.0] * 8 + [1.0] * 2  # the reset input is held until day 9 and overrides set
    assert seen["is-weak"].to_list() == [float(value < 0.45) for value in eff]
    without = run(parse(scenario(TRIP)))
    flag = without.cells.filter(cell="dec_a3ee")["requires_review"].to_list()
    assert flag == [t >= 4 for t in range(1, 11)]
    happened = without.events.filter(pl.col("kind").is_in(["tripped", "flagged"]))
    assert happened.select("t", "kind", "subject", "cause").rows() == [(4.0, "tripped", "tripped", "alarm.out"),
                                                                      (4.0, "flagged", "dec_a3ee", "tripped")]  # fmt: skip


def test_alarm_is_acknowledged_after_its_review() -> None:
    wires = TRIP.replace("dec_a3ee-flags-review", "escalation.weak")
    made = run(parse(scenario(wires, '[reviewers]\neach = "60h"')))
    assert made.events.filter(kind="escalated")["t"].to_list() == [4.0, 8.0]
    assert made.signals.filter(signal="ack", value=1.0)["t"].to_list() == [7.0]
    assert made.signals.filter(signal="tripped", value=1.0)["t"].to_list() == [4.0, 5.0, 6.0, 8.0, 9.0, 10.0]


BUDGET = """\
net budget push.budget
net demand reader.demand
net pushed reader.pushed
"""


@pytest.mark.parametrize(("words", "most"), [(40.0, 40.0), (-5.0, 0.0), (1e9, 1e9)])
def test_push_stays_within_the_netlist_word_budget(words: float, most: float) -> None:
    made = run(parse(scenario(BUDGET + f"budget = {words}\n", run="replications = 2", claims=WORLD)))
    later = made.signals.filter(pl.col("t") > 1)
    pushed, demand = (later.filter(signal=name)["value"].to_numpy() for name in ("pushed", "demand"))
    assert (pushed <= most).all()
    assert (pushed <= demand).all()
    assert demand.max() > 40
    assert (pushed == demand).all() == (words == 1e9)


EVERYWHERE = """\
loadrt watch names=each domain=cell
loadrt smooth names=calm domain=writer
loadrt smooth names=about domain=topic
loadrt latch names=alarm
net eff each.in < cell-scores-eff
net low each.below > cell-flags-pinned
net share-low alarm.set
net trust calm.in < mean(cell-scores-eff)
net calm calm.out
net topic-eff about.in < mean(cell-scores-eff)
net tripped alarm.out > webhook.page escalation.case
setp each.level 0.4
addf each tick
addf calm tick
addf about tick
addf alarm tick
addf watch tick [delta: 0.01]
addf quorum tick [k: 2] [minEff: 0.3]
""".replace("net share-low alarm.set\n", "net ack reviewer.ack > alarm.set\n")


def test_record_setting_selects_the_recorded_signals() -> None:
    listed_only = 'replications = 2\nrecord = ["tripped", "low(obs_)", "calm(honest-1)"]'
    listed = run(parse(scenario(EVERYWHERE, run=listed_only, claims=WORLD)))
    assert set(listed.signals.select("signal", "row").unique().rows()) == {("tripped", None), ("calm", "honest-1")}
    bands = run(parse(scenario(EVERYWHERE, run='replications = 2\nrecord = "bands"', claims=WORLD)))
    assert bands.signals.is_empty()
    assert {"tripped", "ack"} <= set(bands.bands["signal"])


def test_run_can_be_repeated_from_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "trip.malnet").write_text(TRIP)
    (tmp_path / "all.malnet").write_text("source parts/trip.malnet\nnet day clock.days\n")
    (tmp_path / "it.toml").write_text(scenario("", ACK).replace("text = '''\n'''", 'file = "all.malnet"'))
    made = run(read(tmp_path / "it.toml"))
    made.write(tmp_path / "out")
    for name in ("parts/trip.malnet", "all.malnet", "it.toml"):
        (tmp_path / name).unlink()
    assert rerun(tmp_path / "out" / "manifest.json").same
    remaining = json.loads((tmp_path / "out" / "manifest.json").read_text())["netlist"]
    assert "net day clock.days" in remaining["text"]
    assert len(remaining["sha256"]) == 64


def test_netlist_cells_exist_before_the_first_turn() -> None:
    cells = 'dec_c4ee "from the text" conf(.8!)\ndec_c4ee supports> dec_c5ee(.5)\ndec_c5ee "too" conf(.3!)\n'
    made = run(parse(scenario(cells + TRIP, run="replications = 3")))
    first = made.cells.filter(pl.col("t") == 1.0).sort("rep")
    assert first.group_by("rep").len()["len"].to_list() == [3, 3, 3]
    assert first.filter(cell="dec_c5ee")["support_mass"].n_unique() == 1
    assert first.filter(cell="dec_c5ee")["support_mass"][0] > 0


CHECKED: dict[str, Any] = {
    "eventually tripped": "pass",
    "eventually alarm.out": "pass",
    "always (weak.in == eff(dec_a3ee))": "pass",
    "always (mean(eff(dec_a3ee.~contradicts.*)) == 1)": "pass",
    "always (mean(eff(dec_a3ee.~contradicts.*)) <= 0.5)": "fail",
    "always (eff(dec_a3ee.~contradicts) > 0.9)": "pass",
    "always (eff(dec_a3ee@v1) == eff(dec_a3ee))": "pass",
    "always[4d:] (count(eff(cell)) == 2)": "pass",
    "eventually at event(tripped)": "pass",
    "eventually triped": "error",
    "always (eff(dec_a3ee@v3) > 0)": "error",
    "always (eff(dec_a3ee.~contradicts.*) > 0)": "error",
    "always (mean(eff(dec_ffff.~contradicts.*)) > 0)": "error",
    "always (share(weak.abov) <= 1)": "error",
}


def test_checks_can_read_signals_pins_and_addresses() -> None:
    more = "".join(f"[[check]]\nname = '{number}'\nproperty = '{text}'\n" for number, text in enumerate(CHECKED))
    outcomes = judge_run(run(parse(scenario(TRIP, more, run="replications = 2"))))
    assert {outcome.check.property: outcome.status for outcome in outcomes} == CHECKED


def test_netlist_of_a_scenario_can_be_replaced_by_text() -> None:
    made = run(parse(scenario(TRIP)).replace(netlist=TRIP.replace("addf alarm tick\n", "")))
    assert made.signals.filter(signal="tripped")["value"].max() == 0.0
    assert set(FRAMES) == {"cells", "signals", "events", "writers", "bands"}


def test_signal_figure_separates_bits_and_groups_numbers_by_size(tmp_path: Path) -> None:
    more = "loadrt scale names=big\nnet large big.out\nnet day clock.days > big.in\nsetp big.gain 1000\naddf big tick\n"
    made = api.run(parse(scenario(TRIP + more, run="replications = 2")))
    samples, channels = wired(made, 1)
    assert channels.filter("digital")["channel"].to_list() == ["is-weak", "ack", "tripped"]
    assert dict(channels.filter(~pl.col("digital")).select("channel", "panel").rows()) == {"low": 0, "day": 1, "large": 2}
    assert samples.height == 6 * 10
    assert [path.name for path in made.plot.save(tmp_path)] == ["effective.png", "currency.png", "signals.png"]
    with pytest.raises(ScenarioError, match="no netlist"):
        api.run(parse("why = 'x'")).plot.signals()


def test_cell_signals_are_drawn_as_one_line_per_cell(tmp_path: Path) -> None:
    text = 'obs_c3c3 "one" conf(.7)\nobs_d4d4 "two" conf(.5)\nloadrt watch domain=cell\n'
    made = api.run(parse(scenario(text + "net low watch.in < cell-scores-eff\naddf watch tick\n")))
    _, channels = wired(made, 0)
    assert set(channels["channel"]) >= {"low(obs_c3c3)", "low(obs_d4d4)"}
    assert "signals.png" in {path.name for path in made.plot.save(tmp_path)}


def test_netlist_without_signals_has_no_figure(tmp_path: Path) -> None:
    made = api.run(parse(scenario('obs_c3c3 "one" conf(.7)\n')))
    assert "signals.png" not in {path.name for path in made.plot.save(tmp_path)}
    with pytest.raises(ScenarioError, match="no signal of this netlist"):
        made.plot.signals()


def test_signal_is_traced_to_its_claim_or_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = ACK.replace("7d", "6d")
    run_ = api.run(parse(scenario(TRIP, held, run="replications = 2"), where="it.toml"))
    tripped = run_.why("alarm.out", t=5, rep=1)
    assert [line.split()[-1] for line in tripped.splitlines()[:2]] == ["alarm.out", "weak.below"]
    assert tripped.endswith("on new edges from obs_b0b1; obs_b0b1 was admitted on day 3 (claim 1 of bob)")
    assert run_.why("tripped").endswith("from reviewer.ack: external input on day 6")
    run_.write(tmp_path)
    assert main(["netlist", "why", "alarm.out", str(tmp_path), "--at", "5", "--rep", "1"]) == 0
    assert capsys.readouterr().out == tripped + "\n"
    assert main(["netlist", "why", "alarm.out", str(tmp_path), "--at", "0.5"]) == 2
    assert main(["netlist", "why", "alarm.out", str(tmp_path), "--rep", "2"]) == 2
    assert "no such replication" in capsys.readouterr().err
    with pytest.raises(MalsimError, match="no netlist"):
        because(api.run(parse("why = 'x'")), "alarm.out")


def test_reduced_signal_is_traced_to_the_claims_behind_it() -> None:
    wires = "loadrt watch names=says domain=writer\nloadrt watch names=enough\nnet best says.in < max(cell-scores-eff)\n"
    wires += "net voices enough.in < sum(says.above)\nnet old enough.level < dec_a3ee-scores-curr\n"
    wires += "addf says tick\naddf enough tick\n"
    run_ = api.run(parse(scenario(wires)))
    assert run_.why("voices", t=5).endswith("from sum(says.above): obs_b0b1 was admitted on day 3 (claim 1 of bob)")
    assert run_.why("old", t=9).endswith("from dec_a3ee-scores-curr: no claim was made in between, only time passed")
    assert run_.why("dec_a3ee", t=5).startswith("dec_a3ee is worth")
