"""Tests that settings in scenario files reach the run, and that errors name the file, line and key and give a hint."""

from __future__ import annotations

import contextlib
import json
from dataclasses import fields
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import ScenarioError
from malsim.base.files.toml_text import line_of, lines_of
from malsim.memory import Rules
from malsim.scenario.checks.checks import KINDS
from malsim.scenario.checks.kind import KindCheck
from malsim.scenario.file import json_schema
from malsim.scenario.file.json_schema import scenario_schema
from malsim.scenario.file.scenario_file import parse, read
from malsim.sim.world.clock import span

SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
CLAIM = '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "obs_a1a1"\ntitle = "t"\nconfidence = 0.5\n'


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_scenarios_start_with_the_why_key(path: Path) -> None:
    scenario = read(path)
    assert path.read_text(encoding="utf-8").startswith("why = ")
    assert (scenario.name, scenario.text) == (path.stem, path.read_text(encoding="utf-8"))


def test_file_settings_reach_the_scenario() -> None:
    run = 'days = 2\nturn_every = "6h"\nstart = 2026-01-01'
    scenario = parse(f'why = "x"\nseed = 3\n[run]\n{run}\n[rules]\npreset = "recall_v5"\n{CLAIM}')
    assert (scenario.seed, scenario.days, scenario.turn_every) == (3, 2, 21_600_000)
    assert str(scenario.start) == "2026-01-01"
    assert scenario.rules == Rules.recall_v5()
    assert scenario.claims.select("t", "handle", "body").row(0) == (0.0, "obs_a1a1", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'why' is missing"),
        ('why = ""', r"s\.toml:1: why"),
        ('why = "x"\n[rnu]\n', r"s\.toml:2: unknown key 'rnu'; did you mean run"),
        ('why = "x"\n[run]\ntrun_every = "1d"\n', r"s\.toml:3: unknown key 'trun_every'; did you mean turn_every"),
        ('why = "x"\n[run]\ndays = -1\n', r"s\.toml:3: run\.days: .*given: -1; allowed: above 0"),
        ('why = "x"\n[run]\nturn_every = "soon"\n', r"run\.turn_every: .*10min"),
        ('why = "x"\n[run]\ndays = 1\nturn_every = "2d"\n', "at most the run's 1d"),
        ('why = "x"\n[run]\nstart = "2026-13-01"\n', "not a date"),
        ('why = "x"\n[rules]\nchallenge_ceiling = 2\n', r"s\.toml:3: rules\.challenge_ceiling: .*0 to 1"),
        ('why = "x"\n[rules]\ncalibration = "maybe"\n', "overconfidence, brier, none"),
        ('why = "x"\n[[claim]]\nat = "0d"\nwriter = "a"\ntitle = "t"\n', r"claim\[0\]: 'confidence' is missing"),
        (f'why = "x"\n{CLAIM}{CLAIM.replace("0.5", chr(34) + "high" + chr(34))}', r"s\.toml:13: claim\[1\]\.confidence"),
        (
            'why = "x"\n[[facts]]\nname = "a"\nvalues = [1, true]\n',
            r"values\[1\]: .*given: True; allowed: a number or text in",
        ),
        ('why = "x"\n[rules]\nchallenge_ceiling = inf\n', r"given: inf; allowed: 0 to 1$"),
        ('why = "x"\n[rules]\nchallenge_ceiling = -inf\n', r"given: -inf; allowed: 0 to 1$"),
        ('why = "x"\n[run]\ndays = nan\n', r"^s\.toml:3: run\.days: not a finite number; given: nan$"),
        (
            'why = "x"\n[run]\nreplications = inf\n',
            r"given: inf; allowed: a whole number\n.*1 to 1000000\n.*not a finite number",
        ),
        (f'why = "x"\n[run]\ndays = {10**30}\n', r"given: 10{30}; allowed: above 0, at most 1000000"),
        (f"why = {'[' * 300}{']' * 300}", "nested too deeply"),
        (f"why = {'[' * 5000}{']' * 5000}", "nested too deeply"),
        (f"{'a.' * 5000}b = 1", "a key of more than 100 parts"),
        (f"seed = {'7' * 5000}", "not a TOML file"),
        ('why = "x', "not a TOML file"),
        ("why = 'x'\nwhy = 'y'", "not a TOML file"),
    ],
)
def test_scenario_errors_name_file_line_and_key(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        parse(text, where="s.toml")


def test_all_errors_in_a_file_are_reported_together() -> None:
    with pytest.raises(ScenarioError) as caught:
        parse('why = "x"\n[run]\ndays = -1\nreplications = 0\n[rules]\ndamping = 0\n')
    assert len(str(caught.value).splitlines()) == 3


def test_scenario_errors_are_reported_in_schema_order() -> None:
    with pytest.raises(ScenarioError) as caught:
        parse("[[claim]]\nat = 1\n[[claim]]\nzz = 1\naa = 1\n[rules]\ndamping = 0\n[run]\nfirst = -1\ndays = 0\n[runs]\n")
    lines = [line.removeprefix("scenario:").split(";")[0] for line in str(caught.value).splitlines()]
    missing = ("at", "writer", "title", "confidence")
    assert lines == [
        "11: unknown key 'runs'",
        "1: 'why' is missing",
        "10: run.days: out of bounds",
        "9: run.first: out of bounds",
        "7: rules.damping: out of bounds",
        *(f"1: claim[0]: '{name}' is missing" for name in missing[1:]),
        "2: claim[0].at: wrong type",
        *(f"{line}: unknown key '{key}'" for line, key in ((4, "zz"), (5, "aa"))),
        *(f"3: claim[1]: '{name}' is missing" for name in missing),
    ]


def test_errors_do_not_repeat_credentials() -> None:
    credential = "AKIA" + "Q" * 16
    for text in (f'why = "x"\n[run]\ndays = "{credential}"\n', f'why = "x"\n{credential} = 1\n'):
        with pytest.raises(ScenarioError) as caught:
            parse(text)
        assert credential not in str(caught.value)
        assert "withheld" in str(caught.value)


def test_missing_large_and_binary_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "poisoner.toml").write_text('why = "x"')
    with pytest.raises(ScenarioError, match=r"no such scenario file.*poisoner\.toml"):
        read(tmp_path / "poisonner.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00why")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        read(tmp_path / "binary.toml")
    with pytest.raises(ScenarioError, match="no such scenario file"):
        read(tmp_path)


