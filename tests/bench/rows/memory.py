"""Benchmark of the memory: tick, gate, recorded turn and imports, relative to plain numpy, scipy and polars."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import sparse

from malsim.base.screen.credentials import CANDIDATE
from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.gate.claims import as_claims
from malsim.memory.gate.edit import connect_rows
from malsim.memory.law import CALIBRATIONS, currency, factors, salience, terms
from malsim.memory.outcomes import accusations
from malsim.memory.schema import NONE
from tests.bench.rows.ratios import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.bench.rows.ratios import Ratio

__all__ = ["bare_tick", "full_tick", "graph", "rows"]

PROPOSALS = 10_000
WORDS = 40
SUPPORTING = 0.6
SCORES = ("effective", "calibration", "support_mass", "challenge_mass", "currency", "salience")
DEMO = Path("scenarios") / "mutual_dispute.toml"


def rows() -> Iterator[Ratio]:
    for cells, repeats in ((100_000, 15), (1_000_000, 5)):
        memory = graph(cells, 5 * cells)
        memory = tick(memory, 1.0)
        name = f"tick, {cells:,} cells / {5 * cells:,} edges, against bare numpy and scipy.sparse"
        yield compare(name, partial(full_tick, memory), bare_tick(memory), limit=1.3, repeats=repeats)
    yield _gate()
    yield _small_tick()
    yield from _imports()


def full_tick(memory: Memory) -> None:
    after = tick(memory, 30.0)
    for name in SCORES:
        after.column(name)


def graph(cells: int, edges: int, *, seed: int = 1) -> Memory:
    draws = np.random.Generator(np.random.Philox(key=seed))
    numbers = pl.DataFrame({"writer": draws.integers(0, 1000, cells), "confidence": draws.uniform(0.1, 1.0, cells)})
    claims = numbers.select(
        kind=pl.lit("obs"), verification=pl.lit("external"), writer=pl.format("w{}", "writer"),
        title=pl.format("claim {}", pl.int_range(pl.len())), confidence="confidence",
    )  # fmt: skip
    memory, _ = admit(Memory.empty(), claims)
    source, target = draws.integers(0, cells, edges), draws.integers(0, cells, edges)
    supports = draws.random(edges) < SUPPORTING
    relation = pl.Series(np.where(supports, "supports", "contradicts"))
    weight = np.where(supports, 1.0, -1.0) * draws.uniform(0.1, 1.0, edges)
    frame = pl.DataFrame({"source": source, "relation": relation, "target": target, "weight": weight, "writer": "judge"})
    frame = frame.filter(pl.col("source") != pl.col("target")).with_columns(t=pl.lit(0.0), mutual=pl.lit(value=False))
    return connect_rows(memory, frame, Rules())


def bare_tick(memory: Memory) -> Callable[[], object]:
    cells, edges = memory.cells, memory.edges
    count, writers = cells.height, memory.writers.height
    source, target, weight = (edges[name].to_numpy() for name in ("source", "target", "weight"))
    up, down = weight > 0, weight < 0
    support = sparse.csr_array((weight[up], (target[up], source[up])), shape=(count, count))
    challenge = sparse.csr_array((-weight[down], (target[down], source[down])), shape=(count, count))
    accuser, suspect = accusations(memory, "other_writer")
    stated, worth, author = (cells[name].to_numpy() for name in ("stated", "effective", "author"))
    active = np.ones(count, dtype=bool)
    rules = Rules()
    ceilings: dict[str, Any] = {"support_ceiling": rules.support_ceiling, "challenge_ceiling": rules.challenge_ceiling}
    age, tau = 30.0 - cells["touched"].to_numpy(), rules.tau[cells["stability"].to_physical().to_numpy()]

    def step() -> object:
        wrong = np.zeros(count, dtype=bool)
        wrong[suspect[active[accuser]]] = True
        claims = np.bincount(author, minlength=writers)
        penalties = np.bincount(author, weights=CALIBRATIONS[rules.calibration](stated, wrong), minlength=writers)
        factor = factors(claims, penalties.astype(np.float64), rules)
        masses = support @ worth, challenge @ worth
        raw = terms(stated, factor[author], *masses, **ceilings).total
        return np.clip(raw, 0.0, 1.0), currency(1.0, age, tau), salience(rules.salience_seed, age)

    return step


def _gate() -> Ratio:
    draws = np.random.Generator(np.random.Philox(key=2))
    vocabulary = np.array([f"word{i}" for i in range(5000)])
    bodies = [" ".join(part) for part in vocabulary[draws.integers(0, 5000, (PROPOSALS, WORDS))]]
    columns = {
        "kind": "obs", "writer": [f"w{i % 97}" for i in range(PROPOSALS)],
        "title": [f"claim number {i}" for i in range(PROPOSALS)], "body": bodies,
        "confidence": draws.uniform(0.1, 1.0, PROPOSALS),
    }  # fmt: skip
    claims, memory = as_claims(pl.DataFrame(columns)), graph(1_000, 5_000)
    texts = claims.select("title", "body", "writer")
    name = f"gate, {PROPOSALS:,} proposals of {WORDS} words, screened, against one str.contains of all formats"
    return compare(
        name,
        lambda: admit(memory, claims),
        lambda: texts.select(pl.all().str.contains(CANDIDATE).any()),
        limit=15,
        repeats=7,
    )


def _small_tick() -> Ratio:
    from malsim.laws.engine.graph_plant import Graph
    from malsim.memory.port import Claims, Vocabulary
    from malsim.sim.context.cell_index import CellIndex
    from malsim.sim.context.snapshot import Snapshot
    from malsim.sim.record.recorder import Recorder
    from malsim.sim.settings.scenario import Scenario

    memory = tick(graph(100, 300), 1.0)
    handles = memory.cells["handle"].to_list()
    few = as_claims(
        [
            {"kind": "obs", "t": 1.5, "writer": f"w{i}", "title": f"new {i}", "body": "", "confidence": 0.6,
             "edges": [{"relation": "supports", "target": handles[i]}]}
            for i in range(4)
        ]
    )  # fmt: skip
    frame, scenario = pl.DataFrame({"x": np.arange(100.0)}), Scenario()
    plant, none = Graph(rules=scenario.rules), np.full(4, NONE)
    start = plant.with_graph(plant.init([0], Vocabulary([], [], [])), memory)
    topics = pl.DataFrame(schema={"object": pl.String, "title": pl.String, "topics": pl.List(pl.String)})
    cell_index = CellIndex((), 1, topics)
    claims = Claims(
        rep=np.zeros(4, dtype=np.int64), t=np.full(4, 1.5), writer=none, sequence=np.arange(4), object=none, value=none,
        stated=np.full(4, 0.6), words=lambda: few,
    )  # fmt: skip

    def turn() -> None:
        recorder = Recorder(scenario)
        state, verdicts = plant.admit(start, claims)
        recorder.admitted(verdicts, claims.rep, plant.view(state, 2.0))
        state = plant.tick(state, 2.0)
        snapshot = Snapshot(plant.view(state, 2.0), cell_index)
        recorder.tick(2.0, snapshot, np.zeros((0, 1), dtype=np.int64), last=False)

    name = "one recorded turn of 100 cells and 4 claims, against one polars with_columns"
    return compare(name, turn, lambda: frame.with_columns(y=pl.col("x") * 2 + 1), limit=50, repeats=200)


def _imports() -> Iterator[Ratio]:
    python = sys.executable

    def process(*arguments: str) -> Callable[[], object]:
        return lambda: subprocess.run([python, *arguments], check=True, capture_output=True)

    yield compare("malsim --help, against importing numpy and polars", process("-m", "malsim", "--help"),
                  process("-c", "import numpy, polars"), limit=1.0, repeats=9)  # fmt: skip
    if DEMO.is_file():
        with tempfile.TemporaryDirectory() as folder:
            demo = process("-m", "malsim", "run", str(DEMO), "-o", folder)
            bare = process("-c", "import polars, scipy.sparse, matplotlib.pyplot")
            yield compare(
                "the demo with figures, against importing polars, scipy.sparse and pyplot", demo, bare, limit=4.0, repeats=5
            )
