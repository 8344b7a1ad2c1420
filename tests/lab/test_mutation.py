"""Mutants: each breaks one thing and says which; what no check notices is named, and a crash is no kill."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malsim.base.errors import MalsimError, UsageError
from malsim.cli import main
from malsim.lab.suite.mutants import mutants, mutated
from malsim.lab.suite.mutation import Fate, MutationScore, fate, sample_mutants, score, suite_mutants
from malsim.scenario.file.scenario_file import parse, read
from malsim.scenario.judge.judge import judge
from malsim.sim.settings.scenario import Scenario

SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
CLAIM = (
    '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "obs_a1a1"\ntitle = "t"\nconfidence = 0.5\nverification = "external"\n'
)
RIVAL = CLAIM.replace("a1a1", "b2b2").replace("ann", "bob").replace('"t"', '"u"') + (
    'pinned = true\nedges = [{ relation = "contradicts", target = "obs_a1a1" }]\n'
)
CHECK = '[[check]]\nname = "it is disputed"\nproperty = "always[2d:4d] (eff(obs_a1a1) < 0.3)"\n'
TEXT = f'why = "w"\n[run]\ndays = 4\n{CLAIM}{RIVAL}{CHECK}'
LINE = TEXT.splitlines().index(CHECK.splitlines()[2]) + 1
SCORED = ["killed", "survived", "broke off"]
NET = """[netlist]
text = '''
loadrt smooth names=slow
addf slow tick
net raw slow.in < obs_a1a1-scores-eff
net calm slow.out
'''
"""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_name_of_a_mutant_makes_another_scenario_or_none(path: Path) -> None:
    scenario = read(path)
    names = list(mutants(scenario))
    assert len(names) == len(set(names))
    for name in [name for name in names if not name.startswith("rules.")] + names[::20]:
        try:
            broken = mutated(scenario, name)
        except UsageError:
            raise
        except MalsimError:
            continue
        assert contents(broken) != contents(scenario)


def contents(scenario: Scenario) -> list[object]:
    """A scenario's fields, its frame as rows."""
    values = (getattr(scenario, part.name) for part in fields(scenario))
    return [each.to_dicts() if isinstance(each, pl.DataFrame) else each for each in values]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four mutants a scenario, for what does not depend on which they are."""
    moves = (f"rules.{rule}" for rule in ("challenge_ceiling = 0", "challenge_ceiling = 1", "rank_degree = 0"))
    names = (*moves, "without claim.obs_b2b2.edges.0")
    monkeypatch.setattr("malsim.lab.suite.mutation.mutants", lambda _: names)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("rules.challenge_ceiling = 0", "killed"),
        ("without claim.obs_b2b2.edges.0", "killed"),
        ("turn claim.obs_b2b2.edges.0", "killed"),
        ("claim.obs_a1a1.confidence = 1", "killed"),
        ("rules.challenge_ceiling = 1", "survived"),
        ("without claim.obs_b2b2.pinned", "survived"),
        ("rules.rank_degree = 0", "equivalent"),
        ("rules.challenge_ceiling = 2", "impossible"),
    ],
)
def test_what_a_check_notices_is_killed_and_what_it_does_not_survives(name: str, kind: str) -> None:
    result = fate(judge(parse(TEXT, where="s.toml")), name, lambda scenario: mutated(scenario, name))
    assert (result.kind, result.mutant) == (kind, name)
    assert result.where.startswith("s.toml")
    if kind == "killed":
        assert (result.where, result.message) == (f"s.toml:{LINE}", "it is disputed")


def test_a_crash_is_no_kill() -> None:
    base = judge(parse(TEXT))
    broken: dict[str, object] = {"not there": base.scenario.claims.clear(), "crash": None}
    for claims in broken.values():
        cases = [("m", [(base, lambda scenario, claims=claims: scenario.replace(claims=claims))])]
        result = score([base], cases=cases)
        assert (result.fates[0].kind, result.share) == ("broke off", 0.0)
        assert "broke off: m: " in str(result)


@pytest.mark.usefixtures("few")
def test_a_rule_is_the_suites_and_one_scenario_that_notices_is_enough() -> None:
    free = judge(parse(TEXT.replace("< 0.3", "< 0.9"), name="free", where="free.toml"))
    strict = judge(parse(TEXT, name="strict", where="strict.toml"))
    for suite in ([free, strict], [strict, free]):
        fates = {(each.mutant, each.where): each for each in score(suite).fates}
        assert fates["rules.challenge_ceiling = 0", f"strict.toml:{LINE}"].kind == "killed"
        assert fates["without claim.obs_b2b2.edges.0", "free.toml"].kind == "survived"
        assert fates["rules.challenge_ceiling = 1", "2 scenarios"].kind == "survived"
        assert fates["rules.rank_degree = 0", "2 scenarios"].kind == "equivalent"


def test_a_suite_that_does_not_pass_is_not_scored() -> None:
    with pytest.raises(UsageError, match="mend it first"):
        score([judge(parse(TEXT.replace("< 0.3", "> 0.3")))])


@given(st.lists(st.sampled_from(["killed", "survived", "broke off", "equivalent", "impossible"]), max_size=6))
def test_the_score_is_the_share_killed_of_all_that_could_be_noticed(kinds: list[str]) -> None:
    result = MutationScore(tuple(Fate(mutant=f"m{n}", kind=kind, where="w") for n, kind in enumerate(kinds)))  # type: ignore[arg-type]
    counted = [kind for kind in kinds if kind not in ("equivalent", "impossible")]
    assert result.share == (kinds.count("killed") / len(counted) if counted else 0.0)
    for number, kind in enumerate(kinds):
        assert (f": m{number}" in str(result)) == (kind in ("survived", "broke off"))


@pytest.mark.parametrize(
    "name",
    ["", "nonsense", "rules.nonsense = 1", "without reader", "without initial_memory", "without writers.0",
     "turn claim.obs_a1a1.edges.0",
     "turn claim.obs_b2b2.edges.9", "without claim.zzz.locked", "netlist: cut x", "netlist: a → b",
     "rules.damping = x", "without inputs", "claim.obs_a1a1.confidence = x", "claim.obs_a1a1.edges.0 = 1"],
)  # fmt: skip
def test_what_is_not_there_cannot_be_broken(name: str) -> None:
    with pytest.raises(UsageError):
        mutated(parse(TEXT), name)


def test_a_netlist_is_broken_by_its_text() -> None:
    scenario = parse(TEXT + NET)
    assert scenario.netlist is not None
    names = [name for name in mutants(scenario) if name.startswith("netlist: ")]
    assert names == ["netlist: uncall slow", "netlist: cut raw"]
    output = [wires.text for name in (*names, "netlist: calm → calmer") if (wires := mutated(scenario, name).netlist)]
    assert len({scenario.netlist.text, *output}) == 4
    assert output[-1] == scenario.netlist.text.replace("calm", "calmer")
    with pytest.raises(MalsimError):
        mutated(scenario, "netlist: smooth → rough")


@pytest.mark.usefixtures("few")
def test_the_command_names_what_survives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.toml"
    path.write_text(TEXT, encoding="utf-8")
    assert main(["test", str(path), "--mutate"]) == 0
    output = capsys.readouterr().out
    score = "mutation score 0.667: 2 of 3 mutants noticed by a check; 1 more change nothing that is recorded\n"
    assert output.endswith(f"{path}: survived: rules.challenge_ceiling = 1\n{score}")
    assert main(["test", str(path), "--mutants", "2"]) == 0
    assert "mutation score 1: 1 of 1 mutants noticed by a check; 1 more change" in capsys.readouterr().out
    assert main(["test", str(path), "--mutants", "0"]) == 2
    assert "1 or more" in capsys.readouterr().err
    path.write_text(TEXT.replace("< 0.3", "> 0.3"), encoding="utf-8")
    assert main(["test", str(path), "--mutate"]) == 1
    assert "mutation score" not in capsys.readouterr().out


def test_nothing_is_broken_of_nothing() -> None:
    assert all(name.startswith("rules.") for name in mutants(Scenario()))


def test_what_is_drawn_of_one_scenario_hangs_on_no_other() -> None:
    one, two = (judge(parse(TEXT, name=name, where=f"{name}.toml")) for name in ("one", "two"))
    alone = [name for name, _ in sample_mutants(suite_mutants([one]), each=3, rules=0, tries=1)]
    both = sample_mutants(suite_mutants([one, two]), each=3, rules=2, tries=1)
    assert [name for name, cases in both if cases[0][0] is one and not name.startswith("rules.")] == alone
    assert len(alone) == 3
    assert [len(cases) for name, cases in both if name.startswith("rules.")] == [1, 1]
    assert [name for name, _ in sample_mutants(suite_mutants([one]), each=3, rules=0, tries=1, seed=1)] != alone
    with pytest.raises(UsageError, match="--each"):
        sample_mutants([], each=-1, rules=0, tries=1)


def test_the_worst_survivor_is_the_one_that_moves_most() -> None:
    base = judge(parse(TEXT, where="s.toml"))
    names = ("claim.obs_b2b2.confidence = 1", "without claim.obs_b2b2.pinned", "rules.challenge_ceiling = 1")
    fates = [fate(base, name, lambda scenario, name=name: mutated(scenario, name)) for name in names]  # type: ignore[misc]
    result = MutationScore(tuple(fates))
    assert [one.change for one in result.worst()] == sorted((one.change for one in result.of("survived")), reverse=True)
    assert fates[1].change == 0.0
    assert fates[2].change > 0.0


def test_mutate_gives_a_line_a_scenario_the_score_and_the_worst(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, frame = tmp_path / "s.toml", tmp_path / "fates.csv"
    path.write_text(TEXT, encoding="utf-8")
    assert main(["mutate", str(tmp_path), "--each", "4", "--rules", "3", "-o", str(frame)]) == 0
    output = capsys.readouterr().out
    fates = pl.read_csv(frame)
    assert fates.height == 7
    killed, scored = (fates.filter(pl.col("kind").is_in(kinds)).height for kinds in (["killed"], SCORED))
    assert f"mutation score {killed / scored:.3g}: {killed} of {scored} mutants noticed" in output
    assert f"{path}  " in output
    assert "rules  " in output
    assert main(["mutate", str(tmp_path), "--each", "4", "--rules", "3", "--json"]) == 0
    shares = json.loads(capsys.readouterr().out)
    assert sum(one["mutants"] for one in shares) == scored
    assert all(one["low"] is None or one["low"] <= one["value"] <= one["high"] for one in shares)
    path.write_text(TEXT.replace("< 0.3", "> 0.3"), encoding="utf-8")
    assert main(["mutate", str(path)]) == 2
    assert "does not pass as it is" in capsys.readouterr().out
