"""Tests for a tripwire's scorecard in a scenario: verdict, mutants, injected faults, and comparison of tripwires."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import ScenarioError, UsageError
from malsim.cli import main
from malsim.lab.tripwire.runs.observation import alarm_of, noise_of, observe
from malsim.lab.tripwire.runs.silence import blind, sensors, watchdog_limits
from malsim.lab.tripwire.study import mutation_results as killing
from malsim.lab.tripwire.study.exports import json_text
from malsim.lab.tripwire.study.fault_matrix import FAULTS, faulty_scenarios
from malsim.lab.tripwire.study.mutation_results import mutants
from malsim.netlist import parse as parse_netlist
from malsim.netlist.language.lexicon import ALARMS
from malsim.netlist.shipped import catalogue
from malsim.netlist.wiring import link
from malsim.scenario.file.scenario_file import parse, read
from malsim.scenario.judge.judge import Judged, judge
from malsim.showing.pages.tripwire_page import score_lines

WIRES = (Path(__file__).parent.parent / "netlist" / "trip.malnet").read_text(encoding="utf-8")
SMALL = """\
loadrt watch names=weak
loadrt latch names=alarm
net worth weak.in < dec_a3ee-scores-eff
net bad weak.below > alarm.set
net ack reviewer.ack > alarm.reset
net tripped alarm.out > dec_a3ee-flags-review
setp weak.level 0.5
addf weak tick
addf alarm tick
"""
STORY = f"""
why = "x < y & z"
seed = 3
[run]
days = 13
replications = 2
[rules]
calibration = "none"
[netlist]
text = '''
{SMALL}'''
[[netlist.input]]
signal = "reviewer.ack"
at = "10d"
value = true
[[netlist.input]]
signal = "reviewer.ack"
at = "11d"
value = false
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
edges = [{{ relation = "contradicts", target = "dec_a3ee" }}]
[[claim]]
at = "7d"
writer = "ann"
handle = "obs_b0b2"
title = "the lock was a test"
confidence = 1.0
verification = "external"
edges = [{{ relation = "contradicts", target = "obs_b0b1" }}]
[[episode]]
name = "dead man"
from = "4d"
to = "9d"
test = true
[[check]]
name = "trips"
property = "always[4d:9d] tripped"
[[check]]
name = "clears"
property = "always[12d:13d] not tripped"
"""


@pytest.fixture(scope="module")
def card() -> Any:
    return ms.validate(None, parse(STORY))


def test_tripwire_that_tripped_in_its_test_is_alive(card: Any) -> None:
    assert card.alarm == "tripped"
    assert card.receipt.verdict.startswith("alive: last tripped on purpose on day 8")
    assert card.receipt.ticks == (13, 2)
    assert card.scores["tripwire"].unique(maintain_order=True).to_list()[1:] == ["CUSUM of worth", "EWMA of worth"]
    mine = {row["metric"]: row for row in card.scores.to_dicts()[:8]}
    assert (mine["arl1"]["value"], mine["missed"]["value"], mine["false alarms"]["value"]) == (1.0, 0.0, 0.0)
    figures = card.scores.filter(pl.col("value").is_not_null())
    assert figures.filter(pl.col("low").is_null() | (pl.col("low") >= pl.col("high"))).is_empty()
    assert [item.kind for item in card.findings] == []


def test_uncaught_mutants_are_named_with_their_lines(card: Any) -> None:
    fates = dict(card.mutants.select("what", "verdict").rows())
    assert fates["alarm does not latch"] == "caught"
    assert fates["weak.level at 0.4 instead of 0.5"] == "caught"
    assert fates["weak.level at 0.6 instead of 0.5"] == "not caught"
    first = STORY[: STORY.index("loadrt watch")].count("\n")  # number of lines before the netlist
    line = first + SMALL[: SMALL.index("setp weak.level")].count("\n") + 1
    assert f"line {line}: weak.level at 0.6 instead of 0.5" in card.uncaught
    assert card.mutation_score == pytest.approx(card.mutants.filter(verdict="caught").height / card.mutants.height)


def test_proof_catches_a_mutant_that_no_run_catches() -> None:
    proof = '[[proof]]\nname = "up only after its cause"\nproperty = "always (tripped implies once (worth <= 0.5))"\n'
    fates = {what: (verdict, by) for what, verdict, by in _mutants(STORY + proof)}
    assert fates["weak.level at 0.6 instead of 0.5"] == ("caught", "up only after its cause")


def test_mutant_without_effect_is_proved_equal() -> None:
    """A second watch with a lower level than the first can never decide the alarm."""
    wide = SMALL.replace("names=weak", "names=weak,poor").replace(
        "net bad weak.below > alarm.set",
        """loadrt or2 names=either
