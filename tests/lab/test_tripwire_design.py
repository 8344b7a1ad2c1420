"""A tripwire from its figures: theory where there is one, the netlist on fresh seeds, what cannot be reached said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import norm

import malsim as ms
from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.lab.tripwire import statics
from malsim.lab.tripwire.runs.noise import Noise
from malsim.netlist import parse

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def design() -> Any:
    return ms.design_tripwire(150, 6, shift=2.0)


def test_the_targets_are_reached_on_fresh_seeds(design: Any) -> None:
    assert design.reached
    figures = {row["metric"]: row for row in design.evaluation.to_dicts()}
    assert figures["arl0"]["high"] >= 150
    assert figures["arl1"]["low"] <= 6
    assert "reached on fresh seeds" in str(design)


def test_a_bare_level_is_where_the_normal_law_puts_it(design: Any) -> None:
    """Independent ticks, no smoothing: ARL0 = 1 / Q(level), ARL1 = 1 / Q(level − shift)."""
    bare = design.candidates.row(0, named=True)
    assert (bare["gain"], bare["hold"]) == (1.0, 1)
    assert bare["level"] == pytest.approx(norm.isf(1 / 157.5), abs=0.08)
    assert bare["arl1"] == pytest.approx(1 / norm.sf(bare["level"] - 2), rel=0.15)


def test_the_netlist_links_and_has_no_defect(design: Any) -> None:
    assert {item.kind for item in statics(parse(design.text))} <= {"wiring"}
    design.figure.savefig("/dev/null", format="png")


def test_a_fall_is_designed_as_a_rise_turned_round() -> None:
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


def test_chatter_widens_the_band() -> None:
    noise = Noise(0.0, 1.0, 0.9)
    strict, loose = (ms.design_tripwire(100, 8, noise=noise, shift=2.0, chatter=most) for most in (0.1, 1.0))
    assert strict.hysteresis > loose.hysteresis == 0.0
    low, high = ({row["metric"]: row["value"] for row in item.evaluation.to_dicts()}["chatter"] for item in (strict, loose))
    assert low < high


def test_noise_is_estimated_from_quiet_ticks_alone() -> None:
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
    with pytest.raises(UsageError, match="never moves"):
        Noise.of(np.ones_like(values), quiet)


@pytest.mark.parametrize(
    ("arl0", "delay", "options", "says"),
    [(0.5, 5, {}, "arl0"), (1e6, 5, {}, "arl0"), (100, 0, {}, "delay"), (100, 5, {"shift": 0.0}, "without a shift")],
)
def test_targets_that_make_no_sense_are_refused(arl0: float, delay: float, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        ms.design_tripwire(arl0, delay, **options)
    with pytest.raises(UsageError, match="sigma"):
        Noise(sigma=0)


def test_the_command_writes_a_netlist_or_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wire.malnet"
    assert main(["tripwire", "design", "--arl0", "80", "--delay", "6", "--shift", "2", "-o", str(path)]) == 0
    parse(path.read_text(encoding="utf-8"))
    assert "reached on fresh seeds" in capsys.readouterr().out
    assert main(["tripwire", "design", "--arl0", "80"]) == 2
    assert main(["tripwire", "design", "--arl0", "80", "--delay", "6", "--scenario", "x.toml"]) == 2
