"""Fixtures that draw scenarios with every behaviour, fault, reader and reviewer, and that check the causes of events."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from malsim.memory import Memory, Rules
from malsim.memory.port import HoldsGraph
from malsim.sim import bench
from malsim.sim.context.event_log import KINDS
from malsim.sim.engine.intake import Inbox
from malsim.sim.record.manifest import digest
from malsim.sim.record.metrics import by_replication
from malsim.sim.settings.population import NOISE, ClaimFault, Population
from malsim.sim.settings.reader import POLICIES, Reader, Reviewers
from malsim.sim.settings.scenario import Scenario
from malsim.sim.world import Fact
from malsim.sim.world.clock import DAY
from malsim.sim.world.correction import JOB
from malsim.sim.writers import behaviours
from malsim.sim.writers.engine.claim_batch import ClaimBatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from malsim.base.parameters import Param
    from malsim.sim.run import Run

HERE = Path(__file__).parents[2] / "scenarios" / "drawn.toml"  # from_file reads a claim file in the same folder
HOUR = DAY // 24
EXAMPLES = settings().max_examples // 8  # fewer examples, because each example is a complete run
settings.register_profile("few", settings(), max_examples=EXAMPLES)

SHARES = st.sampled_from([0.0, 0.4, 1.0])
NAMES = ("line-1", "line-2", "tide")
RULES = st.sampled_from(
    [
        Rules(),
        Rules(supersede_by="own", calibration="brier"),
        Rules(supersede_by="better_calibrated", calibration_history=0, evidence_from="any", damping=0.5),
        Rules(tau_stable=1.0, wrong_when="outweighed", reinforced_by="restatement", confidence_cap=0.2),
        Rules.recall_v5(),
    ]
)


def _set(param: Param) -> SearchStrategy[float]:
    bounds = [bound for bound in (param.low, param.high) if math.isfinite(bound)]
    small = [number for number in (0.5, 2.0, 4.0) if param.low <= number <= param.high]
    return st.sampled_from([float(param.default), *bounds, *small])


@st.composite
def _population(draw: st.DrawFn, behaviour: str) -> Population:
    declared = behaviours()[behaviour].params
    numbers = {name: _set(param) for name, param in declared.items() if not isinstance(param.default, str)}
    picked: dict[str, Any] = draw(st.fixed_dictionaries({}, optional=numbers))
    if "path" in declared:
        picked["path"] = "claims/lines.csv"
    habits = st.fixed_dictionaries(
        {},
        optional={
            "disputes": SHARES, "supports": SHARES, "mutual": st.booleans(), "revises": st.booleans(),
            "reads": st.booleans(), "verification": st.sampled_from(["unverified", "checked", "external"]),
            "facts": st.sampled_from([NAMES[:1], NAMES[1:]]), "every": st.sampled_from([5 * HOUR, DAY]),
            "start": st.sampled_from([0, DAY]), "end": st.sampled_from([2 * DAY, 90 * DAY]),
        },
    )  # fmt: skip
    table = {"behaviour": behaviour, "rate": draw(st.sampled_from([0.0, 1.0, 4.0])), "count": draw(st.integers(1, 3))}
    return Population.of(table | draw(habits) | picked, where="drawn")


@st.composite
def _fact(draw: st.DrawFn, name: str) -> Fact:
    moves: dict[str, Any] = draw(
        st.sampled_from([{}, {"hazard": 0.4}, {"hazard": 30.0}, {"changes": (DAY, 3 * DAY)}, {"changes": (0, 6 * HOUR)}])
    )
    return Fact(
        name=name, values=draw(st.sampled_from([("up", "down"), ("up", "down", "gone")])),
        stability=draw(st.sampled_from(["stable", "volatile", "ephemeral"])), topic=draw(st.sampled_from(["a", "b"])),
        popularity=draw(st.sampled_from([1.0, 0.01])), **moves,
    )  # fmt: skip


@st.composite
def _fault(draw: st.DrawFn, populations: list[str]) -> ClaimFault:
    noise = draw(st.fixed_dictionaries({}, optional={name: SHARES for name in NOISE if NOISE[name].high == 1.0}))
    return ClaimFault(
        population=draw(st.sampled_from(populations)), noise=noise, bad={"wrong": draw(SHARES)},
        start=draw(st.sampled_from([0, 2 * DAY])), end=draw(st.sampled_from([None, 4 * DAY])),
    )  # fmt: skip


READERS = st.builds(
    Reader, behaviour=st.sampled_from(list(POLICIES)), trust=st.sampled_from(["effective", "effective*currency"]),
    act_above=SHARES, skill=SHARES, observes=SHARES, wants=st.sampled_from([0.0, 2.0]), complies=SHARES,
    attempts=st.sampled_from([1.0, 3.0]), half_life=st.sampled_from([0.5, 4.0]),
    reanchor_every=st.sampled_from([0.0, 3.0]), compact_every=st.sampled_from([0.0, 4.0]), recalls=SHARES,
    limit=st.sampled_from([1.0, 10.0]), budget_words=st.sampled_from([14.0, 900.0]),
)  # fmt: skip
REVIEWERS = st.builds(Reviewers, count=st.integers(1, 2), each=st.sampled_from([HOUR, 3 * DAY]), accuracy=SHARES)


@st.composite
def _scenarios(draw: st.DrawFn) -> Scenario:
    names = draw(st.lists(st.sampled_from(list(behaviours())), min_size=1, max_size=5, unique=True))
    return Scenario(
        path=str(HERE), seed=draw(st.integers(0, 99)), days=draw(st.sampled_from([3.0, 5.0])), replications=3,
        turn_every=draw(st.sampled_from([12 * HOUR, DAY])), first=draw(st.sampled_from([0, 5_000])),
        record_every=draw(st.sampled_from([1, 3])), rules=draw(RULES), facts=tuple(draw(_fact(name)) for name in NAMES),
        writers=tuple(draw(_population(name)) for name in names),
        faults=tuple(draw(st.lists(_fault(names), max_size=2))),
        reader=draw(st.none() | READERS), reviewers=draw(st.none() | REVIEWERS),
        gaps=draw(st.sampled_from([(), ((DAY, 2 * DAY),)])),
    )  # fmt: skip


@pytest.fixture(scope="session")
def drawn() -> SearchStrategy[Scenario]:
    return _scenarios()


class _Spy(Inbox):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[ClaimBatch] = []

    def draft(self, drafts: ClaimBatch) -> None:
        self.seen.append(drafts)
        super().draft(drafts)


@pytest.fixture(scope="session")
def posted() -> Callable[[Scenario], pl.DataFrame]:
    """Return a function that lists a scenario's drafts, one row per draft; `t` is in ms and `edges` is a count."""

    def listed(scenario: Scenario) -> pl.DataFrame:
        made = bench.Bench(scenario)
        made.inbox = spy = _Spy()
        made.calendar.run()
        all_ = ClaimBatch.joined(spy.seen)
        numbers = {name: getattr(all_, name) for name in ("rep", "turn", "t", "fact", "value", "stated")}
        truth = made.context.world.at(all_.rep, all_.fact, all_.t)
        frame = pl.DataFrame(numbers).with_columns(
            made.populations.templates.writers.gather(all_.who), true=truth == all_.value,
            edges=np.bincount(all_.claim, minlength=len(all_)),
        )  # fmt: skip
        return frame.sort("rep", "writer", "turn", "t", maintain_order=True)

    return listed


