"""Tests of derived values that the law and the push read, and of arbitration between actuators."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim import api
from malsim.base.errors import RulesError, ScenarioError
from malsim.memory import Rules, tick
from malsim.scenario import rerun

if TYPE_CHECKING:
    from malsim.sim.run import Run

SCENARIOS = Path(__file__).parents[2] / "scenarios"
RANKED = """why = "Lines in the order of a derived value."
seed = 3
[run]
days = 30
turn_every = "1d"
replications = 3
[derive]
cell-late = "mul(10,cell-age)"
cell-half = "sub(1,mul(.5,above(cell-age,5)))"
[[facts]]
name = "tide"
[[writers]]
behaviour = "honest"
count = 3
rate = 0.5
accuracy = 0.7
verification = "checked"
[reader]
limit = 1
wants = 0
"""


@cache
def arbitrated() -> Run:
    return ms.run(SCENARIOS / "arbitration.toml")


def test_strongest_requested_action_wins_for_a_cell() -> None:
    """Actions are numbered by strength: freeze 4, pin 3, demote 2, reinforce 1."""
    run = arbitrated()
    wide = run.signals.pivot("signal", index=["t", "row"], values="value", aggregate_function="first")
    requests = wide.select(
        "t", "row",
        action="actuator-arbitration.action",
        strongest=pl.max_horizontal(
            4 * pl.col("confabulation-spike.fires"), 3 * pl.col("cut-criticality.fires"),
            2 * (pl.col("contradiction-load.demotion") > 0), pl.col("actuator-arbitration.reinforce"),
        ),
    ).drop_nulls()  # fmt: skip
    assert requests["action"].equals(requests["strongest"].cast(pl.Float64), check_names=False)
    assert set(requests["action"]) >= {0.0, 1.0, 2.0, 3.0}


def test_confidence_is_scaled_by_the_previous_derived_trust() -> None:
    """Expect effective = published · trust, and terms of the explanation that sum to the effective confidence."""
    run = arbitrated()
    cells = run.cells.filter((pl.col("cell") == "dec_a3ee") & (pl.col("t") > 1)).sort("t")
    trust = run.signals.filter((pl.col("signal") == "derive.cell-trust") & (pl.col("row") == "dec_a3ee")).sort("t")
    stated, factor, support, challenge = (
        cells[name].to_numpy() for name in ("stated", "calibration", "support_mass", "challenge_mass")
    )
    published = np.clip(stated * factor + 0.15 * np.tanh(support) - 0.6 * np.tanh(challenge), 0.0, 1.0)
    np.testing.assert_allclose(cells["effective"], published * trust["value"].to_numpy()[: len(published)], atol=1e-12)
    explained = run.explain("dec_a3ee", t=20)
    assert explained.terms["term"].to_list()[-1] == "cell-derived-trust"
    assert sum(explained.terms["value"]) == pytest.approx(0.2, abs=0.01)


def test_time_constants_use_the_previous_ticks_derived_value(tmp_path: Path) -> None:
    """Expect currency = floor + (c0 − floor) · exp(−Δt / (τ · scale)); scale is 0.5 from the sixth day on."""
    (tmp_path / "it.toml").write_text(RANKED)
    scenario = api.read(tmp_path / "it.toml").replace(rules={"tau_scale": "cell-derived-half"})
    run = ms.run(scenario)
    born = run.memory.cells.select("rep", pl.col("handle").alias("cell"), "touched", "stability")
    last = run.cells.filter((pl.col("t") == 30) & (pl.col("status") == "active") & ~pl.col("pinned")).join(
        born, on=["rep", "cell"]
    )
    age, tau = 30 - last["touched"].to_numpy(), scenario.rules.tau[last["stability"].to_physical().to_numpy()]
    scale = np.where(age - 1 > 5, 0.5, 1.0)
    floor = scenario.rules.currency_floor
    np.testing.assert_allclose(last["currency"], floor + (1 - floor) * np.exp(-age / (tau * scale)), atol=1e-12)
    assert set(scale) == {0.5, 1.0}
    assert ms.fork(run, day=12).cells.equals(run.cells)
    with pytest.raises(RulesError, match="only in a run"):
        tick(run.memory, 31.0, scenario.rules)
    with pytest.raises(ScenarioError, match="no such derived value"):
        scenario.replace(rules={"tau_scale": "cell-derived-nobodys"})


def test_run_with_derived_values_can_be_repeated(tmp_path: Path) -> None:
    """Repeat a run from its manifest, including derived values and signals added to the scenario's netlist."""
    for name, rules in (("text", ""), ("rules", '[rules]\neffective = "cell-derived-half"\n')):
        path = tmp_path / f"{name}.toml"
        ephemeral = RANKED.replace('name = "tide"', 'name = "tide"\nclass = "ephemeral"')
        path.write_text(ephemeral + rules + '[netlist]\nsignals = ["time-to-stale"]\ntext = "addf triage-rank tick"\n')
        run = ms.run(path)
        assert "surfaced" in set(run.events["kind"])
        again = ms.run(rerun.again(json.loads(json.dumps(run.manifest)), where=str(path)))
        assert again.manifest["sha256"] == run.manifest["sha256"]


def test_push_is_sorted_by_a_derived_value(tmp_path: Path) -> None:
    """Rank by age, and expect a push of one line to show the oldest cell about the fact."""
    (tmp_path / "it.toml").write_text(RANKED + 'rank_by = "cell-derived-late"\n')
    scenario = api.read(tmp_path / "it.toml")
    assert scenario.reader
    run, plain = ms.run(scenario), ms.run(scenario.replace(reader=replace(scenario.reader, rank_by="")))
    late = (pl.col("kind") == "acted") & (pl.col("t") > 15)
    acted = {"ranked": run.events.filter(late), "plain": plain.events.filter(late)}
    born = run.memory.cells.select("rep", pl.col("handle").alias("subject"), "created")
    age = {
        name: float(events.join(born, on=["rep", "subject"]).select((pl.col("t") - pl.col("created")).mean()).item())
        for name, events in acted.items()
    }
    assert age["ranked"] > age["plain"]


def test_derived_values_match_alone_in_a_batch_and_in_a_fork(tmp_path: Path) -> None:
    (tmp_path / "it.toml").write_text(RANKED)
    scenario = api.read(tmp_path / "it.toml").replace(rules={"effective": "cell-derived-half"})
    run = ms.run(scenario)
    alone = ms.run(scenario.replace(first=1, replications=1))
    assert alone.cells.equals(run.cells.filter(pl.col("rep") == 1))
    assert ms.fork(run, day=12).cells.equals(run.cells)


@pytest.mark.parametrize(("was", "given"), [("cell-late = ", "cell-early = "), ("cell-late = ", "cell-lat = ")])
def test_derived_value_without_owner_is_refused(tmp_path: Path, was: str, given: str) -> None:
    (tmp_path / "it.toml").write_text(RANKED.replace(was, given) + 'rank_by = "cell-derived-late"\n')
    with pytest.raises(ScenarioError, match="no such derived value"):
        api.read(tmp_path / "it.toml")


def test_rule_accepts_only_derived_values_of_cells() -> None:
    assert Rules(effective="cell-derived-trust").effective == "cell-derived-trust"
    with pytest.raises(RulesError, match="not a function"):
        Rules(effective="writer-derived-trust")
    with pytest.raises(RulesError, match="value derived from cells"):
        Rules(tau_scale="2")
