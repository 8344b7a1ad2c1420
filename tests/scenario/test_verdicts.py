"""Tests for the verdicts of `malsim test`: failures and errors are distinguished, and neither counts as a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from malsim.base.errors import ScenarioError
from malsim.cli import main
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.judge.judge import goals, judge

if TYPE_CHECKING:
    from pathlib import Path

CLAIM = (
    '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "obs_a1a1"\ntitle = "t"\nconfidence = 0.5\nverification = "external"\n'
)
HEAD = f'why = "x"\nseed = 3\n[run]\ndays = 4\n{CLAIM}'
STANDS = '[[check]]\nname = "stands"\nproperty = "always (eff(obs_a1a1) >= 0.3)"\n'
FALLS = '[[check]]\nname = "falls"\nproperty = "always[2d:4d] (eff(obs_a1a1) < 0.3)"\n'
ERROR = '[[check]]\nname = "nowhere"\nproperty = "always (eff(obs_ffff) < 0.3)"\n'
METRIC = '[[check]]\nname = "mean"\nmetric = "mean"\nof = "eff(obs_a1a1)"\nwithin = [0.6, inf]\n'


def write(folder: Path, text: str, name: str = "x") -> str:
    path = folder / f"{name}.toml"
    path.write_text(HEAD + text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (STANDS, 0), (STANDS + FALLS, 1), (STANDS + METRIC, 1), (STANDS + ERROR, 2), (FALLS + ERROR, 2), ("", 2),
        ("[[check]]\n", 2), (STANDS + STANDS, 2), ("[baseline]\n", 2),
        ('[[goal]]\nname = "g"\nsometimes = "eventually at event(admitted)"\n', 0),
        ('[[goal]]\nname = "g"\nsometimes = "eventually at event(tripped)"\n', 1),
    ],
)  # fmt: skip
def test_exit_codes_distinguish_failure_and_error(text: str, code: int, tmp_path: Path) -> None:
    assert main(["test", write(tmp_path, text)]) == code


@pytest.mark.parametrize("replications", [1, 3])
def test_verdicts_contain_margin_and_share(replications: int) -> None:
    scenario = parse(HEAD.replace("days = 4", f"days = 4\nreplications = {replications}") + STANDS + FALLS + METRIC)
    messages = {outcome.check.name: outcome.message for outcome in judge(scenario).outcomes}
    broken = "replication 0, day 2: expected eff(obs_a1a1) < 0.3, got eff(obs_a1a1) = 0.5; margin -0.2"
    if replications == 1:
        assert messages["stands"] == "margin 0.2"
        assert messages["falls"] == broken
    else:
        assert messages["stands"] == "holds in 3 of 3 replications [0.439, 1], worst margin 0.2"
        assert messages["falls"] == f"holds in 0 of 3 replications [0, 0.561], required 1; {broken}"
    assert "0.5" in messages["mean"]


def test_rules_files_are_not_collected_as_scenarios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, STANDS)
    rules = tmp_path / "candidate.toml"
    rules.write_text("[rules]\ndamping = 0.5\n", encoding="utf-8")
    assert main(["test", str(tmp_path)]) == 0
    assert main(["test", str(rules)]) == 2
    rules.write_text("[rules]\ndamping = 0.5\n[run]\ndays = 3\n", encoding="utf-8")
    assert main(["test", str(tmp_path)]) == 2
    assert "'why' is missing" in capsys.readouterr().out


def test_failure_reports_location_witness_and_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, STANDS + FALLS)
    assert main(["test", path, "--junit", str(tmp_path / "r.xml")]) == 1
    printed = capsys.readouterr().out
    line = (HEAD + STANDS + FALLS).splitlines().index('property = "always[2d:4d] (eff(obs_a1a1) < 0.3)"') + 1
    assert f"{path}:{line}: fail: falls: replication 0, day 2: expected" in printed
    command = f"alone: malsim test {path} --check falls --seed 3"
    for part in ("margin: -0.2", "clause: ", "expected: ", "got: ", "seed: 3", command):
        assert part in printed
    again = printed.split("alone: malsim ")[1].splitlines()[0].split()
    assert main(again) == 1
    assert "0 passed, 1 failed" in capsys.readouterr().out


def test_junit_report_separates_failures_from_errors(tmp_path: Path) -> None:
    odd = FALLS.replace('"falls"', '"<&> \\u0001 ☂"')
    write(tmp_path, STANDS + odd + ERROR, "a")
    (tmp_path / "b.toml").write_text("not toml", encoding="utf-8")
    assert main(["test", str(tmp_path), "--junit", str(tmp_path / "r.xml")]) == 2
    root = ET.parse(tmp_path / "r.xml").getroot()  # noqa: S314  # written a line above
    assert [root.get(key) for key in ("tests", "failures", "errors")] == ["4", "1", "2"]
    failed = next(case for case in root.iter("testcase") if case.find("failure") is not None)
    assert failed.get("name") == "<&> \\u0001 ☂"
    assert "seed: 3" in str(failed.findtext("failure"))


def test_goal_passes_if_any_scenario_in_the_suite_meets_it() -> None:
    goal = '[[goal]]\nname = "g"\nsometimes = "eventually at event(superseded)"\n'
    again = (
        CLAIM.replace("a1a1", "b2b2").replace('"t"', '"u"') + 'edges = [{ relation = "supersedes", target = "obs_a1a1" }]\n'
    )
    missing, meeting = judge(parse(HEAD + goal)), judge(parse(HEAD + again + goal, name="meets it"))
    assert [outcome.status for _, outcome in goals([missing])] == ["fail"]
    for suite in ([missing, meeting], [meeting, missing]):
        assert [(judged, outcome.status) for judged, outcome in goals(suite)] == [(meeting, "pass")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[check]]\nname = "n"\n', "must have exactly one kind"),
        (STANDS + 'metric = "mean"\n', "must have exactly one kind"),
        (STANDS + "within = [0, 1]\n", "unknown key 'within' in a property check"),
        (METRIC.replace("mean", "meen"), "no such metric"),
        (METRIC.replace("0.6, inf", "1, 0"), "bounds allow"),
        (METRIC.replace("0.6, inf", "-inf, inf"), "bounds allow"),
        (METRIC.replace("eff(obs_a1a1)", "eff(obs_a1a1) > 1"), r"check\[0\]\.of"),
        ('[[check]]\nname = "n"\nalarm = "a.out"\n', "'expect' is missing"),
        ('[baseline]\ncolumns = ["cells"]\n', "no such column"),
        ('[baseline]\n[baseline.bands."*"]\nabsolute = -1\n', "out of bounds"),
        ('[[goal]]\nname = "g"\nsometimes = "alwys x"\n', r"goal\[0\]\.sometimes"),
        (STANDS + STANDS, "this name is already used"),
    ],
)
def test_invalid_check_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem) as refused:
        parse(HEAD + text, where="s.toml")
    assert str(refused.value).startswith("s.toml:")


def test_alarm_check_compares_alarm_states() -> None:
    check = '[[check]]\nname = "n"\nalarm = "obs_a1a1-flags-locked"\nexpect = { "0..1" = "quiet", "2" = "STATE" }\n'
    for state, status in (("quiet", "pass"), ("tripped", "fail"), ("asleep", "error")):
        judged = judge(parse(HEAD + check.replace("STATE", state)))
        assert [outcome.status for outcome in judged.outcomes] == [status]