net worth poor.in
net is-weak weak.below > either.in-0
net is-poor poor.below > either.in-1
net bad either.out > alarm.set""",
    )
    wide = wide.replace("setp weak.level 0.5", "setp weak.level 0.5\nsetp poor.level 0.25").replace(
        "addf alarm tick", "addf poor tick\naddf either tick\naddf alarm tick"
    )
    fates = {what: (verdict, by) for what, verdict, by in _mutants(STORY.replace(SMALL, wide))}
    assert {what: by for what, (verdict, by) in fates.items() if verdict == "equal"} == dict.fromkeys(
        ["is-poor no longer reaches either.in-1", "poor.level at 0.2 instead of 0.25", "poor.level at 0.3 instead of 0.25"],
        "proof: proved by induction over 1 tick",
    )


def _mutants(text: str) -> list[tuple[str, str, str]]:
    return ms.validate(None, parse(text), faults=False).mutants.select("what", "verdict", "by").rows()


def test_fault_matrix_has_a_verdict_for_every_fault(card: Any) -> None:
    rows = {row["fault"]: row for row in card.faults.filter(alarm="tripped").to_dicts()}
    assert card.faults["alarm"].unique(maintain_order=True).to_list() == ["tripped", "CUSUM of worth", "EWMA of worth"]
    assert list(rows) == list(FAULTS)
    assert rows["lost claims"]["verdict"] in ("misses", "holds")
    assert rows["doubled claims"]["verdict"] == "holds"
    assert rows["late claims"]["verdict"] in ("late", "holds")
    for row in rows.values():
        assert row["low"] <= row["lost"] / row["detected"] <= row["high"]


def test_scorecard_page_is_self_contained_and_escapes_text(card: Any, tmp_path: Path) -> None:
    page = card.html
    assert "x &lt; y &amp; z" in page
    assert "http" not in page
    assert "$" not in page.replace("$schema", "")
    for word in ("Against the episodes", "Mutants", "Faults in the loop", "Truth table", "data:image/png"):
        assert word in page
    text = str(card)
    for word in ("verdict", "truth table", "arl0", "coverage", "mutants", "lost claims"):
        assert word in text
    card.figure.savefig(tmp_path / "card.png")


def test_coverage_reports_whether_each_goal_was_reached() -> None:
    properties = {"it trips": "eventually tripped", "never": "eventually (eff(dec_a3ee) > 2)"}
    goals = "".join(f'[[goal]]\nname = "{name}"\nsometimes = "{word}"\n' for name, word in properties.items())
    scorecard = quick(STORY + goals)
    assert scorecard.coverage.filter(kind="goal").select("name", "shown").rows() == [("it trips", True), ("never", False)]


def test_noise_and_shift_are_estimated_from_a_scenario(tmp_path: Path) -> None:
    values = [0.9 + 0.02 * (-1) ** day for day in range(24)] + [0.4 + 0.02 * (-1) ** day for day in range(6)]
    path = tmp_path / "x.toml"
    path.write_text(with_input(UNGUARDED, values, '[[episode]]\nname = "falls"\nfrom = "25d"\n'), encoding="utf-8")
    noise, shift = noise_of(path, "x")
    assert noise.mean == pytest.approx(0.9, abs=0.002)
    assert shift == pytest.approx(-0.5, abs=0.01)
    assert noise.correlation == 0.0  # negative estimates are clipped to 0
    words = ["tripwire", "design", "--arl0", "30", "--delay", "3", "--scenario", str(path)]
    assert main([*words, "--signal", "x"]) == 0
    assert main(words) == 2


def quick(text: str) -> Any:
    return ms.validate(None, parse(text), mutate=False, faults=False)


def test_tripwire_that_is_untested_or_never_trips_is_not_alive() -> None:
    assert quick(STORY.replace("test = true", "")).receipt.verdict.startswith("untested")
    deaf = quick(STORY.replace("setp weak.level 0.5", "setp weak.level 0.1"))
    assert deaf.receipt.verdict.startswith("dead")
    assert deaf.receipt.last_test is None


GUARDED = """\
loadrt watch names=low
loadrt watchdog names=guard
loadrt latch names=alarm
net x low.in guard.in-0
net bad low.below > alarm.set
net ack reviewer.ack > alarm.reset
net tripped alarm.out
net on guard.enable
on = true
setp guard.timeout-0 3d
setp low.level 0.5
addf low tick
addf guard tick
addf alarm tick
"""


PLAIN = GUARDED.replace(" guard.in-0", "").replace("on = true\n", "")
UNGUARDED = "\n".join(line for line in PLAIN.split("\n") if "guard" not in line)


def with_input(wires: str, values: list[float], more: str = "") -> str:
    inputs = "".join(
        f'[[netlist.input]]\nsignal = "x"\nat = "{day}d"\nvalue = {value}\n' for day, value in enumerate(values, start=1)
    )
    return f"why = 'x'\n[run]\ndays = {max(len(values), 14)}\n[netlist]\ntext = '''\n{wires}'''\n{inputs}{more}"


def test_tripwire_with_stale_inputs_is_reported_as_blind() -> None:
    moving = [0.9 + 0.001 * day for day in range(14)]
    test = '[[episode]]\nname = "drill"\nfrom = "2d"\nto = "3d"\ntest = true\n'
    frozen = [0.9, 0.2, *([0.9] * 12)]
    ack = '[[netlist.input]]\nsignal = "reviewer.ack"\nat = "4d"\nvalue = true\n'
    assert quick(with_input(UNGUARDED, [0.9, 0.2, *moving[2:]], ack + test)).receipt.verdict.startswith("alive")
    stale = quick(with_input(UNGUARDED, frozen, ack + test)).receipt
    assert stale.verdict.startswith("blind")
    assert "(x)" in stale.verdict
    assert stale.blind.value == pytest.approx(1 / 14)  # x is frozen from day 3, so over 10 ticks old on day 14 only
    guarding = quick(with_input(GUARDED, frozen, ack + test)).receipt
    assert guarding.blind.value == pytest.approx(8 / 14)  # the net's own watchdog allows only 3 ticks
    absent = quick(STORY.replace('at = "0d"', 'at = "2d"', 1))
    assert absent.receipt.inputs["fresh"].to_list() == pytest.approx([11 / 13])


def test_watchdog_sets_the_age_limit_of_its_signal() -> None:
    net = link(parse_netlist(GUARDED))
    assert sensors(net) == ["x"]
    assert watchdog_limits(net, tick=8.64e7) == {"x": 3}
    still, moves = np.full((30, 1), 0.5), np.arange(30.0)[:, None]
    both = blind({"a": still, "b": moves}, {})
    assert not both["a"].any()
    assert blind({"a": still, "b": moves}, {"a": 3})["a"][:, 0].argmax() == 4
    assert blind({"a": np.where(moves > 5, np.nan, moves)}, {})["a"][:, 0].tolist() == [False] * 6 + [True] * 24


def test_crash_does_not_count_as_a_caught_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    base = observe(parse(STORY))
    clean = judge(base.scenario)
    verdicts = iter([clean])
    monkeypatch.setattr(
        killing, "judge", lambda scenario: next(verdicts, Judged(scenario=scenario, error="the run broke off"))
    )
    result = killing.mutation_results(base)
    assert set(result["verdict"]) == {"crashed"}
    assert set(result["by"]) == {"the run broke off"}


def test_every_mutant_links_and_differs_from_the_original() -> None:
    document = parse_netlist(WIRES)
    result = mutants(document, link(document))
    assert len({item.what for item in result}) == len(result) == 16
    assert {item.kind for item in result} == {"polarity", "wire", "threshold", "latch"}
    for item in result:
        assert item.document != document
        link(item.document)
    timed = parse_netlist(GUARDED)
    assert "guard.timeout-0 at 2.4d instead of 3d" in {item.what for item in mutants(timed, link(timed))}


def test_injected_faults_change_only_their_target() -> None:
    scenario = parse(STORY)
    scorecard = dict(faulty_scenarios(scenario))
    assert set(scorecard) == set(FAULTS)
    for item in scorecard.values():
        assert "dec_a3ee" in item.claims["handle"].to_list()
        assert item.netlist == scenario.netlist
    assert scorecard["late claims"].claims.height == scenario.claims.height
    assert scorecard["lost ticks"].gaps
    again = dict(faulty_scenarios(scenario))
    assert all(item.claims.equals(again[name].claims) for name, item in scorecard.items())


def test_tripwires_are_compared_in_the_same_scenario(tmp_path: Path) -> None:
    paths = [tmp_path / "a.malnet", tmp_path / "b.malnet", tmp_path / "x.toml"]
    paths[0].write_text(SMALL, encoding="utf-8")
    paths[1].write_text(SMALL.replace("setp weak.level 0.5", "setp weak.level 0.3"), encoding="utf-8")
    paths[2].write_text(STORY, encoding="utf-8")
    result = ms.compare_tripwires(paths[:2], paths[2])
    missed = dict(result.filter(metric="missed").select("tripwire", "value").rows())
    assert (missed["a.malnet"], missed["b.malnet"]) == (0.0, 1.0)
    assert "b.malnet" in next(score_lines(result))
    page = tmp_path / "card.html"
    assert main(["tripwire", str(paths[1]), "--scenario", str(paths[2]), "--quick", "--html", str(page)]) == 1
    assert "dead: it did not trip" in page.read_text(encoding="utf-8")
    assert main(["tripwire", str(paths[1])]) == 2


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('from = "4d"\nto = "9d"', "", "either when, or from and to"),
        ('from = "4d"\nto = "9d"', 'when = "eff(dec_a3ee) <"', r"episode\[0\]\.when"),
        ('to = "9d"', 'to = "3d"', "must end after it begins"),
        ('to = "9d"', 'when = "tripped"', "either when, or from and to"),
        ("test = true", "tests = true", "unknown key 'tests'"),
    ],
)
def test_invalid_episode_is_reported_with_its_line(old: str, new: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        parse(STORY.replace(old, new, 1))


def test_episode_can_be_defined_by_any_property() -> None:
    by_time = observe(parse(STORY))
    word = observe(parse(STORY.replace('from = "4d"\nto = "9d"', 'when = "eff(dec_a3ee) < 0.5"')))
    assert word.truth.any()
    np.testing.assert_array_equal(by_time.truth, word.truth)


def test_missing_netlist_or_several_alarms_are_refused() -> None:
    scenario = parse(STORY)
    with pytest.raises(UsageError, match="no netlist"):
        observe(replace(scenario, netlist=None))
    net = link(parse_netlist(WIRES + "loadrt latch names=other\nnet too other.out\naddf other tick\n"))
    with pytest.raises(UsageError, match=r"several alarms.*tripped \(line 12\), too \(line"):
        alarm_of(net)
    assert alarm_of(net, "too") == "too"
    with pytest.raises(UsageError, match="not a bit of this netlist"):
        alarm_of(net, "low")


def test_option_strict_fails_if_a_required_mutant_is_not_caught(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mutants cannot be caught without checks and proofs."""
    path, junit = tmp_path / "story.toml", tmp_path / "junit.xml"
    words = ["tripwire", "--scenario", str(path), "--strict", "--junit", str(junit)]
    path.write_text(STORY, encoding="utf-8")
    assert main(words) == 0
    root = ET.parse(junit).getroot()  # noqa: S314  # written a line above
    assert not root.findall(".//failure")
    assert len(root.findall(".//testcase")) > 20
    path.write_text(STORY[: STORY.index("[[check]]")], encoding="utf-8")
    monkeypatch.setattr(killing, "_sound_questions", lambda _: frozenset())
    capsys.readouterr()
    assert main(words) == 1
    assert "bad from weak.above instead of weak.below" in capsys.readouterr().out
    assert {case.get("classname") for case in ET.parse(junit).iter("testcase") if case.find("failure") is not None} == {  # noqa: S314
        "story.toml: mutants"
    }


