"""Design of a tripwire from days on which it must speak days on which the alarm must be off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import malsim as ms
from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.lab.tripwire.study.example_design import design_from_examples

if TYPE_CHECKING:
    from pathlib import Path

STORY = """
why = "disputed from day 5 to day 9, and less and less current"
[run]
days = 30
[rules]
calibration = "none"
[[claim]]
at = "0d"
writer = "ann"
handle = "dec_a3ee"
title = "use SQLite"
confidence = 0.8
verification = "external"
stability = "volatile"
[[claim]]
at = "5d"
writer = "bob"
handle = "obs_b0b1"
title = "it locked"
confidence = 1.0
verification = "external"
edges = [{ relation = "contradicts", target = "dec_a3ee" }]
[[claim]]
at = "9d"
writer = "bob"
handle = "obs_b0b2"
title = "it did not"
confidence = 0.9
verification = "external"
edges = [{ relation = "supersedes", target = "obs_b0b1" }]
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("story")
    (folder / "story.toml").write_text(STORY, encoding="utf-8")
    assert main(["run", str(folder / "story.toml"), "-o", str(folder / "run")]) == 0
    return folder / "run"


def test_one_watch_is_found_where_one_is_enough(recorded: Path, tmp_path: Path) -> None:
    design = design_from_examples(recorded, "6:9", "1:5,10:")
    (watch,) = design.watches
    assert (watch.address, watch.side, watch.hold) == ("dec_a3ee-scores-eff", "below", 1)
    cost = dict(design.cost.select("metric", "value").rows())
    assert (cost["missed"], cost["false alarms"], cost["delay"]) == (0.0, 0.0, 0.0)
    path = tmp_path / "story.toml"
    tested = '[[episode]]\nname = "drill"\nfrom = "6d"\nto = "9d"\ntest = true\n'
    path.write_text(f"{STORY}\n[netlist]\ntext = '''\n{design.text}'''\n{tested}", encoding="utf-8")
    card = ms.validate(None, path, alarm="alarm", mutate=False, faults=False)
    assert card.scores.filter(metric="missed", tripwire="story.toml")["value"].to_list() == [0.0]


def test_two_watches_are_joined_where_one_is_not_enough(recorded: Path) -> None:
    between = design_from_examples(recorded, "20:22", "14:18,24:26")
    assert between.join == "and"
    assert {(watch.address, watch.side) for watch in between.watches} == {
        ("dec_a3ee-scores-curr", "below"), ("dec_a3ee-scores-curr", "above"),
    }  # fmt: skip
    either = design_from_examples(recorded, "6:8,28:", "1:4,10:24")
    assert either.join == "or"
    assert len(either.watches) == 2
    assert min(watch.margin for watch in either.watches) > 0
    assert either.cost.filter(metric="missed")["value"].to_list() == [0.0]


def test_days_that_no_score_tells_apart_are_not_separated(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three spans inside three others: two levels cannot cut out three windows of a falling score."""
    words = [
        "tripwire",
        "design",
        str(recorded),
        "--speak",
        "12:12,16:16,20:20,24:24",
        "--silent",
        "11:11,14:14,18:18,22:22,26:26",
    ]
    assert main(words) == 1
    assert "these signals cannot separate them; nearest: " in capsys.readouterr().out


def test_a_store_gives_its_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "memory.sqlite")
    write = ["store", "write", store, "--writer", "ann", "--confidence", ".7", "--title"]
    assert main([*write, "pump 3 runs", "--now", "1"]) == 0
    handle = capsys.readouterr().out.split("admitted as ")[1].split(",")[0]
    assert main(["store", "tick", store, "--now", "3"]) == 0
    assert main([*write, "pump 3 stands still", "--now", "5", "--edge", f"contradicts {handle} -.8"]) == 0
    assert main(["store", "tick", store, "--now", "6"]) == 0
    capsys.readouterr()
    assert main(["tripwire", "design", store, "--speak", "6", "--silent", "1:4"]) == 0
    shown = capsys.readouterr().out
    assert f"{handle}-scores-eff below" in shown
    assert "cost on the history" in shown
    assert main(["tripwire", "design", store, "--speak", "6", "--silent", "400"]) == 2
    assert "no tick lies within this span" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("speak", "silent", "problem"),
    [("3:4", "2:5", "cannot be both"), ("x", "1", "not a span"), ("90:", "1", "no tick")],
)
def test_days_that_make_no_sense_are_refused(speak: str, silent: str, problem: str, recorded: Path) -> None:
    with pytest.raises(UsageError, match=problem):
        design_from_examples(recorded, speak, silent)
