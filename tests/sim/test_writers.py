"""Tests that the drafts of every behaviour depend only on what its writers observe and are shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import ScenarioError
from malsim.memory import Rules, schema
from malsim.memory.schema import NONE
from malsim.sim import bench
from malsim.sim.context.snapshot import Snapshot
from malsim.sim.engine.population_process import _parameters_of
from malsim.sim.engine.populations import Populations
from malsim.sim.settings.population import Population
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact, World
from malsim.sim.world.clock import DAY
from malsim.sim.world.draws import Draws
from malsim.sim.writers import behaviours
from malsim.sim.writers.engine.claim_context import LEAST_STATED, ClaimContext, ClaimDraft, LatestClaims, ShownRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DataObject

    from malsim.memory.graph.arrays import Ints

    Posted = Callable[[Scenario], pl.DataFrame]

PATH = str(Path(__file__).parents[2] / "scenarios" / "made_here.toml")
WRITE = [name for name, each in behaviours().items() if hasattr(each.module, "write")]
FACTS = tuple(Fact(name=f"line-{n}", values=("up", "down"), hazard=0.1) for n in (1, 2))
LINES, CELLS, MEMBERS = 3, 40, 3


def test_palette_has_sixteen_documented_behaviours() -> None:
    assert set(behaviours()) == {
        "honest", "overconfident", "humble", "stale_echo", "sybil", "colluders", "contrarian", "poisoner", "late_corrector",
        "silent_staleness", "bursty", "sleeper", "self_grader", "slow_writer", "from_file", "launderer",
    }  # fmt: skip
    for behaviour in behaviours().values():
        assert behaviour.sentence.endswith(".")
        assert "=" in behaviour.equation, behaviour.name


@st.composite
def contexts(draw: st.DrawFn) -> ClaimContext:
    count = draw(st.integers(1, 6))

    def rows(*shape: int) -> Ints:
        held = draw(st.lists(st.integers(NONE, CELLS - 1), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        return np.array(held, dtype=np.int64).reshape(shape)

    def values(row: Ints) -> Ints:
        return np.where(row == NONE, NONE, (row * 7) % choices.reshape(-1, *[1] * (row.ndim - 1)))

    def whole(high: int) -> Ints:
        return np.array(draw(st.lists(st.integers(0, high), min_size=count, max_size=count)), dtype=np.int64)

    choices, seen, latest, rep, who, count_ = 2 + whole(3), rows(count, LINES), rows(count), whole(5), whole(2), whole(60)
    draws, fact = Draws(draw(st.integers(0, 9)), "someone"), whole(2)

    def sense(accuracy: float, *, lag: float = 0.0, member: Ints | None = None, turn: Ints | None = None) -> Ints:
        by, nth = (default if given_ is None else given_ for default, given_ in ((who, member), (count_, turn)))
        errs = draws.uniform("errs", rep=rep, member=by, turn=nth) >= accuracy
        return (np.full(count, int(lag) % 2) + errs) % choices

    more = {"first": rows(count), "peers": rows(count, MEMBERS), "again": whole(1) > 0}
    return ClaimContext(
        rep=rep, member=who, turn=count_, fact=fact, choices=choices, draws=draws, sense=sense,
        push=ShownRows(seen, values(seen), np.where(seen == NONE, 0.0, (seen % 11) / 10)),
        latest=LatestClaims(latest, values(latest), rows(count, 1), more.__getitem__),
    )  # fmt: skip


def say(name: str, context: ClaimContext, settings_: dict[str, float]) -> ClaimDraft:
    known = behaviours()[name]
    given_ = {key: param.default for key, param in known.params.items()} | settings_
    start = {key: np.full(len(context.rep), value) for key, value in getattr(known.module, "state", {}).items()}
    context = replace(context, state=start)
    draft: ClaimDraft = known.module.write(context, **_parameters_of(known.module.write, given_))
    return draft


def relabelled(context: ClaimContext, names: Ints) -> ClaimContext:
    """Return the context with renumbered cells; `names` maps old to new row numbers."""
    seen, latest = context.push, context.latest
    more = {"first": names[latest.first], "peers": names[latest.peers], "again": latest.again}
    renamed = LatestClaims(names[latest.row], latest.value, names[latest.unsuperseded], more.__getitem__)
    return replace(context, push=replace(seen, row=names[seen.row]), latest=renamed)


@pytest.mark.parametrize("name", WRITE)
@settings(settings.get_profile("few"))
@given(data=st.data())
def test_drafts_are_in_bounds_and_target_known_cells(name: str, data: DataObject) -> None:
    context = data.draw(contexts())
    params = behaviours()[name].params
    bounds = {key: st.sampled_from([param.low, min(param.high, 50.0)]) for key, param in params.items()}
    draft = say(name, context, {})
    for key in list(bounds):
        if data.draw(st.booleans()) and key not in ("burst", "spacing"):
            draft = say(name, context, {key: data.draw(bounds[key])})
    speaks = np.ones(len(context.rep), dtype=bool) if draft.speaks is None else draft.speaks
    assert ((draft.value >= 0) & (draft.value < context.choices))[speaks].all()
    assert ((draft.stated >= LEAST_STATED) & (draft.stated <= 1.0)).all()
    latest = context.latest
    for at in np.flatnonzero(speaks):
        known = {latest.row[at], latest.first[at], *latest.peers[at], *latest.unsuperseded[at], NONE}
        assert {edge.relation for edge in draft.edges} <= set(schema.RELATIONS)
        assert {int(edge.target[at]) for edge in draft.edges} <= known | {*context.push.row[at]}


@pytest.mark.parametrize("name", WRITE)
@settings(settings.get_profile("few"))
@given(context=contexts(), seed=st.integers(0, 9))
def test_renumbering_cells_does_not_change_drafts(name: str, context: ClaimContext, seed: int) -> None:
    names = np.append(np.random.Generator(np.random.Philox(seed)).permutation(CELLS) + 1000, NONE)
    item, other = say(name, context, {}), say(name, relabelled(context, names), {})
    for part in ("value", "stated", "speaks", "graded"):
        assert np.array_equal(getattr(item, part), getattr(other, part)), part
    assert [names[edge.target].tolist() for edge in item.edges] == [edge.target.tolist() for edge in other.edges]


def crowded(**changes: Any) -> Scenario:
    """Return a scenario with every behaviour; writers read nothing unless `reads=True` is passed."""
    writers = []
    for name in behaviours():
        given_ = {"path": "claims/lines.csv"} if name == "from_file" else {}
        table = {"behaviour": name, "count": 2, "rate": 1.0, "reads": False, "verification": "checked"} | changes
        writers.append(Population.of(table | given_, where="here"))
    return Scenario(path=PATH, facts=FACTS, writers=tuple(writers), days=24.0, turn_every=4 * DAY, replications=3, seed=5)


STRANGER = Population(behaviour="contrarian", name="stranger", count=2, rate=2.0, mutual=True)


def others(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(~pl.col("writer").str.starts_with("stranger")).drop("edges")


def test_adding_a_population_changes_no_other_draws(posted: Posted) -> None:
    scenario = crowded()
    alone = posted(scenario)
    assert {name.rpartition("-")[0] for name in alone["writer"]} >= set(behaviours()) - {
        "contrarian", "stale_echo", "from_file",
    }  # fmt: skip
    company = posted(scenario.replace(writers=(STRANGER, *reversed(scenario.writers))))
    assert company.height > alone.height
    assert others(company).equals(others(alone))


def test_adding_replications_and_facts_changes_no_draws(posted: Posted) -> None:
    scenario = crowded(facts=("line-1",))
    alone = posted(scenario)
    more = scenario.replace(replications=7, facts=(Fact(name="new", hazard=1.0), *scenario.facts))
    beside = posted(more).filter(pl.col("rep") < 3).with_columns(pl.col("fact") - 1)
    by_file = pl.col("writer").is_in(["meter", "clerk"])
    assert beside.filter(~by_file).drop("edges").equals(alone.filter(~by_file).drop("edges"))


def test_writers_that_read_differ_only_in_the_edges_they_add(posted: Posted) -> None:
    blind, reading = posted(crowded()), posted(crowded(reads=True))
    key = ["rep", "writer", "turn", "t", "fact"]
    both = blind.join(reading, on=key, suffix="_read")
    assert both.height == blind.height
    assert (both["value"] == both["value_read"]).all()
    assert reading["edges"].sum() > blind["edges"].sum()
    assert {"contrarian-1", "stale_echo-2"} <= set(reading["writer"])


def test_writers_see_the_ranking_of_the_last_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    days, rows_about = [], Snapshot.rows_about

    def noting(snapshot: Snapshot, rep: Ints, fact: Ints, now: float) -> ShownRows:
        days.append(now)
        return rows_about(snapshot, rep, fact, now)

    monkeypatch.setattr(Snapshot, "rows_about", noting)
    bench.run(Scenario(facts=FACTS, writers=(Population(behaviour="honest", rate=9.0),), days=5.0, seed=2))
    assert days == [1.0, 2.0, 3.0, 4.0]


def test_drafts_do_not_depend_on_the_future(posted: Posted) -> None:
    scenario = crowded(reads=True)
    day = 13 * DAY  # the facts change within a turn, after its push
    calm, moved = (
        posted(scenario.replace(facts=tuple(replace(fact, hazard=0.0, changes=changes) for fact in FACTS)))
        for changes in ((), (day,))
    )
    before, after = pl.col("t") < day, pl.col("t") >= 16 * DAY
    assert calm.filter(before).equals(moved.filter(before))
    assert not calm.filter(after).equals(moved.filter(after))


def test_writers_read_the_truth_only_through_world_observe(monkeypatch: pytest.MonkeyPatch) -> None:
    doors: list[bool] = []
    at, observe, post = World.at, World.observe, Populations.post

    def guarded(self: World, *where: Any) -> Ints:
        assert doors != [False], "the truth was read past the senses"
        return at(self, *where)

    def through(self: World, *how: Any, **which: Any) -> Ints:
        doors.append(True)
        try:
            return observe(self, *how, **which)
        finally:
            doors.pop()

    def posting(self: Populations, *when: Any) -> Any:
        doors.append(False)
        try:
            return post(self, *when)
        finally:
            doors.clear()

    monkeypatch.setattr(World, "at", guarded)
    monkeypatch.setattr(World, "observe", through)
    monkeypatch.setattr(Populations, "post", posting)
    assert bench.run(crowded(reads=True)).memory.cells.height > 100


@pytest.mark.parametrize(
    ("name", "share"),
    [("honest", 0.85), ("overconfident", 0.6), ("humble", 0.95), ("bursty", 0.85), ("self_grader", None), ("poisoner", 0.0)],
)
def test_accuracy_is_the_share_of_true_claims(name: str, share: float | None, posted: Posted) -> None:
    population = Population.of({"behaviour": name, "count": 5, "rate": 4.0, "reads": False}, where="here")
    value = posted(Scenario(facts=FACTS, writers=(population,), days=8.0, turn_every=4 * DAY, replications=10))
    if share is None:  # only every fifth claim is about a fact; half of these are right
        value, share = value.filter(pl.col("turn") % 5 == 0), 0.5
    assert value.height > 300
    assert abs(value["true"].to_numpy().mean() - share) <= 4.5 * np.sqrt(share * (1 - share) / value.height)


def lawful(name: str, posted: Posted, **settings_: Any) -> pl.DataFrame:
    table = {"behaviour": name, "count": 3, "rate": 2.0, "verification": "checked"} | settings_
    population = Population.of(table, where="here")
    still = tuple(replace(fact, hazard=0.0) for fact in FACTS)
    return posted(Scenario(facts=still, writers=(population,), days=20.0, turn_every=2 * DAY, replications=4))


def test_sybils_claim_the_same_value_once_per_fact(posted: Posted) -> None:
    value = lawful("sybil", posted, accuracy=0.5)
    assert value.group_by("rep", "writer", "fact").len()["len"].max() == 1
    assert value.group_by("rep", "fact").agg(pl.col("value").n_unique())["value"].max() == 1
    assert value["value"].n_unique() == 2
    assert value.height > 20


def test_colluders_agree_and_support_each_other(posted: Posted) -> None:
    value = lawful("colluders", posted, revises=False)
    assert value.group_by("rep", "fact").agg(pl.col("value").n_unique())["value"].max() == 1
    assert value["edges"].max() == 2


def test_silent_staleness_writer_claims_each_fact_once(posted: Posted) -> None:
    value = lawful("silent_staleness", posted)
    assert value.group_by("rep", "writer", "fact").len()["len"].max() == 1
    assert value.height > 20


def test_from_file_writer_starts_on_its_first_day(posted: Posted) -> None:
    table = {"behaviour": "from_file", "path": "claims/lines.csv"}
    at_once, later = (
        posted(Scenario(path=PATH, facts=FACTS, writers=(Population.of(table | when, where="here"),), days=40.0))
        for when in ({}, {"start": 3 * DAY})
    )
    assert at_once.height > 5
    assert later.with_columns(pl.col("t") - 3 * DAY).drop("true", "edges").equals(at_once.drop("true", "edges"))


def test_sleeper_lies_after_its_loyal_claims(posted: Posted) -> None:
    value = lawful("sleeper", posted, loyal=7, accuracy=1.0)
    assert value.filter(pl.col("turn") < 7)["true"].all()
    assert not value.filter(pl.col("turn") >= 7)["true"].any()


def test_late_corrector_reports_each_change_after_its_lag(posted: Posted) -> None:
    facts = (Fact(name="price", changes=(10 * DAY,)),)
    population = Population.of({"behaviour": "late_corrector", "every": DAY, "accuracy": 1.0, "lag": 5.0}, where="here")
    value = posted(Scenario(facts=facts, writers=(population,), days=20.0))
    assert value["true"].to_list() == [not 10 * DAY <= t < 15 * DAY for t in value["t"]]


def test_bursts_have_the_declared_length_and_spacing(posted: Posted) -> None:
    value = lawful("bursty", posted, burst=4, spacing=0.05, rate=1.0)
    gaps = value.with_columns(gap=pl.col("t").diff().over("rep", "writer")).filter(pl.col("turn") > 0)
    inside = gaps.filter(pl.col("turn") % 4 != 0)["gap"]
    assert inside.unique().to_list() == [round(0.05 * DAY)]
    assert gaps.filter(pl.col("turn") % 4 == 0)["gap"].n_unique() > 5


@pytest.mark.parametrize("name", ["reader", "reviewers", "world", "faults of honest"])
def test_reserved_population_names_are_refused(name: str) -> None:
    population = Population(behaviour="honest", name=name)
    with pytest.raises(ScenarioError, match="name is already used"):
        bench.run(Scenario(facts=FACTS, writers=(population,)))


def test_duplicate_writer_names_are_refused(tmp_path: Path) -> None:
    by_file = Population.of({"behaviour": "from_file", "path": "claims/lines.csv"}, where="here")
    clerks = Population(behaviour="honest", name="meter")
    bench.run(Scenario(path=PATH, facts=FACTS, writers=(by_file, clerks), days=2.0))
    with pytest.raises(ScenarioError, match="this name is already used"):
        bench.run(Scenario(path=PATH, facts=FACTS, writers=(clerks, clerks)))
    file = Path(PATH).parent / "claims" / "lines.csv"
    (tmp_path / "claims.csv").write_text(file.read_text().replace("clerk", "meter-1"))
    by_file = replace(by_file, settings={**by_file.settings, "path": str(tmp_path / "claims.csv")})
    with pytest.raises(ScenarioError, match="this name is already used"):
        bench.run(Scenario(path=PATH, facts=FACTS, writers=(by_file, clerks)))


def test_if_seen_limits_slow_writers_to_superseding_read_cells() -> None:
    """Show that without `if_seen` a slow writer also supersedes cells that are newer than its last read."""
    quick = Population(behaviour="honest", rate=2.0)
    newer = {}
    for if_seen in (0.0, 1.0):
        slow = Population(behaviour="slow_writer", count=3, rate=1.0, settings={"delay": 4.0, "if_seen": if_seen})
        run = bench.run(
            Scenario(days=40, replications=5, facts=(Fact(name="door", hazard=0.1),), writers=(quick, slow),
                     rules=Rules(supersede_by="any"))
        )  # fmt: skip
        cells = run.memory.cells.with_row_index("row")
        edges = run.memory.edges.filter(pl.col("relation") == "supersedes")
        pairs = cells[edges["source"]], cells[edges["target"]]
        by_slow = pairs[0]["writer"].str.starts_with("slow")
        newer[if_seen] = ((pairs[0]["created"] - pairs[1]["created"] < 3.0) & by_slow).sum()
        assert (run.events.filter(kind="rejected").height > 0) == bool(if_seen)
    assert newer[0.0] > 10
    assert newer[1.0] == 0
