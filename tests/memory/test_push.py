"""Tests of pushes and opened cells: search, ranking, header lines and word budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malsim.base.errors import AddressError, UsageError
from malsim.memory import Memory, Rules, admit, tick
from malsim.memory.gate.edit import annex, update
from malsim.memory.law import CALIBRATIONS
from malsim.memory.push.ranking import rank_score
from malsim.memory.push.ten_cells import MAP, WRITER, bootstrap, prime, ten_cells
from malsim.memory.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def claim(name: str, title: str, **more: Any) -> dict[str, Any]:
    return {"handle": f"obs_{name}", "writer": "ann", "title": title, "confidence": 0.6, "t": 0.0, **more}


def edge(relation: str, name: str) -> dict[str, str]:
    return {"relation": relation, "target": f"obs_{name}"}


def pumps() -> Memory:
    memory = admit(Memory.empty(), [
        claim("00a1", "pump one leaks", topics=["pump"], stability="volatile"),
        claim("00a2", "the pump", body="pump pump pump", t=40.0),
        claim("00a3", "pump manual", kind="ref", handle="ref_00a3"),
        claim("00a4", "the valve", body="it sits behind the pump"),
        claim("00a5", "boiler", summary="heats"),
        claim("00a6", "pumping stopped", edges=[edge("contradicts", "00a1"), edge("supports", "00a4")], t=1.0),
        claim("00a7", "the boiler again", edges=[edge("supersedes", "00a5"), edge("depends_on", "00a1")], t=1.0),
        claim("00a8", "boiler notes", edges=[edge("derived_from", "00a5")], t=1.0),
    ]).memory  # fmt: skip
    return tick(memory, 41.0)


def handles(memory: Memory, query: str = "", **options: Any) -> list[str]:
    return list(memory.mini_index(query, now=41.0, **options).cells["handle"])


def test_line_shows_the_header_but_not_the_body() -> None:
    memory = admit(Memory.empty(), [claim("00a1", 'say "no"\\\n', body="the body", sensitivity="public")]).memory
    push = memory.mini_index("no")
    flags = "annexed(0) locked(0) pinned(0) review(0) bg(1)"
    assert push.lines == [f'obs_00a1 "say \\"no\\"\\\\\\n" conf(0.6!) eff(0.6) curr(1) sal(0.5) {flags} [out:0]']
    assert push.map is None
    assert push.sections.unproven == ("ann 0 of 3",)
    assert push.words == len(str(push).split())


def test_search_finds_any_form_of_a_word_in_every_field() -> None:
    memory = pumps()
    assert set(handles(memory, "PUMPS")) == {"obs_00a1", "obs_00a2", "ref_00a3", "obs_00a4", "obs_00a6"}
    assert handles(memory, "obs_00a4") == ["obs_00a4"]
    assert handles(memory, "heat") == ["obs_00a5"]
    assert handles(memory, "nothing of this") == []
    assert len(handles(memory)) == 8


def test_push_order_follows_the_ranking_rules() -> None:
    memory = pumps()
    memory.mini_index("pump")
    matches = memory.derived.search.execute("SELECT rowid, -rank FROM words WHERE words MATCH 'pump'").fetchall()
    row, match = (np.array(column) for column in zip(*matches, strict=True))
    ends = np.concatenate([memory.edges["source"].to_numpy(), memory.edges["target"].to_numpy()])
    degree = np.bincount(ends, minlength=memory.cells.height)[row].astype(float)
    worth, age = memory.cells["effective"].to_numpy()[row], 41.0 - memory.cells["touched"].to_numpy()[row]
    reference = (memory.cells["kind"] == "ref").to_numpy()[row]
    every = (Rules(), Rules(rank_lexical=0.0), Rules(rank_degree=0.0, rank_effective=2.0), Rules(rank_recency=3.0),
             Rules(rank_reference=0.0))  # fmt: skip
    for rules in every:
        score = rank_score(match, degree, worth, age, rules, reference=reference)
        expected = memory.cells["handle"].gather(row[np.argsort(-score, kind="stable")]).to_list()
        push = memory.mini_index("pump", now=41.0, rules=rules)
        assert push.cells["handle"].to_list() == expected
        np.testing.assert_allclose(push.cells["score"], np.sort(score)[::-1], rtol=0, atol=1e-12)
    assert handles(memory, "pump", rules=Rules(rank_recency=3.0))[0] == "obs_00a2"
    assert set(handles(memory, "pump", rules=Rules(rank_degree=3.0))[:2]) == {"obs_00a1", "obs_00a6"}


def test_line_is_marked_if_challenged_stale_overdue_or_replaced() -> None:
    memory = update(pumps(), "obs_00a4", now=0.0, reverify=40.0)
    push = memory.mini_index("", now=41.0)
    marked = dict(push.cells.select("handle", "marked").rows())
    assert marked == {
        "obs_00a1": True,  # contradicted
        "obs_00a2": False, "ref_00a3": False,
        "obs_00a4": True,  # overdue
        "obs_00a5": True,  # superseded, although another cell is derived from it
        "obs_00a6": False, "obs_00a7": False, "obs_00a8": False,
    }  # fmt: skip
    assert [line.startswith("^") for line in push.lines] == push.cells["marked"].to_list()
    faded = tick(admit(Memory.empty(), [claim("00a1", "x", stability="ephemeral")]).memory, 30.0)
    assert faded.mini_index("x").lines[0].startswith("^")
    assert not faded.mini_index("x", rules=Rules(stale_below=0.05)).lines[0].startswith("^")


def test_hidden_items_are_not_shown() -> None:
    memory = admit(pumps(), [claim("00b1", "pump of nobody", sensitivity="secret")]).memory
    assert "obs_00b1" not in handles(memory, "pump nobody")
    assert "obs_00b1" not in handles(memory, "")
    assert "obs_00a4" not in handles(annex(memory, "obs_00a4"), "pump")
    uncited = admit(Memory.empty(), [claim("00a1", "old"), claim("00a2", "new", edges=[edge("supersedes", "00a1")], t=1.0)])
    assert handles(uncited.memory) == ["obs_00a2"]


@pytest.mark.parametrize(("budget", "limit", "lines"), [(900, 10, 8), (900, 3, 3), (14, 10, 1), (50, 10, 2), (0, 10, 0)])
def test_push_respects_limit_and_word_budget(budget: int, limit: int, lines: int) -> None:
    push = pumps().mini_index("", budget_words=budget, limit=limit, now=41.0)
    assert len(push.lines) == push.cells.height == lines
    assert push.words == len(str(push).split()) <= budget


ODD = ['"', "pump*", "NEAR(pump)", "a OR", "title:pump", "^", "(", "' OR 1=1 --", "-", "\0"]


@settings(max_examples=30)
@given(st.text(max_size=30) | st.sampled_from(ODD))
def test_any_query_is_searched_without_error(query: str) -> None:
    assert set(handles(PUMPS, query)) <= {*PUMPS.cells["handle"]}


PUMPS = pumps()


@pytest.mark.parametrize("budget", [900, 110, 60, 40, 14, 0])
def test_sections_list_disputes_and_cells_to_open_within_budget(budget: int) -> None:
    memory = update(pumps(), "obs_00a4", now=0.0, reverify=40.0)
    push = memory.mini_index("", now=41.0, budget_words=budget)
    sections = push.sections
    assert push.words <= budget
    assert set(sections.expand) <= set(push.cells.filter("marked")["handle"])
    assert ("EXPAND REQUIRED" in str(push)) == bool(sections.expand)
    assert ("remember: " in str(push)) == (bool(push.lines) and sections.reminds)
    assert sections.reminds == (budget >= 40)
    if budget == 900:
        assert sections.expand == ("obs_00a5", "obs_00a1", "obs_00a4")
        assert sections.conflicts == ("obs_00a6 contradicts obs_00a1(-1) eff(0.60)",)
        assert sections.low_trust == (
            "obs_00a5 superseded", "obs_00a1 eff(0.28) of conf(0.60)", "obs_00a4 past its date",
        )  # fmt: skip


def test_push_states_the_number_of_outcomes_behind_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pumps()
    handles = set(memory.mini_index("", now=41.0).cells["handle"])
    writers = memory.cells.filter(pl.col("handle").is_in(list(handles)))["writer"].unique()
    counts = dict(memory.writers.select("writer", "claims").rows())
    for needed in (0, 1, 3, 9):
        push = memory.mini_index("", now=41.0, rules=Rules(calibration_history=needed))
        few = {f"{name} {counts[name]} of {needed}" for name in writers if counts[name] < needed}
        assert set(push.sections.unproven) == few
        assert ("too few outcomes to calibrate" in str(push)) == bool(few)
    assert memory.mini_index("", now=41.0, rules=Rules(calibration="none")).sections.unproven == ()
    # with this formula no writer is ever discounted
    monkeypatch.setitem(CALIBRATIONS, "overconfidence", CALIBRATIONS["none"])
    assert memory.mini_index("", now=41.0).sections.unproven == ()


def test_push_of_a_store_equals_the_push_of_its_memory(tmp_path: Path) -> None:
    memory = pumps()
    memory.save(tmp_path / "m.sqlite")
    with Store(tmp_path / "m.sqlite", write=False) as store:
        for query in ("pump", "boiler heats", ""):
            ours = store.mini_index(query, now=41.0)
            assert ours.lines == memory.mini_index(query, now=41.0).lines


def test_search_finds_only_the_new_words_of_a_rewritten_body(tmp_path: Path) -> None:
    with Store(tmp_path / "m.sqlite") as store:
        store.admit([claim("00a1", "one", body="gasket")])
        store.save(update(store.memory, "obs_00a1", now=2.0, body="impeller"), t=2.0)
        assert store.mini_index("gasket").lines == []
        assert store.mini_index("impeller").cells["handle"].to_list() == ["obs_00a1"]


def test_opened_cell_shows_terms_neighbours_and_versions() -> None:
    memory = pumps()
    opened = memory.expand("obs_00a1", now=41.0)
    assert opened.neighbours.select("direction", "relation", "handle").rows() == [
        ("in", "contradicts", "obs_00a6"),
        ("in", "depends_on", "obs_00a7"),
    ]
    terms = opened.explanation.terms["value"].to_list()
    assert sum(terms) == opened.cell["effective"] == opened.explanation.effective
    assert "contradicts from obs_00a6" in str(opened)
    assert [row[1] for row in memory.expand("obs_00a7").versions.rows()] == ["obs_00a5", "obs_00a7"]
    assert memory.expand("obs_00a7@v1").cell["handle"] == "obs_00a5"
    seed = memory.cells["salience_seed"][0]
    assert opened.memory.cells["salience"][0] == pytest.approx(seed + (1 - seed) * 0.2)
    assert memory.cells["read"][0] is None  # `expand` returns a new memory and leaves the old one unchanged
    with pytest.raises(AddressError, match="no such cell"):
        memory.expand("obs_ffff")
    secret = admit(Memory.empty(), [claim("00b1", "t", body="hush", sensitivity="secret")]).memory
    assert "hush" not in str(secret.expand("obs_00b1"))


def test_superseded_cell_is_explained_by_its_last_active_value() -> None:
    memory = pumps()
    against = claim("00c1", "no", edges=[edge("contradicts", "00a5")], t=42.0)
    later = tick(tick(admit(memory, [against]).memory, 43.0), 44.0)
    cells = later.cells.with_columns(
        pl.when(pl.col("handle") == "obs_00a5").then(0.5).otherwise("effective").alias("effective")
    )
    explanation = later.with_cells(cells).expand("obs_00a5").explanation
    assert explanation.terms["term"].to_list()[-1] == "held"
    assert sum(explanation.terms["value"]) == explanation.effective == 0.5
    assert "held at its value when it was last active" in explanation.why


def test_bootstrap_adds_ten_cells_only_to_an_empty_memory() -> None:
    memory = bootstrap(Memory.empty())
    assert memory.cells.height == 10
    assert bootstrap(memory) is memory
    assert memory.cells["writer"].unique().to_list() == [WRITER]
    fixed = memory.cells.filter(pl.col("locked"))
    assert fixed.select(pl.col("locked", "pinned", "immutable").sum()).row(0) == (5, 5, 5)
    assert memory.cells.filter(~pl.col("locked"))["title"].to_list() == [
        "objective", "constraints", "risks", "success criteria", "carried context",
    ]  # fmt: skip
    other = bootstrap(Memory.empty(), t=7.0, rep=3)
    assert other.cells.select("handle", "title", "body").equals(memory.cells.select("handle", "title", "body"))
    standing = admit(Memory.empty(), [claim("00a1", "x")]).memory
    assert bootstrap(standing) is standing
    assert ten_cells().height == 10


def test_five_initial_cells_are_locked_and_five_editable() -> None:
    memory = bootstrap(Memory.empty())
    with pytest.raises(UsageError, match="locked or immutable"):
        update(memory, MAP, now=1.0, body="otherwise")
    with pytest.raises(UsageError, match="locked or immutable"):
        annex(memory, MAP)
    over, verdicts = admit(memory, [claim("00a1", "x", edges=[{"relation": "supersedes", "target": MAP}])])
    assert over.cells.filter(pl.col("handle") == MAP)["status"].item() == "active" or verdicts["verdict"][0] == "refused"
    answered = update(memory, "obj_objective_0006", now=1.0, body="keep the shop open")
    assert answered.expand("obj_objective_0006").cell["body"] == "keep the shop open"


def test_push_names_the_map_cell_only_in_its_last_line() -> None:
    memory = admit(bootstrap(Memory.empty()), [claim("00a1", "the map of the works")]).memory
    push = memory.mini_index("map purpose method hooks expectations")
    assert push.cells["handle"].to_list() == ["obs_00a1"]
    assert push.map == MAP
    assert str(push).endswith(f"(how to read this: {MAP})")


def test_primed_memory_gets_each_lent_claim_once_without_edges() -> None:
    lender = admit(bootstrap(Memory.empty()), [
        claim("00a1", "pumps leak", confidence=1.0, verification="external", object="pump", value=2.0),
        claim("00a2", "old"), claim("00a3", "new", edges=[edge("supersedes", "00a2")], t=1.0),
    ]).memory  # fmt: skip
    borrower = admit(bootstrap(Memory.empty()), [claim("00a1", "mine"), claim("00a4", "new")]).memory
    primed = prime(borrower, lender, t=3.0)
    lent = primed.cells.slice(borrower.cells.height)
    assert lent.select("title", "writer", "object", "value", "stated").rows() == [("pumps leak", WRITER, "pump", 2.0, 0.7)]
    assert lent["handle"][0] != "obs_00a1"  # the lender's handle is already used by the borrower
    assert prime(primed, lender, t=4.0).cells.height == primed.cells.height
    assert primed.edges.is_empty()