@given(st.text(max_size=80))
def test_any_text_is_either_a_scenario_or_an_error(text: str) -> None:
    for whole in (text, f'why = "x"\n{text}'):
        with contextlib.suppress(ScenarioError):
            parse(whole)


def test_line_numbers_of_keys_and_tables_are_found() -> None:
    lines = lines_of('why = "x"\n\n[run]\ndays = 1\n[[claim]]\n[[claim]]\nat = "0d"\nedges = [\n {},\n]\n')
    assert [
        line_of(lines, path) for path in [("run", "days"), ("claim", 1, "at"), ("claim", 1, "edges", 0, "x"), ("no",)]
    ] == [4, 7, 8, 1]


def test_schema_lists_every_rule_with_its_bounds() -> None:
    rules = scenario_schema()["$defs"]["rules"]["properties"]
    assert rules["damping"]["exclusiveMinimum"] == 0
    assert rules["calibration"]["enum"] == ["overconfidence", "brier", "none"]
    assert set(rules) == {"preset", *Rules.__dataclass_fields__}


@pytest.mark.parametrize(
    ("text", "milliseconds"), [("1d", 86_400_000), ("0.1 s", 100), ("10min", 600_000), (".5h", 1_800_000)]
)
def test_durations_are_parsed_to_whole_milliseconds(text: str, milliseconds: int) -> None:
    assert span(text) == milliseconds


@pytest.mark.parametrize("text", ["", "1", "d", "-1d", "1 month", "1e3d", "1d2h"])
def test_invalid_durations_are_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="not a duration"):
        span(text)


def test_schema_lists_the_keys_of_every_kind_of_check() -> None:
    text = resources.files(json_schema.__package__).joinpath("data", "check.schema.json").read_text(encoding="utf-8")
    keys = json.loads(text)["check"]["items"]["properties"]
    assert {"property", "name", "share"} | {key for kind in KINDS.values() for key in _own(kind)} == set(keys)


def _own(kind: type[KindCheck]) -> set[str]:
    return {part.name for part in fields(kind)} - {part.name for part in fields(KindCheck)}
