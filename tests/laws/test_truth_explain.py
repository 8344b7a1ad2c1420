"""Explanations of the law `records`: the terms sum to the belief in runs, stores and files of claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import malsim as ms
from malsim.base.errors import AddressError, UsageError
from malsim.cli import main
from malsim.lab.studies.laws.claims import explain_claim
from malsim.laws import plant_of
from malsim.laws.engine.plant import ItemPlant
from malsim.laws.truth.evidence import Constants
from malsim.memory import Memory, admit, tick
from malsim.memory.port import Claims, Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

EPS = Constants().floor


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from(["shared", "own"]), st.sampled_from([0.0, 0.05]))
@settings(max_examples=25, deadline=None)
def test_log_odds_terms_sum_to_the_belief(seed: int, values: int, form: str, pins: float) -> None:
    draw, size = np.random.default_rng(seed), 60
    words = Vocabulary(list("abcdef"), list("uvwxyz"), [[f"v{n}" for n in range(values)]] * 6)
    columns: Any = {name: draw.integers(0, high, size) for name, high in (("writer", 6), ("object", 6), ("value", values))}
    batch: Any = Claims(
        rep=np.zeros(size, dtype=np.int64), t=np.sort(draw.uniform(0, 9, size)), sequence=np.arange(size), **columns,
        stated=draw.choice([0.6, 0.9, np.nan], size), verified=draw.random(size) < pins,
    )  # fmt: skip
    memory = plant_of("records", {"values": form})
    assert isinstance(memory, ItemPlant)
    state, _ = memory.admit(memory.init([0], words), batch)
    state = memory.tick(state, 10.0)
    belief = memory.view(state, 10.0).belief
    assert belief is not None
    alive = np.flatnonzero(state["alive"])
    shares: dict[int, dict[int, tuple[float, float]]] = {}
    for row in alive.tolist():
        explanation = memory.explain(state, alive, row, 10.0)
        assert explanation.effective == belief[row]
        assert sum(explanation.terms["value"]) == pytest.approx(explanation.effective, abs=1e-12)
        about = alive[(state["object"][alive] == state["object"][row])]
        k = values if form == "shared" else max(2, len(set(state["value"][about].tolist())))
        claims = (state["verified"][about] == 0.0).sum()
        odds = np.clip(float(explanation.evidence["log_odds"].sum()), -27.6310211, 27.6310211)
        alone = (1 - EPS) / (1 + np.exp(-odds / (3.0 + 0.2 * (claims - 1)))) + EPS / k
        shares.setdefault(int(state["object"][row]), {})[int(state["value"][row])] = (alone, explanation.effective)
        writers = (
            set(explanation.evidence["writer"].drop_nulls()) if claims and not chained(explanation, "verified") else set()
        )
        assert {item.split(":")[0] for item in explanation.records} == writers
        for item in explanation.records:
            mean, low, high = (float(part.strip("[],")) for part in item.split()[2:5])
            assert 0.0 <= low <= mean <= high <= 1.0
            assert (
                int(item.split()[-2]) == ((alive_writer(state, alive) == item[0]) & (state["verified"][alive] == 0.0)).sum()
            )
    for pairs in shares.values():
        apart, together = np.array(list(pairs.values())).T
        assert together.sum() <= 1.0 + 1e-9
        # the tolerance is loose because 1 − P loses precision where P is near 1
        np.testing.assert_allclose(apart / together, (apart / together)[0], rtol=1e-6)
        assert (apart / together)[0] >= 1.0 - 1e-6


def chained(explanation: Any, word: str) -> bool:
    return any(term.startswith(word) for term in explanation.evidence["term"])


def alive_writer(state: Any, alive: Any) -> Any:
    return np.array(list("abcdef"))[state["writer"][alive]]


def test_run_explains_a_cell_at_any_tick_and_replication() -> None:
    run = ms.run("scenarios/half_colluders.toml", days=12.0, replications=2)
    for t, rep in ((5.0, 0), (12.0, 1)):
        here = run.cells.filter((pl.col("t") == t) & (pl.col("rep") == rep) & pl.col("cell").str.starts_with("claim-7-"))
        here = here.filter(pl.col("status") == "active")
        for cell, effective in here.select("cell", "effective").rows():
            explanation = run.explain(cell, t, rep)
            assert sum(explanation.terms["value"]) == pytest.approx(effective, abs=1e-9)
            assert explanation.why.startswith(f"{cell} is believed to {effective:.2f} on day {t:g}")
    assert run.plot.waterfall(cell, t, rep).axes
    with pytest.raises(AddressError, match="was not recorded"):
        run.explain("claim-7", 5.0)
    other = ms.run("scenarios/half_colluders.toml", days=3.0, replications=1, law="majority")
    with pytest.raises(UsageError, match="does not explain"):
        other.explain(other.cells["cell"][0])


def test_why_command_explains_a_stored_cell_under_law_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claims_ = [("ann", 1.0, "checked"), ("bob", 1.0, "checked"), ("cyd", 2.0, "checked"), ("audit", 2.0, "external")]
    claims = [
        {"t": 1.0, "handle": f"obs_000{n}", "writer": writer, "object": "pump", "title": f"{writer} {value}", "value": value,
         "confidence": 0.8, "verification": verification}
        for n, (writer, value, verification) in enumerate(claims_)
    ]  # fmt: skip
    memory, _ = admit(Memory.empty(), claims)
    tick(memory, 2.0).save(tmp_path / "m.sqlite")
    assert main(["why", str(tmp_path / "m.sqlite"), "obs_0000", "--law", "records", "-o", str(tmp_path / "why.png")]) == 0
    assert "audit says verified: 2.0 (obs_0003)" in capsys.readouterr().out
    assert (tmp_path / "why.png").stat().st_size
    assert main(["why", str(tmp_path / "m.sqlite"), "obs_0000"]) == 0
    assert "stated × calibration" in capsys.readouterr().out
    assert main(["why", str(tmp_path / "m.sqlite"), "obs_9999", "--law", "records"]) == 2


def test_claim_from_a_file_is_explained() -> None:
    rows = [("w1", "x", "A"), ("w2", "x", "A"), ("w3", "x", "B"), ("w1", "y", "A"), ("w2", "y", "A")]
    frame = pl.DataFrame(rows, schema=["writer", "object", "value"], orient="row")
    claims = frame.with_columns(pl.lit(None, pl.Float64).alias("time"), pl.lit(0.7).alias("confidence")).with_row_index(
        "line"
    )
    explanation = explain_claim(claims, "x=A")
    assert explanation.evidence.filter(pl.col("writer") == "w1")["log_odds"][0] > 0.0
    assert explanation.evidence.filter(pl.col("writer") == "w3")["log_odds"][0] < 0.0
    with pytest.raises(AddressError, match="no such claim"):
        explain_claim(claims, "x=C")