CLAIM = r"claim \d+ of (?P<writer>.+)"
TURN = r"(?P<turn>turn \d+)"
BY_NOISE = r"noise on (?P<population>.+)"
HANDLE = r"(?P<handle>[A-Za-z]+(_\w+)+)"
SIGNAL = r"(?P<signal>[\w.-]+)(\((?P<row>.+)\))?"
FLAGS = ("annexed", "reinstated", "locked", "unlocked", "pinned", "unpinned", "flagged", "unflagged", "conflict")
FORMS = {
    "admitted": CLAIM, "rejected": CLAIM, "deduplicated": CLAIM, "attenuated": CLAIM, "superseded": HANDLE,
    "bootstrapped": "the graph was empty", "oriented": "a session begins", "caught_up": r"a gap of [1-9]\d* turns",
    "pushed": "task: (?P<fact>.+)", "surfaced": SIGNAL, "expanded": rf"{TURN}( was (?P<kind>blocked))?",
    "blocked": rf"{HANDLE}|{CLAIM}|(?P<fact>.+)", "withheld": rf"{TURN} was (?P<kind>blocked)", "acted": TURN,
    "declined": TURN, "nudged": TURN, "wired": TURN, "written_back": TURN, "updated": TURN,
    "compacted": r"compact_every \d+",
    "reanchored": r"reanchor_every \d+", "changed": "the world", "flipped": BY_NOISE, "perturbed": BY_NOISE,
    "lost": BY_NOISE, "doubled": BY_NOISE, "delayed": BY_NOISE, "reordered": BY_NOISE,
    "misled": r"bad on (?P<population>.+)", "escalated": f"{HANDLE}|{SIGNAL}",
    "refused": rf"{TURN}|{HANDLE}|(?P<asker>[\w.-]+)(\((?P<row>.+)\))?",
    "scheduled": HANDLE, "tripped": f"{HANDLE}|{SIGNAL}", "cleared": SIGNAL,
    "webhook": SIGNAL, "corrected": ".+", "forgotten": ".+", "shared": ".+", "unshared": ".+",
    **dict.fromkeys(FLAGS, SIGNAL),
}  # fmt: skip


