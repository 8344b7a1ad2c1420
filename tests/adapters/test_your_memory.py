"""User-written memories in a run: calls, answers, failures, and permission to run their code."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import malsim as ms
from malsim.adapters.engine.adapter import Adapter, Phrases
from malsim.base.errors import AdapterError, MalsimError, ScenarioError, UsageError
from malsim.cli import main
from malsim.sim.record.manifest import digest
from tests.adapters import user_memories as memories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query

POISONER = Path(__file__).parents[2] / "scenarios/poisoner.toml"
FRAMES = ("cells", "signals", "events")


def adapter_of(memory: type, *, trusted: bool = True, limit: float = 10.0) -> Adapter:
    return Adapter.of(memory, trusted=trusted, limit=limit)


def run(memory: type, *, trusted: bool = True, limit: float = 10.0, **changes: object) -> ms.Run:
    settings: dict[str, Any] = {"days": 30.0, "replications": 4} | changes
    return ms.run(POISONER, memory=adapter_of(memory, trusted=trusted, limit=limit), **settings)


def test_memory_has_the_same_metrics_as_the_equivalent_law() -> None:
    memory, law = run(memories.Last), ms.run(POISONER, law="last_write", days=30.0, replications=4)
    both = [item.metrics().filter(pl.col("metric").is_in(["accuracy", "harm"])) for item in (memory, law)]
    assert both[0]["value"].to_list() == pytest.approx(both[1]["value"].to_list())
    assert memory.cells["effective"].null_count() == memory.cells.height


def test_result_does_not_depend_on_sandbox_or_replications() -> None:
    trusted, sandboxed = run(memories.Last), run(memories.Last, trusted=False)
    single, order = run(memories.Last, first=2, replications=1), ["t", "rep"]
    for name in FRAMES:
        assert digest(getattr(trusted, name)) == digest(getattr(sandboxed, name))
        second = getattr(trusted, name).filter(pl.col("rep") == 2).sort(order, maintain_order=True)
        assert digest(second) == digest(getattr(single, name).sort(order, maintain_order=True))


def test_value_is_found_in_a_text_answer() -> None:
    words, text = run(memories.Last), run(memories.Notes)
    right = [item.signals.filter(pl.col("signal") == "right")["value"] for item in (words, text)]
    assert right[0].equals(right[1])
    assert set(text.cells["effective"].unique()) == {0.75}


@pytest.mark.parametrize(
    ("memory", "sentence"),
    [
        (memories.Raises, r"tick, replication \d, day .*last claim: .*raised RuntimeError: the file was lost"),
        (memories.TooSure, r"belief that is out of bounds on day \d+.*; given: 1.5; allowed: 0 to 1"),
        (memories.NotANumber, r"belief that is out of bounds on day \d+.*; given: nan"),
        (memories.PeekTakes, r"showed \d items in one peek and \d in the next"),
    ],
)
def test_failing_memory_does_not_affect_other_replications(memory: type, sentence: str) -> None:
    result, sound = (run(item, days=21.0, replications=6) for item in (memory, memories.Last))
    assert result.failures
    assert len(result.failures) < 6
    for number, problem in result.failures.items():
        assert isinstance(problem, AdapterError)
        assert problem.where
        assert f"user_memories:{memory.__name__}: " in problem.where
        assert f"replication {number}" in problem.where
    assert any(re.search(sentence, str(problem)) for problem in result.failures.values())
    others = ~pl.col("rep").is_in(list(result.failures))
    assert not result.signals.filter(~others).height
    right = pl.col("signal") == "right"
    assert result.signals.filter(right).equals(sound.signals.filter(right & others))
    assert f"replication {next(iter(result.failures))} failed" in repr(result)


@pytest.mark.parametrize(
    ("memory", "figure"),
    [
        (memories.MakesUp, "invented"), (memories.Mumbles, "abstained"), (memories.Hedges, "ambiguous"),
        (memories.Wanders, "off_topic"),
    ],
)  # fmt: skip
def test_answers_without_a_value_are_counted(memory: type, figure: str) -> None:
    wrong, sound = (run(item, days=21.0, replications=6) for item in (memory, memories.Last))
    assert not wrong.failures
    shares = wrong.answers
    assert sorted(shares) == ["abstained", "ambiguous", "invented", "off_topic"]
    assert shares[figure].max() > 0.0
    others = {"abstained"} if figure == "off_topic" else set()
    assert all(not share.any() for name, share in shares.items() if name not in {figure, *others})
    assert not any(share.any() for share in sound.answers.values())
    value = wrong.metrics().filter(metric=figure)["value"].item()
    assert value == pytest.approx(shares[figure].mean())


def test_every_memory_is_closed_even_after_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memories, "CLOSED", tmp_path / "closed")
    result = run(memories.Closes, days=21.0, replications=6)
    assert result.failures
    assert len((tmp_path / "closed").read_text(encoding="utf-8").split()) == 6


def test_table_shows_no_value_for_a_failing_memory(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    laws = ["--laws", "last_write", "--memory", "own_memory:Broken", "--memory", "own_memory:Last"]
    assert main(["compare", "mine.toml", *laws, "--replications", "2", "--metric", "accuracy"]) == 2
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("    ")]
    figures = {row[0]: row[1] for row in rows if len(row) > 1}
    assert figures["own_memory:Broken"] == "-"
    assert float(figures["own_memory:Last"]) == float(figures["last_write"]) > 0.0


def test_hanging_memory_is_reported_as_a_failure() -> None:
    result = run(memories.Hangs, trusted=False, limit=0.3, days=21.0, replications=6)
    assert result.failures
    assert all("did not return within 0.3 s" in str(problem) for problem in result.failures.values())


def test_dead_process_is_reported_with_its_exit_code() -> None:
    with pytest.raises(AdapterError, match=r"its process ended \(exit code 3\)"):
        run(memories.Dies, trusted=False, days=30.0, replications=6)


def test_run_fails_if_the_memory_fails_in_every_replication() -> None:
    with pytest.raises(AdapterError, match="raised RuntimeError"):
        run(memories.Raises, days=40.0, replications=1)
    with pytest.raises(AdapterError, match="the factory failed: TypeError"):
        ms.run(POISONER, memory=Adapter.of(lambda: int("x", "y"), trusted=True))  # type: ignore[call-overload]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    text = POISONER.read_text(encoding="utf-8").partition("[[check]]")[0]
    (tmp_path / "mine.toml").write_text(
        text.replace("[run]\ndays = 60", '[memory]\nadapter = "own_memory:Last"\n\n[run]\ndays = 20').replace("= 80", "= 1")
        + '[[check]]\nname = "it speaks"\nproperty = "eventually (right(pump) == 1)"\n'
    )
    (tmp_path / "own_memory.py").write_text(
        Path(memories.__file__).read_text(encoding="utf-8") + "\nPath = __import__('pathlib').Path\nPath('ran').touch()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_memory", raising=False)
    return tmp_path


@pytest.mark.parametrize("command", [["run"], ["test"], ["compare", "--laws", "last_write", "--replications", "2"]])
def test_scenario_runs_code_only_if_allowed(command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, *options = command
    assert main([name, "mine.toml", *options]) == 2
    output = capsys.readouterr()
    assert "--allow-code" in output.out + output.err
    assert not (folder / "ran").exists()
    assert main([name, "mine.toml", *options, "--allow-code", *(["--no-plots"] if name == "run" else [])]) == 0
    assert (folder / "ran").exists()
    assert "own_memory:Last" in capsys.readouterr().out or name == "test"


def test_run_of_a_scenario_path_in_python_permits_its_code(folder: Path) -> None:
    assert ms.run("mine.toml").scenario.law == "own_memory:Last"
    with pytest.raises(UsageError, match="--allow-code"):
        ms.run(ms.read("mine.toml"))
    assert (folder / "ran").exists()


def test_option_memory_permits_code_but_a_manifest_does_not(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--no-plots", "-o", "out", "--call-limit", "5"]
    assert main(["run", "mine.toml", "--memory", "own_memory:Notes", *options]) == 0
    assert main(["run", "--manifest", "out/manifest.json"]) == 2
    assert "malsim run --memory own_memory:Notes" in capsys.readouterr().err
    assert (folder / "ran").exists()


@pytest.mark.usefixtures("folder")
def test_several_memories_are_compared_in_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    both = ["--memory", "own_memory:Last", "--memory", "own_memory:Notes"]
    assert main(["compare", "mine.toml", *both, "--replications", "2", "--metric", "accuracy"]) == 0
    table = capsys.readouterr().out
    assert table.count("own_memory:Last") == table.count("own_memory:Notes") == 1
    assert main(["run", "mine.toml", *both]) == 2
    assert "only one memory can be run" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nothing", "own_memory:Nobody", "no_such_module:Memory", "own_memory:BROKEN_BY"])
def test_unknown_memory_is_named_in_the_error(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["run", "mine.toml", "--memory", name]) == 2
    assert name in capsys.readouterr().err


def test_phrases_can_be_configured_and_are_validated() -> None:
    texts: list[str] = []

    class Spy(memories.Notes):
        def write(self, claims: Sequence[Claim], now: float) -> None:
            texts.extend(claim.text for claim in claims)
            super().write(claims, now)

        def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
            texts.append(query.text)
            return super().peek(query, now, limit)

    phrases = Phrases(sentence="{writer} says that {object} seems {value}", question="tell me of {object}")
    ms.run(POISONER, memory=adapter_of(Spy), phrases=phrases, days=10.0, replications=1)
    assert "tell me of valve" in texts
    assert any(text.startswith("honest-") and "says that pump seems running" in text for text in texts)
    for wrong in ({"sentence": "{subject} is"}, {"question": "what is {value}?"}, {"answer": "("}, {"answer": "is .*"}):
        with pytest.raises(ScenarioError, match="memory"):
            Phrases(**wrong)


def test_value_is_found_by_a_pattern() -> None:
    phrases = Phrases(answer=r"now (?P<value>\w+)")
    assert phrases.values_in("formerly running, now stopped", ["running", "stopped"]) == ["stopped"]
    assert Phrases().values_in("12.5 bar", ["12", "12.5"]) == ["12.5"]


def test_invalid_memory_or_call_limit_is_refused() -> None:
    with pytest.raises(UsageError, match="not a memory factory"):
        ms.run(POISONER, memory=3)
    with pytest.raises(MalsimError, match="out of bounds"):
        Adapter.of(memories.Last, limit=0.0)


@pytest.mark.parametrize(
    ("phrase", "problem"),
    [
        ({"sentence": "{object:>2000000000}"}, "no such placeholder"),
        ({"sentence": "{object.__class__}"}, "no such placeholder"),
        ({"question": "{object!r}"}, "no such placeholder"),
        ({"answer": "(?=a)(b)"}, "RE2"),
    ],
)
def test_phrase_cannot_contain_format_specifications(phrase: dict[str, str], problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        Phrases(**phrase)


def test_pattern_search_takes_linear_time() -> None:
    assert Phrases(answer="(a+)+$").values_in("a" * 100_000 + "b", ["open"]) == []  # `re` would need exponential time
    assert Phrases(answer="is (?P<value>.+)").values_in("it IS half open \ud800", ["open", "half open"]) == ["half open"]