def test_json_and_csv_contain_the_full_truth_table(card: Any) -> None:
    facts = json.loads(json_text(card))
    assert facts["verdict"] == card.verdict.headline
    assert {answer["status"] for answer in facts["answers"]} == {"sound"}
    assert len(facts["truth_table"]) == len(card.card.csv.splitlines()) - 1 == card.card.rows.height


def test_single_replication_has_no_intervals() -> None:
    alone = quick(STORY.replace("replications = 2", "replications = 1"))
    for shown in (str(alone), alone.html):
        assert "one replication: use --replications 20" in shown
        assert "∞" not in shown


BROKEN_NETS = {
    "loadrt latch names=alarm\n": ("", "no latch, watchdog or flag raises an alarm"),
    "loadrt latch names=alarm": ("loadrt latch names=alarm,other\nnet too other.out\naddf other tick", r"too \(line 1\d\)"),
    "setp weak.level": ("setp weak.levle", r"x\.toml:1\d.*did you mean level"),
}


@pytest.mark.parametrize("old", BROKEN_NETS)
def test_net_that_cannot_be_scored_is_refused_with_its_line(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, problem = BROKEN_NETS[old]
    wires = SMALL.replace(old, new)
    if not new:
        wires = "loadrt watch names=weak\nnet worth weak.in < dec_a3ee-scores-eff\nsetp weak.level 0.5\naddf weak tick\n"
    path = tmp_path / "x.toml"
    path.write_text(STORY.replace(SMALL, wires), encoding="utf-8")
    assert main(["tripwire", "--scenario", str(path), "--quick"]) == 2
    error = capsys.readouterr().err
    assert re.search(problem, error)
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new", "flaw"),
    [
        ("net ack reviewer.ack > alarm.reset", "net ack reviewer.ack", "the acknowledgement ack reaches an alarm"),
        ("addf weak", ("loadrt or2 names=a,b\nnet p a.out > b.in-0\nnet q b.out > a.in-0\n"
         "addf a tick\naddf b tick\naddf weak"), "a loop without a delay or a memory: a (p) > b (q) > a"),
    ],
)  # fmt: skip
def test_flaw_of_a_broken_net_is_reported_with_its_line(old: str, new: str, flaw: str) -> None:
    verdict = quick(STORY.replace(old, new, 1)).verdict
    assert verdict.code == 1
    assert [line for line, sentence in verdict.flaws if flaw in sentence and line] != []


