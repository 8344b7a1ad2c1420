"""A plan is pinned once, refuses what changed, and is judged as it says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from malsim.base.errors import MalsimError
from malsim.board.board_rows import BoardRow
from malsim.board.families import FAMILIES
from malsim.board.figures import Figure, figure_of_parts
from malsim.board.plan import check_pin, pin, pin_of, read_plan, verdicts
from malsim.cli import main

PLAN = """why = "a vote of three stands what the last word does not"
rows = ["majority", "last_write"]
replications = 2

[[expect]]
metric = "price of the lie"
order = ["majority", "last_write"]
least = 2
"""


def written(folder: Path, text: str = PLAN) -> Path:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plan_is_pinned_judged_and_refused_when_it_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = written(tmp_path), str(tmp_path / "board")
    assert main(["board", "--plan", str(path), "-o", out]) == 2
    assert "malsim preregister" in capsys.readouterr().err
    assert main(["preregister", str(path)]) == 0
    assert "which gives seed" in capsys.readouterr().out
    assert main(["board", "--plan", str(path), "-o", out]) == 0
    assert "held       price of the lie: majority before last_write by 2: 4 and 1, counted" in capsys.readouterr().out
    assert "held" in (tmp_path / "board/index.html").read_text(encoding="utf-8")
    written(tmp_path, PLAN.replace("least = 2", "least = 3"))
    assert main(["board", "--plan", str(path), "-o", out]) == 2
    assert "changed since it was pinned" in capsys.readouterr().err
    assert main(["preregister", str(path)]) == 2  # once
    written(tmp_path)
    check_pin(read_plan(path))
    monkeypatch.setattr(BoardRow, "identity", lambda _: "another law now")
    with pytest.raises(MalsimError, match="majority in prices"):
        check_pin(read_plan(path))


def test_the_seed_is_that_of_the_hash_and_moves_with_every_letter(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path))
    other = read_plan(written(tmp_path, PLAN + "\n"))
    assert pin_of(plan) != pin_of(other)
    assert plan.size().seed != other.size().seed
    assert pin(other).is_file()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "price of the lie",
            "prize of the lie",
            "plan.toml:6: expect.metric: unknown metric; given: 'prize of the lie'; did",
        ),
        ('"majority", "last_write"]\nrep', '"majorty"]\nrep', "plan.toml:2: rows: no such row"),
        ("why", "wy", "unknown key"),
        ("replications = 2", "replications = 1", "too few"),
        ('order = ["majority", ', 'order = ["mal", ', "not among the plan's"),
        ("[[expect]]", "[expect", "cannot be read as a plan"),
        (', "last_write"]\nleast', "]\nleast", "two rows or more"),
    ],
)
def test_what_a_plan_may_not_say_is_refused_with_its_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in PLAN
    with pytest.raises(MalsimError) as refusal:
        read_plan(written(tmp_path, PLAN.replace(old, new)))
    assert problem in str(refusal.value)


def judged(tmp_path: Path, lead: float, noise: float, least: float, *, seed: int) -> str:
    """The verdict on two rows by accuracy whose means differ by `lead`, over 24 replications."""
    text = PLAN.replace("price of the lie", "accuracy").replace("least = 2", f"least = {least}")
    metric, draw = FAMILIES["loop"].metrics[0], np.random.default_rng(seed)
    luck = draw.normal(0.6, 0.1, 24)
    means = {"majority": luck + lead + draw.normal(0.0, noise, 24), "last_write": luck}
    figures: dict[str, Figure] = {name: figure_of_parts(metric, {"c": each.tolist()}) for name, each in means.items()}
    board: Any = SimpleNamespace(figures={"accuracy": figures})
    return next(verdicts(read_plan(written(tmp_path, text)), board))["verdict"]


def test_an_order_is_held_where_shown_not_held_where_ruled_out_and_undecided_between(tmp_path: Path) -> None:
    results = [judged(tmp_path, 0.05, 0.03, 0.02, seed=seed) for seed in range(20)]
    assert results.count("held") >= 19
    assert {judged(tmp_path, 0.0, 0.01, 0.02, seed=seed) for seed in range(20)} == {"not held"}
    assert judged(tmp_path, -0.05, 0.03, 0.02, seed=1) == "not held"
    assert judged(tmp_path, 0.01, 0.1, 0.02, seed=1) == "undecided"


@pytest.mark.parametrize(
    ("better", "worse", "least", "verdict"),
    [
        (4.0, 1.0, 2, "held"), (3.0, 1.0, 2, "held"), (2.0, 1.0, 2, "not held"), (1.0, 1.0, 0, "not held"),
        (1.0, 4.0, 0, "not held"), (2.0, 1.0, 0, "held"), (None, 1.0, 0, "undecided"),
    ],
)  # fmt: skip
def test_what_was_counted_is_held_by_as_much_as_was_said(
    better: float | None, worse: float, least: int, verdict: str, tmp_path: Path
) -> None:
    plan = read_plan(written(tmp_path, PLAN.replace("least = 2", f"least = {least}")))
    values = {"majority": better, "last_write": worse}
    figures = {name: Figure("price of the lie", value=value, text=str(value)) for name, value in values.items()}
    board: Any = SimpleNamespace(figures={"price of the lie": figures})
    assert next(verdicts(plan, board))["verdict"] == verdict
