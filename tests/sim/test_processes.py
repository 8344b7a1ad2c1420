"""Tests of SimPy processes that users add alongside the shipped writers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
import pytest
import simpy

import malsim as ms
from malsim.base.errors import ProcessError, ScenarioError, UsageError
from malsim.cli import main
from malsim.scenario.file.scenario_file import parse, read

if TYPE_CHECKING:
    from collections.abc import Generator

    from malsim.sim.processes.desk import Desk, Environment
    from malsim.sim.settings.scenario import Scenario

    Process: TypeAlias = Generator[simpy.Event, Any, None]


SCENARIOS = Path(ms.__file__).parents[1] / "scenarios"
WORLD = """
why = "A gate that may be open or shut, and people who say so."
seed = 4
[run]
days = 8
[[facts]]
name = "gate"
values = ["open", "shut"]
hazard = 0.1
"""
PEOPLE = '[reader]\n[reviewers]\ncount = 1\neach = "30h"\n'


def written(*behaviours: str, besides: str = "") -> Scenario:
    """Return a scenario in which three writers of each named behaviour make 1.5 claims a day each, on average."""
    text = "".join(f'[[writers]]\nbehaviour = "{name}"\ncount = 3\nrate = 1.5\n' for name in behaviours)
    return parse(WORLD + text + besides)


def same(first: ms.Run, other: ms.Run) -> None:
    for frame in ("cells", "signals", "writers"):
        assert getattr(first, frame).equals(getattr(other, frame)), frame
    columns = first.events.columns
    assert first.events.sort(columns).equals(other.events.sort(columns))


def guard(env: Environment, desk: Desk) -> Process:
    """Observe the object `gate` at random times, post the observed value and wait for the verdict."""
    while True:
        yield env.timeout(float(desk.random.exponential(0.7)))
        verdict = yield desk.post(object="gate", value=desk.sense("gate", 0.8), confidence=0.8)
        assert verdict.verdict in ("admitted", "deduplicated")


def review_desk(env: Environment, desk: Desk) -> Process:
    """Let two people review disputed cells; each review takes one day."""
    people = simpy.Resource(env, capacity=2)

    def look_into(cell: str) -> Process:
        with people.request() as person:
            yield person
            assert people.count <= 2
            yield env.timeout(1)
        text = desk.expand(cell)
        seen = desk.sense("gate")
        relation = "supports" if desk.ask("gate") and text["title"].endswith(str(seen)) else "contradicts"
        yield desk.post(object="gate", value=seen, confidence=0.9, edges=[{"relation": relation, "target": cell}])

    while True:
        disputed = yield desk.inbox.get()
        env.process(look_into(disputed.cell))


def test_run_with_a_process_is_the_same_alone_and_in_a_batch() -> None:
    scenario = written("honest", "contrarian", besides=PEOPLE)
    many = ms.run(scenario, processes=[guard, review_desk], replications=4)
    wrote = many.cells.join(many.memory.cells.select("rep", pl.col("handle").alias("cell"), "writer"), on=["rep", "cell"])
    assert {"guard", "review_desk"} <= set(wrote["writer"])
    for number in (0, 3):
        alone = ms.run(scenario, processes=[guard, review_desk], first=number, replications=1)
        for frame in ("cells", "events", "writers"):
            assert getattr(alone, frame).equals(getattr(many, frame).filter(pl.col("rep") == number)), frame


def test_process_that_only_observes_changes_nothing() -> None:
    ticks = []

    def watcher(env: Environment, desk: Desk) -> Process:
        while True:
            ticks.append((env.now, (yield desk.ticked)))
            desk.push("gate")

    scenario = written("honest", "contrarian", besides=PEOPLE)
    same(ms.run(scenario), ms.run(scenario, processes=[watcher]))
    assert [day for _, day in ticks] == [1, 2, 3, 4, 5, 6, 7]


def line_of(desk: Desk) -> str:
    line = desk.ask("gate")
    assert line
    return line.cell


def test_correction_by_a_process_supersedes_the_cell() -> None:
    value = []

    def clerk(env: Environment, desk: Desk) -> Process:
        first = yield desk.post(object="gate", value="open", confidence=0.8)
        assert line_of(desk) == first.cell
        second = yield desk.correct(first.cell, object="gate", value="shut", confidence=0.8)
        value.extend([first, second, desk.ask("gate"), env.now])

    run = ms.run(parse(WORLD), processes=[clerk])
    first, second, answer, now = value
    assert (first.verdict, second.verdict) == ("admitted", "admitted")
    assert (answer.cell, answer.value, now) == (second.cell, "shut", 2.0)
    assert run.memory.cells.filter(pl.col("handle") == first.cell)["status"].to_list() == ["superseded"]


def test_claim_is_dated_when_it_is_posted() -> None:
    def one(env: Environment, desk: Desk) -> Process:
        yield env.timeout(2.5)
        desk.post(object="gate", value="open", confidence=0.8)

    assert ms.run(parse(WORLD), processes=[one]).memory.cells["created"].to_list() == [2.5]


def test_fault_interrupts_a_process() -> None:
    struck = []

    def watch(env: Environment, _: Desk) -> Process:
        try:
            yield env.timeout(100)
        except simpy.Interrupt as stop:
            struck.append((env.now, getattr(stop.cause, "population", "")))

    ms.run(parse(WORLD + '[[faults]]\npopulation = "watch"\nfrom = "60h"\n'), processes=[watch])
    assert struck == [(2.5, "watch")]


def test_tripped_signal_wakes_a_waiting_process() -> None:
    woken = []
    scenario = read(SCENARIOS / "watchdog_silent_writer.toml")
    assert scenario.netlist
    signals = [name for name, item in scenario.netlist.net.signals.items() if item.domain == "run"]

    def waits(env: Environment, desk: Desk) -> Process:
        woken.append(((yield simpy.AnyOf(env, [desk.tripped(name) for name in signals])), env.now))

    run = ms.run(scenario, processes=[waits])
    rose = run.signals.filter((pl.col("rep") == 0) & pl.col("signal").is_in(signals) & (pl.col("value") > 0))
    assert woken[0][1] == rose["t"].min()


def fails(kind: str) -> Any:
    """Return a process that fails on day 3 in the way named by `kind`."""

    def wrong(env: Environment, desk: Desk) -> Process:
        yield env.timeout(3)
        if kind == "number":
            yield 5  # type: ignore[misc]
        if kind == "raise":
            raise ZeroDivisionError("raised on purpose")
        if kind == "stop":
            raise simpy.core.StopSimulation("raised on purpose")
        if kind == "inner":
            yield env.process(inner(env, desk))
        if kind == "name":
            desk.post(object="gate", value="open", confidence=0.5, writer="another")
        desk.ask("gaet")

    def inner(env: Environment, desk: Desk) -> Process:
        yield env.timeout(0.5)
        desk.post(object="gate", value="ajar")

    return wrong


@pytest.mark.parametrize(
    ("kind", "words"),
    [("number", "did not yield an event; given: '5'; allowed: an event"),
     ("raise", "the process raised ZeroDivisionError: raised on purpose"),
     ("inner", "no such value; given: 'ajar'; allowed: open, shut"), ("name", "under its own name; given: 'another'"),
     ("object", "no such object; given: 'gaet'; allowed: gate; did you mean gate")],
)  # fmt: skip
def test_failing_process_names_its_line_and_keeps_frames(kind: str, words: str) -> None:
    with pytest.raises(ProcessError) as caught:
        ms.run(written("honest"), processes=[fails(kind)])
    message = str(caught.value)
    for part in (words, "test_processes.py:", "replication 0, day 3"):
        assert part in message
    assert caught.value.run.cells["t"].max() == 3.0


def test_process_runs_in_a_scenario_without_simulated_writers() -> None:
    days = []

    def note(env: Environment, desk: Desk) -> Process:
        days.append(env.now)
        yield env.timeout(1)
        days.append(env.now)
        assert desk.name == "note"

    claim = '[[claim]]\nat = "0d"\nwriter = "ann"\nhandle = "dec_a3ee"\ntitle = "a"\nconfidence = 0.9\n'
    ms.run(parse(f'why = "x"\n[run]\ndays = 3\n{claim}'), processes=[note])
    assert days == [0.0, 1.0]


def test_nothing_is_posted_after_the_end() -> None:
    desks = []

    def idle(env: Environment, desk: Desk) -> Process:
        desks.append(desk)
        yield env.event()

    ms.run(parse(WORLD), processes=[idle])
    with pytest.raises(ProcessError, match="posted after the end"):
        desks[0].post(object="gate", value="open", confidence=0.5)


def test_invalid_processes_are_refused() -> None:
    with pytest.raises(UsageError, match="not a process"):
        ms.run(parse(WORLD), processes=[3])
    with pytest.raises(ProcessError, match="not return a generator"):
        ms.run(parse(WORLD), processes=[lambda *_: None])
    with pytest.raises(ProcessError, match="could not start: TypeError"):
        ms.run(parse(WORLD), processes=[lambda: None])
    with pytest.raises(ScenarioError, match="this name is already used"):
        ms.run(parse(WORLD), processes=[guard, guard])


def test_process_named_in_a_file_runs_only_if_code_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "def clerk(env, desk):\n    desk.post(object='gate', value='open', confidence=.8)\n    yield env.timeout(2)\n"
    code += "    yield 1\n"
    (tmp_path / "clerks_of_mine.py").write_text(code)
    (tmp_path / "gate.toml").write_text(WORLD + '[[process]]\nrun = "clerks_of_mine:clerk"\nname = "anna"\n')
    command = ["run", "gate.toml", "--no-plots", "--output", "out"]
    assert main(command) == 2
    assert "add --allow-code" in capsys.readouterr().err
    assert main([*command, "--allow-code"]) == 2
    assert "clerks_of_mine.py:4 in clerk" in capsys.readouterr().err
    assert pl.read_parquet(tmp_path / "out/cells.parquet")["t"].max() == 2.0
