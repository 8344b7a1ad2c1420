"""Tests of corrections in a run: scores, permissions, corrected values that return, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import ScenarioError
from malsim.judging.duties.references import Append, Governed
from malsim.sim.record.correction_scores import CorrectionScores
from malsim.sim.record.metrics import by_replication
from malsim.sim.world.correction import Correction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.adapters import Claim, Query

FOLDER = Path(__file__).parents[2] / "scenarios"
HOLDS, FORGOTTEN, STRANGER = (
    FOLDER / f"{name}.toml" for name in ("correction_holds", "forgotten_for_good", "corrected_by_a_stranger")
)
FIGURES = ("resurfaced", "correction_shows", "residue", "silent_after", "corrections_refused")


def figures(scenario: Any, **changes: Any) -> dict[str, float]:
    found = by_replication(ms.run(scenario, **changes))
    return {name: float(np.nanmean(found[name])) if (~np.isnan(found[name])).any() else np.nan for name in FIGURES}


def governed(**changes: Any) -> dict[str, Any]:
    """Return the governed rules with `editor` as a verifier and with the given changes."""
    return {"rules": ms.Rules.governed().replace(verifiers="editor", **changes)}


def story(answers: str, *, do: Any = "correct", truth: str = "") -> dict[str, float]:
    """Return the scores of daily answers: A, B, b (B, with A still stored) or - (none). A is retracted on day 0.5."""
    scores = CorrectionScores(2, 1, 1)
    item = np.zeros(1, dtype=np.int64)
    for day, answer in enumerate(answers):
        if day == 1:
            scores.take(0.5, Correction(do=do), item, item, item, np.ones(1, dtype=bool))
        best = {"A": (0.9, 0.2), "B": (-np.inf, 0.9), "b": (0.1, 0.9), "-": (-np.inf, -np.inf)}[answer]
        true = 0 if truth[day : day + 1] == "A" else 1
        scores.add(float(day), np.full((1, 1), true), np.array(best).reshape(2, 1, 1))
    scores.close(float(len(answers) - 1))
    return {name: float(value[0]) for name, value in scores.figures().items()}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("ABBB", {"resurfaced": 0.0, "correction_shows": 0.5, "residue": 0.0, "silent_after": 0.0}),
        ("AABAB", {"resurfaced": 1.0, "correction_shows": 1.5, "residue": 0.5, "silent_after": 0.0}),
        ("AAAA", {"resurfaced": np.nan, "correction_shows": np.nan, "residue": 1.0, "silent_after": 0.0}),
        ("Ab--", {"resurfaced": 0.0, "correction_shows": 0.5, "residue": 1 / 3, "silent_after": 2 / 3}),
    ],
)
def test_correction_scores_match_hand_computed_values(answers: str, expected: dict[str, float]) -> None:
    others = {"corrections_refused": 0.0, "answers_lost": np.nan}
    assert story(answers) == pytest.approx(expected | others, nan_ok=True)


def test_corrected_value_is_not_counted_once_it_is_true_again() -> None:
    assert story("ABAA", truth="BBAA")["resurfaced"] == 0.0
    assert story("ABAA", truth="BBAA", do="forget")["resurfaced"] == 1.0


def test_corrected_values_return_only_under_default_rules() -> None:
    for seed in (7, 8):
        plain, remaining = figures(HOLDS, seed=seed, rules=ms.Rules()), figures(HOLDS, seed=seed)
        assert plain["resurfaced"] > 0.5 > remaining["resurfaced"] == 0.0
        assert plain["residue"] > 0.5 > remaining["residue"] == 0.0


def test_corrections_without_permission_are_refused() -> None:
    assert figures(STRANGER)["corrections_refused"] == 1.0
    assert figures(STRANGER, **governed(supersede_by="any"))["corrections_refused"] == 0.0
    events = ms.run(STRANGER, replications=1).events.filter(kind="refused")
    assert set(events["cause"]) == {"stranger"}
    assert set(events["detail"]) == {"correct: what is true"}


def test_forgotten_values_leave_no_text_behind() -> None:
    run = ms.run(FORGOTTEN, replications=2)
    erased = run.memory.cells.filter(pl.col("tombstone").is_not_null())
    assert set(erased["title"]) == {"(erased)"}
    assert run.events.filter(kind="forgotten").height >= 2
    gone = run.memory.cells.filter(pl.col("created") < 20.0, pl.col("object") == "hers")
    assert gone.is_empty()


def test_correction_is_refused_by_a_law_without_corrections() -> None:
    found = figures(HOLDS, law="last_write")
    assert found["corrections_refused"] == 1.0
    assert found["residue"] >= 0.0


class Keyed:
    """Memory that stores one value per object and lets anybody erase it."""

    belief = edges = False

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def write(self, claims: Sequence[Claim], _: float) -> None:
        self.values |= {claim.object: claim.value for claim in claims}

    def tick(self, _: float) -> None:
        """Do nothing, because stored values do not age."""

    def peek(self, query: Query, _: float, __: int) -> list[dict[str, Any]]:
        value = self.values.get(query.object)
        return [{"id": query.object, "object": query.object, "value": value, "rank": 1.0}] if value else []

    read = peek

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002, ARG002
        if self.values.get(object) == value:
            del self.values[object]


def test_user_memory_forgets_during_a_run() -> None:
    found = figures(FORGOTTEN, memory=Keyed, replications=3)
    assert found["corrections_refused"] == 0.0
    assert found["correction_shows"] >= 1.0
    assert found["resurfaced"] > 0.0  # the background job restores the value from the sources
    # the memory has no `correct` method
    assert figures(STRANGER, memory=Keyed, replications=2)["corrections_refused"] == 1.0


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('from = "1d"\nfacts = ["nothing"]', "no such fact"),
        ('from = "2d"\nto = "1d"', "later than 'from'"),
        ('from = "1d"\nby = ""', "by"),
        ('from = "1d"\nwhat = "wrong"', "false"),
        ('from = "1d"\ndo = "share"', "corrections.with"),
        ('from = "1d"\nwith = "team"', "corrections.with"),
    ],
)
def test_invalid_corrections_are_refused(table: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f'why = "x"\n[run]\ndays = 30\n[[facts]]\nname = "a"\n[[corrections]]\n{table}\n')
    with pytest.raises(ScenarioError, match=problem):
        ms.run(path)


APART = FOLDER / "kept_apart.toml"


def scope_figures(run: ms.Run) -> dict[str, float]:
    found = by_replication(run)
    return {name: float(np.nanmean(found[name])) for name in ("leaks", "shared_silent", "answers_lost")}


def test_scopes_are_separate_until_facts_are_shared() -> None:
    run = ms.run(APART, replications=2)
    assert scope_figures(run) == {"leaks": 0.0, "shared_silent": 0.0, "answers_lost": 0.0}
    leaks = by_replication(ms.run(APART, replications=2, days=30.0, law="last_write"))["leaks"]
    assert (leaks > 0.9).all()  # last_write does not support scopes
    assert {"shared", "unshared", "forgotten"} <= set(run.events["kind"])
    assert run.events.filter(kind="shared").height == 4  # two facts in each of two replications
    acted = run.events.filter(pl.col("kind") == "acted", pl.col("subject").str.starts_with("hers-1"))
    assert acted.filter((pl.col("t") < 20.0) | (pl.col("t") > 41.0)).is_empty()


def test_user_memory_receives_scopes() -> None:
    remaining, all_shown = (
        scope_figures(ms.run(APART, memory=item, replications=1, days=45.0)) for item in (Governed, Append)
    )
    assert remaining == {"leaks": 0.0, "shared_silent": 0.0, "answers_lost": 0.0}
    assert all_shown["leaks"] > 0.9


def test_answers_lost_by_forgetting_are_counted() -> None:
    scores = CorrectionScores(2, 2, 1)
    first, item = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    both, none = np.zeros((2, 2, 1)), np.full((2, 2, 1), -np.inf)
    scores.add(0.0, np.zeros((2, 1), dtype=np.int64), both)
    scores.take(0.5, Correction(do="forget"), first, first, item, np.ones(1, dtype=bool))
    scores.add(1.0, np.zeros((2, 1), dtype=np.int64), both)
    scores.add(2.0, np.zeros((2, 1), dtype=np.int64), none)
    assert scores.figures()["answers_lost"].tolist() == [0.5]
