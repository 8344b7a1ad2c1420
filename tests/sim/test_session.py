"""Tests that a turn refused by the stop hook is never released, whatever the reader does and however the reader fails."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import malsim as ms
from malsim.laws.engine import graph_plant
from malsim.memory import Memory, admit, schema
from malsim.memory.gate.admit import judge
from malsim.memory.push.ten_cells import WRITER, ten_cells
from malsim.sim import bench
from malsim.sim.agent import hooks
from malsim.sim.agent.reader_policy import ReaderPolicy
from malsim.sim.agent.turns import Session
from malsim.sim.context.event_log import EventLog
from malsim.sim.settings.population import Population
from malsim.sim.settings.reader import Reader, Reviewers
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject, SearchStrategy

    from malsim.memory import Rules
    from malsim.memory.gate.claims import Validated
    from malsim.memory.gate.verdicts import GateResult
    from malsim.sim.run import Run

HOUR = DAY // 24
ENDS = ("acted", "declined", "withheld")
DONE = ("acted", "declined", "written_back")


def scenario(reader: Reader | None, **changes: Any) -> Scenario:
    facts = tuple(Fact(name=name, hazard=0.1, stability="ephemeral") for name in ("tide", "wind"))
    honest = Population(behaviour="honest", count=3, rate=0.7, verification="checked")
    writers = (honest, Population(behaviour="contrarian", rate=0.5))
    given_: dict[str, Any] = {"facts": facts, "writers": writers, "days": 14.0, "replications": 4, "seed": 3} | changes
    return Scenario(reader=reader, **given_)


def run_under(**settings_: Any) -> Run:
    return bench.run(scenario(Reader(**settings_)))


def turns(run: Run) -> pl.DataFrame:
    """Return one row per turn that counts lines, words, marked lines, opened marked lines, and events of each kind."""
    pushed = run.events.filter(pl.col("kind") == "pushed")
    numbers = pushed["detail"].str.extract_all(r"\d+").list.to_struct(fields=["lines", "words", "marked"]).struct.unnest()
    frame = pl.concat([pushed.select("rep", "t"), numbers.cast(pl.Int64)], how="horizontal")
    opened = (pl.col("kind") == "expanded") & (pl.col("detail") == "marked ^")
    kinds = (*ENDS, "written_back", "blocked")
    counts = [(pl.col("kind") == kind).sum().alias(kind) for kind in kinds]
    item = run.events.group_by("rep", "t").agg(opened.sum().alias("opened"), *counts)
    return frame.join(item, on=["rep", "t"], maintain_order="left")


def total(run: Run, name: str) -> int:
    assert run.counters is not None
    return int(run.counters[name].sum())


@settings(settings.get_profile("few"))
@given(data=st.data())
def test_turn_ends_only_after_all_marked_rows_are_opened(drawn: SearchStrategy[Scenario], data: DataObject) -> None:
    made = data.draw(drawn)
    made = made.replace(reader=made.reader or Reader(behaviour="lazy", complies=0.4), record="all")
    run = bench.run(made)
    item, reader = turns(run), made.reader
    assert run.counters is not None
    assert reader is not None
    released = item.filter(pl.col("withheld") == 0)
    assert (released["opened"] == released["marked"]).all()
    assert (item.select(pl.sum_horizontal(ENDS)).to_series() == 1).all()
    assert item.filter(pl.col("withheld") == 1).select(pl.sum_horizontal(DONE).sum()).item() == 0
    assert (item.filter(pl.col("withheld") == 1)["blocked"] > 0).all()
    assert (item["words"] <= reader.budget_words).all()
    assert (item["lines"] <= reader.limit).all()
    counters = run.counters
    assert (counters["turns"] == counters["acted"] + counters["declined"] + counters["withheld"]).all()
    assert (counters["learned"] == counters["written"] + counters["lost"]).all()
    assert (counters["withheld"] <= counters["blocked"]).all()
    assert total(run, "written") == item["written_back"].sum()
    assert total(run, "words") == item["words"].sum()
    ten = run.memory.cells.filter(pl.col("writer") == WRITER)
    assert (ten.group_by("rep").len()["len"] == 10).all()
    assert ten["rep"].n_unique() == made.replications
    kinds = dict(run.events.group_by("kind").len().rows())
    assert kinds["bootstrapped"] == made.replications
    assert kinds["oriented"] == made.replications + kinds.get("caught_up", 0)
    assert kinds.get("caught_up", 0) == made.replications * len(made.gaps)


def breaking(*_: object, **__: object) -> None:
    raise ZeroDivisionError("raised by the reader")


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        *((ReaderPolicy, name) for name in ("__init__", "work", "_trust", "again", "_verify")),
        *((Session, name) for name in ("senses", "_write_back")),
    ],
)
def test_exceptions_do_not_bypass_the_stop_hook(owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench.Bench(scenario(Reader(behaviour="lazy")))
    made.calendar.run(until=5 * DAY + HOUR)
    before = made.recorder.events()
    monkeypatch.setattr(owner, name, breaking)
    with pytest.raises(ZeroDivisionError):
        made.calendar.run()
    events = made.recorder.events()
    last = events.filter(pl.col("t") == events["t"].max())
    assert events.height > before.height
    assert last.filter(pl.col("kind") == "withheld")["rep"].to_list() == [0, 1, 2, 3]
    assert last.filter(pl.col("detail") == "its work broke off")["rep"].to_list() == [0, 1, 2, 3]
    assert not set(last["kind"]) & set(DONE)
    assert made.counters is not None
    assert (made.counters.turn["withheld"] == 1).all()
    assert not (made.result().memory.cells.filter(pl.col("writer") == "reader")["created"] == last["t"][0]).any()


def test_refused_lesson_counts_as_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(memory: Memory, checked: Validated, rules: Rules) -> GateResult:
        writers = enumerate(checked.claims.column("writer").tolist())
        of_reader = [(claim, "title", "is not heard") for claim, writer in writers if writer == "reader"]
        return judge(memory, replace(checked, issues=[*checked.issues, *of_reader]), rules)

    monkeypatch.setattr(graph_plant, "judge", deaf)
    run = run_under()
    item = turns(run)
    assert total(run, "learned") == total(run, "lost") == total(run, "withheld") > 0
    assert total(run, "written") == item["written_back"].sum() == 0
    refused = run.events.filter(pl.col("detail") == "the gate refused what was to be written back")
    rejected = run.events.filter(pl.col("kind") == "rejected")
    assert refused["cause"].to_list() == rejected["cause"].to_list()
    assert (item.select(pl.sum_horizontal(ENDS)).to_series() == 1).all()


def test_lazy_reader_once_blocked_acts_like_an_obedient_one() -> None:
    obedient, lazy = run_under(wants=0.0), run_under(behaviour="lazy", wants=0.0)
    assert total(obedient, "blocks") == 0
    assert turns(obedient)["marked"].sum() > 20
    assert turns(lazy).filter(pl.col("marked") > 0)["blocked"].min() == 1
    keys = ["rep", "t", "marked", "opened", "acted", "written_back"]
    assert turns(lazy).select(keys).equals(turns(obedient).select(keys))


def test_turns_of_noncompliant_readers_are_always_withheld() -> None:
    for behaviour in ("lazy", "hurried", "stubborn"):
        item = turns(run_under(behaviour=behaviour, complies=0.0, observes=0.0))
        assert ((item["marked"] > 0) == (item["withheld"] == 1)).all()
        assert item["withheld"].sum() > 10
        assert item["opened"].sum() == 0
    assert total(run_under(behaviour="lazy", complies=0.0, attempts=5.0), "blocks") > 5 * 10


def test_forgetful_reader_writes_only_when_blocked() -> None:
    made = run_under(behaviour="forgetful")
    lessons = turns(made).filter(pl.col("written_back") > 0)
    assert (lessons["blocked"] > 0).all()
    assert total(made, "written") == total(made, "learned") == lessons.height > 5
    never = run_under(behaviour="forgetful", complies=0.0)
    assert total(never, "written") == 0
    assert total(never, "lost") == total(never, "learned") > 5


def test_obedient_reader_verifies_and_stubborn_does_not() -> None:
    # the writers' cells dispute each other, so every line is marked
    at_odds = Population(behaviour="overconfident", count=3, rate=0.5, mutual=True, verification="checked")
    made = scenario(None, writers=(at_odds,))
    obedient, stubborn = (
        bench.run(made.replace(reader=Reader(behaviour=behaviour, skill=1.0, observes=0.0, act_above=0.0)))
        for behaviour in ("obedient", "stubborn")
    )

    def harm(run: Run) -> int:
        marked = run.events.filter((pl.col("kind") == "expanded") & (pl.col("detail") == "marked ^"))
        acted = run.events.filter((pl.col("kind") == "acted") & (pl.col("detail") != "true"))
        return acted.join(marked, on=["rep", "t", "subject"], how="semi").height

    assert harm(obedient) == 0 < harm(stubborn)


def test_reanchoring_restores_forgotten_rules() -> None:
    obedient, anchored = run_under(), run_under(behaviour="forgets_rules", reanchor_every=1.0)
    assert turns(anchored).equals(turns(obedient))
    quick = turns(run_under(behaviour="forgets_rules", half_life=0.05, reanchor_every=7.0))
    remaining = quick.filter(pl.col("t").is_in([1.0, 8.0]))
    assert remaining["blocked"].sum() == 0
    assert (quick.filter((pl.col("t") > 1.0) & (pl.col("t") < 8.0) & (pl.col("marked") > 0))["blocked"] >= 1).all()


def test_compacted_context_recalls_nothing() -> None:
    run = run_under(recalls=1.0, act_above=1.0, compact_every=5.0)
    context_events = run.events.filter(pl.col("subject") == "its own context")
    assert context_events.height > 5
    assert run.events.filter(pl.col("kind") == "compacted")["t"].unique().to_list() == [6.0, 11.0]
    assert context_events.filter(pl.col("t").is_in([6.0, 11.0])).is_empty()
    assert run_under(act_above=1.0).events.filter(pl.col("subject") == "its own context").is_empty()


def test_shown_cells_are_counted_by_origin_after_compaction() -> None:
    run = ms.run("scenarios/compaction_primed.toml", replications=3, days=20.0)
    signals = run.signals.pivot("signal", index=["t", "rep"], values="value")
    assert (signals["shown_init"] <= signals["shown"]).all()
    assert (signals.filter(pl.col("t") == 1.0)["shown_init"] == signals.filter(pl.col("t") == 1.0)["shown"]).all()
    later = signals.filter(pl.col("t") == 20.0)
    assert later["shown_init"].sum() < later["shown"].sum()
    counts = run.counters
    assert counts is not None
    assert counts["shown_init"].sum() == signals["shown_init"].sum()
    assert "initial cells" in run.plot.turns().axes[2].get_title(loc="left")
    assert "shown" not in run_under(act_above=1.0).signals["signal"].unique().to_list()


def test_skill_is_the_share_of_true_lessons() -> None:
    for skill, share in ((1.0, 1.0), (0.0, 0.0)):
        made = run_under(skill=skill)
        value = made.memory.cells.filter(pl.col("writer") == "reader").select("rep", "handle", "created")
        first = made.cells.join(value, left_on=["rep", "cell", "t"], right_on=["rep", "handle", "created"])
        assert first.height > 5
        assert first["truth"].to_numpy().mean() == share


def test_reader_weighing_currency_declines_old_claims() -> None:
    quiet = Population(behaviour="silent_staleness", rate=2.0, verification="checked", end=2 * DAY)
    still = tuple(Fact(name=name, stability="ephemeral") for name in ("tide", "wind"))
    made = scenario(Reader(observes=0.0, act_above=0.5), days=20.0, facts=still, writers=(quiet,))
    weighing = replace(made, reader=Reader(observes=0.0, act_above=0.5, trust="effective*currency"))
    late = pl.col("t") > 15.0
    assert turns(bench.run(made)).filter(late)["acted"].min() == 1
    assert turns(bench.run(weighing)).filter(late)["acted"].max() == 0


def test_push_after_a_gap_includes_claims_made_during_it() -> None:
    made = scenario(Reader(), gaps=((3 * DAY, 8 * DAY),))
    run = bench.run(made)
    assert run.cells["t"].unique().sort().to_list() == [1.0, 2.0, *map(float, range(8, 15))]
    caught = run.events.filter(pl.col("kind") == "caught_up")
    assert caught["t"].to_list() == [8.0] * 4
    assert caught["cause"].unique().to_list() == ["a gap of 5 turns"]
    meanwhile = run.memory.cells.filter(pl.col("created").is_between(2.0, 7.99) & (pl.col("writer") != "reader"))
    before = dict(run.memory.cells.filter(pl.col("created") < 8.0).group_by("rep").len().rows())
    opened = run.events.filter((pl.col("kind") == "expanded") & (pl.col("t") == 8.0))
    assert meanwhile.height > 20
    assert len(before) == 4
    assert opened.join(meanwhile, left_on=["rep", "subject"], right_on=["rep", "handle"], how="semi").height > 0


@pytest.mark.parametrize("count", [1, 2])
def test_reviewers_handle_cases_in_order(count: int) -> None:
    run = bench.run(scenario(None, reviewers=Reviewers(count=count, each=2 * DAY), days=24.0))
    reviews = run.memory.cells.filter(pl.col("writer") == "reviewers").sort("rep", "created")
    assert (reviews["verification"] == "external").all()
    apart = reviews.select((pl.col("created") - pl.col("created").shift(count)).over("rep")).to_series().drop_nulls()
    assert apart.len() > 10
    assert apart.min() >= 2.0 - 1e-9  # type: ignore[operator]  # numbers
    escalated = run.events.filter(pl.col("kind") == "escalated")
    assert escalated.select("rep", "subject").is_duplicated().sum() == 0
    waiting = run.signals.filter((pl.col("signal") == "waiting") & (pl.col("t") == 24.0))
    done = reviews.filter(pl.col("created") < 24.0).height
    assert waiting["value"].sum() == escalated.height - done
    assert done >= 4 * 7 * count


def test_reader_is_nudged_once_for_a_repeated_read() -> None:
    run = run_under()
    opened = run.events.filter(pl.col("kind") == "expanded").sort("t")
    fifth = opened.group_by("rep", "subject", maintain_order=True).agg(pl.col("t").get(4, null_on_oob=True)).drop_nulls()
    nudged = run.events.filter(pl.col("kind") == "nudged").select("rep", "subject", "t")
    assert nudged.height > 5
    assert nudged.sort("rep", "subject").equals(fifth.sort("rep", "subject"))


@pytest.mark.parametrize("writers", [[], [{"rep": 5, "writer": "ann", "claims": 9, "contradicted": 4, "calibration": 0.5}]])
def test_initial_cells_equal_the_same_cells_admitted_by_the_gate(writers: list[Any]) -> None:
    made, none = scenario(Reader(), replications=3, first=4), Memory.empty()
    memory = Memory(none.cells, none.edges, pl.DataFrame(writers, schema=schema.WRITERS))
    claims = pl.concat([ten_cells(rep=rep) for rep in (4, 5, 6)]).sort("sequence", maintain_order=True)
    expected = admit(memory, claims, made.rules).memory
    found = hooks.orient(memory, made, 0.0, EventLog(np.arange(4, 7), made.facts))
    for name in ("cells", "edges", "writers"):
        assert_frame_equal(getattr(found, name), getattr(expected, name), check_exact=True)