def names(scenario: Scenario) -> set[str]:
    """Return the names of all possible writers, including writers whose claims are all refused."""
    members = {f"{item.name}-{n + 1}" for item in scenario.writers for n in range(item.count)}
    people = {JOB, *(item.by for item in scenario.corrections)}
    return {"reader", "reviewers", *people, *members, *scenario.claims["writer"]}


@pytest.fixture(scope="session")
def unresolved() -> Callable[[Run], list[tuple[object, ...]]]:
    """Return a function that lists the events of a run whose cause cannot be traced."""

    def traced(run: Run) -> list[tuple[object, ...]]:
        known: dict[int, dict[str, set[object]]] = {}
        wires = run.scenario.netlist
        signals = {*wires.net.signals, *wires.pins, *(entry.op for entry in wires.net.programs)} if wires else set()
        for rep in run.events["rep"].unique():
            events, cells = run.events.filter(pl.col("rep") == rep), run.memory.cells.filter(pl.col("rep") == rep)
            known[rep] = {
                "handle": set(cells["handle"]), "fact": {fact.name for fact in run.scenario.facts},
                "writer": {"?", *run.memory.writers["writer"], *names(run.scenario)},
                "turn": set(events.filter(pl.col("kind") == "pushed")["subject"]),
                "population": {item.name for item in run.scenario.writers}, "kind": set(events["kind"]),
                "signal": {*signals}, "asker": {*signals, *names(run.scenario)},
                "row": {*cells["handle"], *run.memory.writers["writer"], *cells["topics"].explode()},
            }  # fmt: skip
        found = []
        assert FORMS.keys() == KINDS.keys()
        for event in run.events.unique(["rep", "kind", "cause"], maintain_order=True).rows(named=True):
            match = re.fullmatch(FORMS[event["kind"]], event["cause"] or "")
            named = match.groupdict().items() if match else [("", "nothing")]
            if not match or any(name and name not in known[event["rep"]][part] for part, name in named):
                found.append(tuple(event.values()))
        return found

    return traced


def graph_of(memory: Memory, condition: pl.Expr) -> dict[str, pl.DataFrame]:
    """Return the cells and edges of one replication, with handles instead of row numbers."""
    handles = memory.cells["handle"]
    cells = memory.cells.with_columns(successor=handles.gather(memory.cells["successor"]))
    ends = {end: handles.gather(memory.edges[end]) for end in ("source", "target")}
    edges = memory.edges.with_columns(rep=memory.cells["rep"].gather(memory.edges["source"]), **ends)
    lists = pl.col("topics", "entities", "source_refs").list.join(" ")
    return {"memory": cells.filter(condition).drop("author").with_columns(lists), "edges": edges.filter(condition)}


@pytest.fixture(scope="session")
def replication_hashes() -> Callable[[Run, int], dict[str, str]]:
    """Return a function that hashes each frame, figure and counter of one replication, and its final memory."""

    def hashed(run: Run, number: int) -> dict[str, str]:
        condition = pl.col("rep") == number
        frames = {name: getattr(run, name).filter(condition) for name in ("cells", "signals", "events", "writers")}
        if run.counters is not None:
            frames["counters"] = run.counters.filter(condition)
        figures = by_replication(run).items()
        frames["figures"] = pl.DataFrame({name: [item[number - run.scenario.first]] for name, item in figures})
        if isinstance(run.plant, HoldsGraph):
            frames |= graph_of(run.memory, condition)
        return {name: digest(frame) for name, frame in frames.items()}

    return hashed
