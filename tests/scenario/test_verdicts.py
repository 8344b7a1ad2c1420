"""Verdicts: what fails, what is an error, and that neither is ever taken for a pass, on the command line and in pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from malsim.base.errors import ScenarioError
from malsim.cli import main
from malsim.scenario.file.scenario_file import parse
from malsim.scenario.judge.judge import goals, judge

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
    says = {item.check.name: item.message for item in judge(scenario).outcomes}
    broken = "replication 0, day 2: expected eff(obs_a1a1) < 0.3, got eff(obs_a1a1) = 0.5; margin -0.2"
    if replications == 1:
        assert says["stands"] == "margin 0.2"
        assert says["falls"] == broken
    else:
        assert says["stands"] == "holds in 3 of 3 replications [0.439, 1], worst margin 0.2"
        assert says["falls"] == f"holds in 0 of 3 replications [0, 0.561], 1 asked; {broken}"
    assert "0.5" in says["mean"]


def test_rules_files_are_not_collected_as_scenarios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, STANDS)
    rules = tmp_path / "candidate.toml"
    rules.write_text("[rules]\ndamping = 0.5\n", encoding="utf-8")
    assert main(["test", str(tmp_path)]) == 0
    assert main(["test", str(rules)]) == 2
    rules.write_text("[rules]\ndamping = 0.5\n[run]\ndays = 3\n", encoding="utf-8")
    assert main(["test", str(tmp_path)]) == 2
    assert "'why' is missing" in capsys.readouterr().out


def test_failure_reports_place_witness_and_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, STANDS + FALLS)
    assert main(["test", path, "--junit", str(tmp_path / "r.xml")]) == 1
    value = capsys.readouterr().out
    line = (HEAD + STANDS + FALLS).splitlines().index('property = "always[2d:4d] (eff(obs_a1a1) < 0.3)"') + 1
    assert f"{path}:{line}: fail: falls: replication 0, day 2: expected" in value
    for part in (
        "margin: -0.2",
        "clause: ",
        "expected: ",
        "got: ",
        "seed: 3",
        f"alone: malsim test {path} --check falls --seed 3",
    ):
        assert part in value
    again = value.split("alone: malsim ")[1].splitlines()[0].split()
    assert main(again) == 1
    assert "0 passed, 1 failed" in capsys.readouterr().out


def test_junit_separates_failures_and_errors(tmp_path: Path) -> None:
    odd = FALLS.replace('"falls"', '"<&> \\u0001 ☂"')
    write(tmp_path, STANDS + odd + ERROR, "a")
    (tmp_path / "b.toml").write_text("not toml", encoding="utf-8")
    assert main(["test", str(tmp_path), "--junit", str(tmp_path / "r.xml")]) == 2
    root = ET.parse(tmp_path / "r.xml").getroot()  # noqa: S314  # written a line above
    assert [root.get(key) for key in ("tests", "failures", "errors")] == ["4", "1", "2"]
    failed = next(case for case in root.iter("testcase") if case.find("failure") is not None)
    assert failed.get("name") == "<&> \\u0001 ☂"
    assert "seed: 3" in str(failed.findtext("failure"))


def test_goal_is_met_by_any_scenario() -> None:
    goal = '[[goal]]\nname = "g"\nsometimes = "eventually at event(superseded)"\n'
    again = (
        CLAIM.replace("a1a1", "b2b2").replace('"t"', '"u"') + 'edges = [{ relation = "supersedes", target = "obs_a1a1" }]\n'
    )
    without, having = judge(parse(HEAD + goal)), judge(parse(HEAD + again + goal, name="has it"))
    assert [outcome.status for _, outcome in goals([without])] == ["fail"]
    for suite in ([without, having], [having, without]):
        assert [(judged, outcome.status) for judged, outcome in goals(suite)] == [(having, "pass")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[check]]\nname = "n"\n', "has exactly one kind"),
        (STANDS + 'metric = "mean"\n', "has exactly one kind"),
        (STANDS + "within = [0, 1]\n", "'within' is not a key of a property"),
        (METRIC.replace("mean", "meen"), "no such metric"),
        (METRIC.replace("0.6, inf", "1, 0"), "bounds allow"),
        (METRIC.replace("0.6, inf", "-inf, inf"), "bounds allow"),
        (METRIC.replace("eff(obs_a1a1)", "eff(obs_a1a1) > 1"), r"check\[0\]\.of"),
        ('[[check]]\nname = "n"\nalarm = "a.out"\n', "'expect' is missing"),
        ('[baseline]\ncolumns = ["cells"]\n', "no such column"),
        ('[baseline]\n[baseline.bands."*"]\nabsolute = -1\n', "invalid value"),
        ('[[goal]]\nname = "g"\nsometimes = "alwys x"\n', r"goal\[0\]\.sometimes"),
        (STANDS + STANDS, "this name is already used"),
    ],
)
def test_empty_checks_are_refused_at_their_line(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said) as refused:
        parse(HEAD + text, where="s.toml")
    assert str(refused.value).startswith("s.toml:")


def test_alarm_check_compares_states() -> None:
    check = '[[check]]\nname = "n"\nalarm = "obs_a1a1-flags-locked"\nexpect = { "0..1" = "quiet", "2" = "STATE" }\n'
    for state, status in (("quiet", "pass"), ("tripped", "fail"), ("asleep", "error")):
        judged = judge(parse(HEAD + check.replace("STATE", state)))
        assert [outcome.status for outcome in judged.outcomes] == [status]


def pytest_of(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_pytest_separates_failures_and_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scenarios").mkdir()
    goal = '[[goal]]\nname = "g"\nsometimes = "eventually at event(tripped)"\n'
    path = write(tmp_path / "scenarios", STANDS + FALLS + ERROR + goal)
    write(tmp_path / "scenarios", STANDS + goal, "y")
    (tmp_path / "other.toml").write_text("a = 1\n", encoding="utf-8")
    (tmp_path / "scenarios" / "candidate.toml").write_text("[rules]\ndamping = 0.5\n", encoding="utf-8")
    found = pytest_of(tmp_path, "-q", "-n", "2", "--junitxml", "r.xml")
    assert "2 failed, 2 passed, 1 error" in found.stdout
    assert "scenarios/x.toml:17: fail: falls: replication 0, day 2" in found.stdout
    assert "Traceback" not in found.stdout
    monkeypatch.chdir(tmp_path)
    [alone] = {line for line in found.stdout.splitlines() if line.startswith("alone: ") and "--check falls" in line}
    assert alone == "alone: malsim test scenarios/x.toml --check falls --seed 3 --replication 0"
    assert main(alone.split()[2:]) == 1
    assert "scenarios/x.toml:17: fail: falls: replication 0, day 2" in capsys.readouterr().out
    assert "1 passed" in pytest_of(tmp_path, f"{path}::stands").stdout


def test_pytest_refuses_unreadable_and_empty_scenarios(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    write(tmp_path / "scenarios", "")
    (tmp_path / "scenarios" / "y.toml").write_text("# malsim\nwhi = 1\n", encoding="utf-8")
    found = pytest_of(tmp_path)
    assert "x.toml:1: nothing is checked" in found.stdout
    assert "unknown key 'whi'" in found.stdout
    assert found.returncode == 2


def test_pytest_ignores_other_toml_files(tmp_path: Path) -> None:
    for folder in ("scenarios", "loads"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "load.toml").write_text("users = 5\n", encoding="utf-8")
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n", encoding="utf-8")
    assert pytest_of(tmp_path).returncode == 0
    (tmp_path / "pytest.ini").write_text("[pytest]\nmalsim_paths = loads\n", encoding="utf-8")
    found = pytest_of(tmp_path)
    assert found.returncode == 2
    assert "loads/load.toml" in found.stdout
    assert "scenarios/load.toml" not in found.stdout


def test_plugin_imports_nothing_heavy() -> None:
    code = (
        "import sys, malsim.scenario.pytest_plugin; print(sorted({'numpy', 'polars', 'lark', 'scipy'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
