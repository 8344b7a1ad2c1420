"""Tests of programs in `prg` cells, which run from the next tick on while their cell is active."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from malsim.memory import Memory, admit, tick
from malsim.memory.gate.edit import set_flag
from malsim.netlist import parse
from malsim.netlist.engine import Engine
from malsim.netlist.wiring import link
from malsim.scenario.file.scenario_file import parse as scenario
from malsim.sim.bench import run

if TYPE_CHECKING:
    from malsim.netlist.engine import Scan

BODY = "addf watch tick [keys: dec_a3ee] [delta: 0.1]"
TOML = """
why = "a program comes as a claim"
[run]
days = 12
[rules]
calibration = "none"
[[claim]]
at = "0d"
writer = "ann"
handle = "dec_a3ee"
title = "use SQLite"
confidence = 0.9
verification = "external"
[[claim]]
at = "3d"
writer = "ann"
handle = "prg_a3ef"
title = "watch the store"
confidence = 0.6
body = '''addf watch tick [keys: dec_a3ee] [delta: 0.1]'''
[[claim]]
at = "6d"
writer = "bob"
handle = "obs_b0b1"
title = "it locked"
confidence = 1.0
verification = "external"
edges = [{ relation = "contradicts", target = "dec_a3ee" }]
"""


def test_claimed_program_runs_from_the_next_tick() -> None:
    happened = run(scenario(TOML)).events.filter(pl.col("kind").is_in(["scheduled", "tripped", "refused"]))
    assert happened.select("t", "kind", "subject", "detail").rows() == [
        (4.0, "scheduled", "prg_a3ef", "watch"), (7.0, "tripped", "prg_a3ef", "watch the store"),
    ]  # fmt: skip


def test_claim_made_by_a_program_is_admitted_by_the_gate() -> None:
    made = run(scenario(TOML + "[netlist]\ntext = '# programs only'\nderive = true\n"))
    witness = made.memory.cells.filter(pl.col("writer").str.starts_with("program:"))
    assert witness["created"].to_list() == [7.0]
    assert made.events.filter(kind="admitted", t=7.0)["subject"].to_list() == witness["handle"].to_list()
    source = made.memory.edges.filter(pl.col("relation") == "derived_from")["target"].to_list()
    assert made.memory.cells["handle"].gather(source).to_list() == ["prg_a3ef"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("we should watch the store", None),
        ("addf nothing-known tick [keys: a]", None),
        ("addf watch tick", None),
        ("loadrt watch names=a\\naddf a tick", None),
        ("addf watch tick [keys: dec_a3ee\\n", "refused"),
    ],
)
def test_invalid_program_body_is_never_admitted_silently(body: str, kind: str | None) -> None:
    text = TOML.replace("'''" + BODY + "'''", f'"{body}"')
    made = run(scenario(text))
    assert ("prg_a3ef" in made.memory.cells["handle"]) == (kind is not None)  # `kind` is None if the gate refuses the claim
    events = made.events.filter(subject="prg_a3ef").filter(pl.col("kind").is_in(["refused", "scheduled"]))
    assert events["kind"].to_list() == ([] if kind is None else [kind])
    assert all(events["detail"].str.len_chars() > 10)


def scans_of(program_days: dict[int, int], replications: int, first: int = 0) -> list[Scan]:
    """Return the scans of ten days. `program_days` maps a replication to the day on which its program is claimed."""
    engine = Engine(link(parse("")), replications=replications, first=first)
    memory = Memory.empty()
    state, seen = engine.start(memory), []
    for day in range(1, 11):
        claims: list[dict[str, Any]] = []
        for rep in range(first, first + replications):
            common = {"rep": rep, "t": float(day), "body": "", "verification": "external", "writer": "ann"}
            if day == 1:
                claims.append(common | {"handle": "dec_a3ee", "title": "use SQLite", "confidence": 0.9})
            elif day % 2:
                against = [{"relation": "contradicts", "target": "dec_a3ee", "weight": -0.3}]
                text = {"kind": "obs", "title": f"{day}", "body": f"{day}"}
                claims.append(common | text | {"confidence": 0.9, "edges": against})
            if program_days.get(rep) == day:
                program = {"handle": "prg_a3ef", "title": "watch", "body": BODY}
                claims.append(common | program | {"confidence": 0.6, "sequence": 1})
        memory = tick(admit(memory, claims).memory if claims else memory, float(day))
        scan = engine.scan(state, memory, now=float(day))
        state, memory = scan.state, scan.memory
        seen.append(scan)
    return seen


def trips(scans: list[Scan], index: int) -> list[tuple[bool, float]]:
    return [
        (bool(ran.output.values["tripped"][index]), round(float(ran.output.values["change"][index]), 9))
        for scan in scans
        for ran in scan.ran
        if ran.program.indices is not None and index in ran.program.indices
    ]


def test_program_starts_on_its_own_day_in_each_replication() -> None:
    many = scans_of({0: 2, 1: 5, 3: 5}, 4)
    for rep, day in ((0, 2), (1, 5), (3, 5)):
        alone = scans_of({rep: day}, 1, first=rep)
        assert trips(many, rep) == trips(alone, 0)
        assert len(trips(many, rep)) == 11 - day
    assert any(tripped for tripped, _ in trips(many, 0))
    assert not [ran for scan in many for ran in scan.ran if 2 in (ran.program.indices or ())]


def test_program_stops_once_its_cell_is_annexed() -> None:
    made = run(scenario(TOML))
    engine = Engine(link(parse("")))
    scan = engine.scan(engine.start(made.memory), made.memory, now=12.0)
    gone = set_flag(made.memory, np.array(made.memory.cells["kind"] == "prg"), "annexed", value=True)
    lower = gone.with_cells(gone.cells.with_columns(effective=pl.col("effective") / 2))
    after = engine.scan(scan.state, lower, now=13.0)
    assert abs(after.ran[0].output.values["change"][0]) > 0.1
    assert not after.ran[0].output.witness.any()
    assert not after.ran[0].output.values["tripped"].any()