SCENARIOS = Path(__file__).parents[2] / "scenarios"
ALARM = {"severity_ladder": "light-3", "drift_baseline": "drifted"}
TRIPWIRES = [
    "tripwire",
    "tripwire_poisoned",
    "watchdog_silent_writer",
    "quorum_of_writers",
    "severity_ladder",
    "drift_baseline",
]
STORIES = {"liar_from_day_20"}  # illustrates the control loop; its alarm is not meant as a tripwire


def test_every_shipped_tripwire_is_tested() -> None:
    for path in sorted(SCENARIOS.glob("*.toml")):
        config = read(path).netlist
        instances = config.net.instances.items() if config else ()
        signals = catalogue()  # shipped signals are tested elsewhere
        ops = {item.sheet.name for name, item in instances if name.partition(".")[0] not in signals}
        if ops & {*ALARMS, "watchdog"} and path.stem not in STORIES:
            assert path.stem in TRIPWIRES, path.stem


@pytest.mark.parametrize("name", TRIPWIRES)
def test_shipped_tripwire_trips_in_every_replication(name: str) -> None:
    scenario = read(SCENARIOS / f"{name}.toml")
    scenario = scenario.replace(replications=min(scenario.replications, 4))
    scorecard = ms.validate(None, scenario, alarm=ALARM.get(name), mutate=False, faults=False)
    assert scorecard.receipt.tests
    assert scorecard.receipt.last_test is not None
    missed = scorecard.scores.row(3, named=True)
    assert (missed["metric"], missed["value"]) == ("missed", 0.0)


def test_nan_makes_everything_downstream_blind() -> None:
    """The minimum of no cells is NaN, which the `smooth` op holds until it is reloaded."""
    scenario = read(SCENARIOS / "tripwire_poisoned.toml").replace(replications=6, days=12)
    assert scenario.netlist is not None
    text = scenario.netlist.text.replace(" calm.load", "")
    assert text != scenario.netlist.text
    scorecard = ms.validate(text, scenario, mutate=False, faults=False)
    assert scorecard.receipt.verdict == "blind: its inputs went stale (steady), so its silence proves nothing"
    assert scorecard.receipt.ends_blind
