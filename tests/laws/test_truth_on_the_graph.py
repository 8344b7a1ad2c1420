"""Under `[rules] effective = "records"`, the graph has the same beliefs as the law `records`, and explains them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import RulesError, UsageError
from malsim.memory import Memory, Rules, admit, tick

if TYPE_CHECKING:
    from malsim.api import Run

OF_ITEMS = Path("scenarios/half_colluders.toml").read_text(encoding="utf-8")
ON_THE_GRAPH = OF_ITEMS.replace('[memory]\nlaw = "records"', '[rules]\neffective = "records"')


def run_text(folder: Path, text: str) -> Run:
    path = folder / "scenario.toml"
    path.write_text(text, encoding="utf-8")
    return ms.run(path, days=6.0, replications=2)


def beliefs(run: Run) -> pl.DataFrame:
    view = run.view
    indices = {"rep": view.rep, "object": view.object, "value": view.value, "belief": view.belief, "active": view.active}
    rows = pl.DataFrame(indices).filter(pl.col("active") & (pl.col("value") >= 0)).drop("active")
    item = rows.group_by("rep", "object", "value", maintain_order=True).agg(pl.col("belief").unique())
    assert (item["belief"].list.len() == 1).all()
    return item.explode("belief").sort("rep", "object", "value")


@pytest.mark.parametrize("verified", [True, False])
def test_graph_and_law_have_the_same_beliefs(tmp_path: Path, *, verified: bool) -> None:
    laws, graphs = (
        beliefs(run_text(tmp_path, text if verified else text.replace('"external"', '"checked"')))
        for text in (OF_ITEMS, ON_THE_GRAPH)
    )
    both = graphs.join(laws, on=["rep", "object", "value"], how="left", suffix="_law")
    rows = both.filter(pl.col("belief_law").is_not_null())
    assert rows.height == laws.height > 100
    np.testing.assert_allclose(rows["belief"], rows["belief_law"], rtol=0.0, atol=1e-12)
    assert (both.filter(pl.col("belief_law").is_null())["belief"] == 0.0).all()  # no writer still claims these values


def test_graph_explains_a_cell_at_any_tick(tmp_path: Path) -> None:
    run = run_text(tmp_path, ON_THE_GRAPH)
    for t, rep in ((3.0, 0), (6.0, 1)):
        here = run.cells.filter((pl.col("t") == t) & (pl.col("rep") == rep) & (pl.col("status") == "active"))
        for cell, effective in here.select("cell", "effective").head(12).rows():
            explanation = run.explain(cell, t, rep)
            assert sum(explanation.terms["value"]) == pytest.approx(effective, abs=1e-9)
            assert run.why(cell, t, rep).startswith(f"{cell} is believed")
    assert run.plot.waterfall(cell, t, rep).axes


def test_facts_verified_by_reviewers_are_pinned(tmp_path: Path) -> None:
    unverified = ON_THE_GRAPH[: ON_THE_GRAPH.index('[[writers]]\nname = "audit"')]
    late = '[[writers]]\nname = "late"\nbehaviour = "late_corrector"\n'
    run = run_text(tmp_path, f"{unverified}\n{late}\n[reviewers]\naccuracy = 1.0\n")
    cells = run.memory.cells.filter((pl.col("verification") == "external") & (pl.col("status") == "active"))
    assert cells.height
    assert (cells["effective"] > 0.9).all()


def test_unsupported_settings_are_refused(tmp_path: Path) -> None:
    claim = {"t": 0.0, "writer": "ann", "kind": "obs", "title": "pump 1", "object": "pump", "value": 1.0, "confidence": 0.6}
    memory, _ = admit(Memory.empty(), [claim])
    with pytest.raises(RulesError, match="only in a run"):
        tick(memory, 1.0, Rules(effective="records"))
    with pytest.raises(RulesError, match="not a function"):
        Rules(effective="record")
    with pytest.raises(UsageError, match="no loop"):
        ms.stability(run_text(tmp_path, ON_THE_GRAPH))
