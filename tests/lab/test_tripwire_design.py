"""Tests for tripwires designed from target run lengths, or from days on which the alarm must trip or stay silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import norm

import malsim as ms
from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.lab.tripwire import statics
from malsim.lab.tripwire.runs.observation import Noise
from malsim.lab.tripwire.study.example_design import design_from_examples
from malsim.netlist import parse

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def design() -> Any:
    return ms.design_tripwire(150, 6, shift=2.0)


def test_target_run_lengths_are_reached_on_fresh_seeds(design: Any) -> None:
    assert design.reached
    figures = {row["metric"]: row for row in design.evaluation.to_dicts()}
    assert figures["arl0"]["high"] >= 150
    assert figures["arl1"]["low"] <= 6
    assert "reached on fresh seeds" in str(design)


def test_level_without_smoothing_matches_theory(design: Any) -> None:
    """ARL0 = 1 / Q(level) and ARL1 = 1 / Q(level − shift) for independent ticks without smoothing."""
    bare = design.candidates.row(0, named=True)
    assert (bare["gain"], bare["hold"]) == (1.0, 1)
    assert bare["level"] == pytest.approx(norm.isf(1 / 157.5), abs=0.08)
    assert bare["arl1"] == pytest.approx(1 / norm.sf(bare["level"] - 2), rel=0.15)


def test_designed_netlist_can_be_linked_and_has_no_defects(design: Any) -> None:
    assert {item.kind for item in statics(parse(design.text))} <= {"wiring"}
    design.figure.savefig("/dev/null", format="png")


def test_negative_shift_designs_an_alarm_for_a_fall() -> None:
    noise = Noise(0.8, 0.05, 0.6)
    down = ms.design_tripwire(150, 8, noise=noise, shift=-0.15)
    assert down.reached
    assert "setp moved.gain -1" in down.text
    assert 0 < down.level < 0.2


def test_unreachable_target_is_reported() -> None:
    slow = ms.design_tripwire(100, 1, shift=0.5)
    assert not slow.reached
    assert "NOT reached" in str(slow)
    assert min(slow.candidates["arl1"].to_list()) > 1


def test_limit_on_chatter_widens_the_hysteresis() -> None:
    noise = Noise(0.0, 1.0, 0.9)
    strict, loose = (ms.design_tripwire(100, 8, noise=noise, shift=2.0, chatter=most) for most in (0.1, 1.0))
    assert strict.hysteresis > loose.hysteresis == 0.0
    low, high = ({row["metric"]: row["value"] for row in item.evaluation.to_dicts()}["chatter"] for item in (strict, loose))
    assert low < high


def test_noise_is_estimated_from_quiet_ticks_only() -> None:
    true = Noise(0.7, 0.1, 0.5)
    values = true.sample(1, "x", 400, 30)
    quiet = np.ones(values.shape, dtype=bool)
    quiet[200:] = False
    values[200:] += 5.0
    values[3, 4] = np.nan
    figures = Noise.of(values, quiet)
    assert figures.mean == pytest.approx(0.7, abs=0.02)
    assert figures.sigma == pytest.approx(0.1, rel=0.05)
    assert figures.correlation == pytest.approx(0.5, abs=0.05)
    with pytest.raises(UsageError, match="too few"):
        Noise.of(values, np.zeros_like(quiet))
    with pytest.raises(UsageError, match="never changes"):
        Noise.of(np.ones_like(values), quiet)


@pytest.mark.parametrize(
    ("arl0", "delay", "options", "problem"),
    [(0.5, 5, {}, "arl0"), (1e6, 5, {}, "arl0"), (100, 0, {}, "delay"), (100, 5, {"shift": 0.0}, "must not be 0")],
)
def test_impossible_targets_are_refused(arl0: float, delay: float, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        ms.design_tripwire(arl0, delay, **options)
    with pytest.raises(UsageError, match="sigma"):
        Noise(sigma=0)


def test_design_command_writes_a_netlist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wire.malnet"
    assert main(["tripwire", "design", "--arl0", "80", "--delay", "6", "--shift", "2", "-o", str(path)]) == 0
    parse(path.read_text(encoding="utf-8"))
    assert "reached on fresh seeds" in capsys.readouterr().out
    assert main(["tripwire", "design", "--arl0", "80"]) == 2
    assert main(["tripwire", "design", "--arl0", "80", "--delay", "6", "--scenario", "x.toml"]) == 2


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


def test_design_uses_a_single_watch_if_one_is_enough(recorded: Path, tmp_path: Path) -> None:
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


def test_design_joins_two_watches_if_one_is_not_enough(recorded: Path) -> None:
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


def test_days_that_cannot_be_separated_are_reported(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No pair of levels can separate days that alternate along a falling score."""
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
    assert "these signals cannot separate these days; nearest: " in capsys.readouterr().out


def test_tripwire_can_be_designed_from_a_store_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    ("speak", "silent", "problem"), [("3:4", "2:5", "overlap"), ("x", "1", "not a span"), ("90:", "1", "no tick")]
)
def test_invalid_days_are_refused(speak: str, silent: str, problem: str, recorded: Path) -> None:
    with pytest.raises(UsageError, match=problem):
        design_from_examples(recorded, speak, silent)
