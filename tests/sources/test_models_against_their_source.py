"""Models of other memories give the same results as the original code at a pinned commit, on fifty random streams.

The tests run if `MALSIM_SOURCES` names a folder of checkouts. The results are recorded after `Proven:` in each law's file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from malsim.laws import find_law, plant_of, shipped_laws
from malsim.laws.engine.play import run_events
from tests.sources import confidence, overwrites, programs, ranks
from tests.sources.checkout import MissingError
from tests.sources.streams import stream

if TYPE_CHECKING:
    from tests.sources.base import Source

STREAMS = 50
SOURCES: dict[str, type[Source]] = {
    "abes": confidence.Abes,
    "act_r": ranks.ActR,
    "agentmemory_lessons": programs.AgentmemoryLessons,
    "caura": ranks.Caura,
    "egc": programs.Egc,
    "engram": confidence.Engram,
    "evolvemem": confidence.EvolveMem,
    "fsrs": ranks.Fsrs,
    "generative_agents_code": ranks.GenerativeAgents,
    "graphiti": overwrites.Graphiti,
    "hindsight": ranks.Hindsight,
    "last_write": overwrites.InMemoryStore,
    "mem0_additive": overwrites.Mem0Additive,
    "mem0_delete": overwrites.Mem0Delete,
    "mem0_update": overwrites.Mem0Update,
    "membrane": programs.Membrane,
    "memex": confidence.Memex,
    "memorybank_shipped": ranks.MemoryBank,
    "mma": confidence.Mma,
    "shodh": programs.Shodh,
    "yourmemory": confidence.YourMemory,
}
NO_SOURCE = ("generative_agents_paper", "membrane_anchored", "memorybank_intended")  # laws that model a paper or a fix


@pytest.mark.parametrize("law", SOURCES)
def test_model_gives_the_same_results_as_the_original_code(law: str) -> None:
    kind = SOURCES[law]
    try:
        different = [seed for seed in range(STREAMS) if not equal(law, kind, seed)]
    except (MissingError, ModuleNotFoundError) as reason:
        pytest.skip(str(reason))
    assert not different, f"{law} differs from {kind.project} on the streams {different}"


def equal(law: str, kind: type[Source], seed: int) -> bool:
    events = stream(seed, daily=kind.daily)
    for ours, theirs in zip(run_events(plant_of(law), events), kind().play(events), strict=True):
        if sorted(value for value, _ in ours) != sorted(value for value, _ in theirs):
            return False
        pairs = zip(sorted(ours), sorted(theirs), strict=True)
        if any(mine != pytest.approx(other, rel=0.0, abs=kind.within) for (_, mine), (_, other) in pairs):
            return False
    return True


def test_law_files_name_the_commit_of_the_original_code() -> None:
    assert {name for name, law in shipped_laws().items() if law.equal} == set(SOURCES)
    for name, kind in SOURCES.items():
        assert kind.commit[:7] in find_law(name).source or kind.commit in find_law(name).proven, name
    for name in NO_SOURCE:
        assert find_law(name).proven.startswith("no function"), name
