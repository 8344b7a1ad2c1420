"""Tests for tuning: planted constants are recovered, and gains due to chance are not recommended."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import malsim as ms
from malsim.base.errors import MalsimError, UsageError
from malsim.cli import main
from malsim.lab.space.settings import changed
from malsim.lab.studies.measure import measured_by_running
from malsim.lab.tuning import Tuner, problems, tune
from malsim.lab.tuning.held_out import pareto_front
from malsim.lab.tuning.search import Search
from malsim.memory import Rules
from malsim.memory.law import effective

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from malsim.lab.tuning import TuningResult

Array = NDArray[np.float64]
CEILINGS = {"rules.support_ceiling": (0.0, 0.9), "rules.challenge_ceiling": (0.0, 1.0)}
PLANTED = {"rules.support_ceiling": 0.5, "rules.challenge_ceiling": 0.3}


@dataclass(frozen=True)
class Planted:
    """Tuning problem in which each claim's probability of being true is its effective confidence under known ceilings."""

    seed: int = 0
    count: int = 3000
    name: str = "planted"
    subject: Rules = field(default_factory=Rules)

    def sample(self) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        draws = np.random.default_rng(self.seed)
        stated, support, challenge = draws.uniform(0.1, 0.9, self.count), *draws.exponential(1.0, (2, self.count))
        true = draws.random(self.count) < self.worth(PLANTED, stated, support, challenge)
        return stated, support, challenge, true

    @staticmethod
    def worth(values: Mapping[str, Any], stated: Array, support: Array, challenge: Array) -> Array:
        rules = changed(Rules(), values)
        ceilings = {"support_ceiling": rules.support_ceiling, "challenge_ceiling": rules.challenge_ceiling}
        return effective(stated, np.ones_like(stated), support, challenge, **ceilings)

    def losses(self, values: Mapping[str, Any], measures: Sequence[object]) -> list[Array]:
        stated, support, challenge, true = self.sample()
        near = {name: value for name, value in values.items() if name in PLANTED}
        worth = self.worth(near, stated, support, challenge)
        by_name = {"brier": (worth - true) ** 2, "bias": np.abs(worth - 0.9)}
        return [by_name[str(item)] for item in measures]

    def halved(self, seed: int) -> tuple[Planted, Planted]:
        return self, Planted(self.seed + 1000 + seed, self.count, subject=self.subject)


def test_planted_constants_are_recovered() -> None:
    inside, rounds = np.zeros(2), 8
    for seed in range(rounds):
        result = ms.tune(Planted(seed, count=2000), space=CEILINGS, budget=96, seed=seed)
        ends = [result.interval[name] for name in PLANTED]
        inside += [low <= value <= high for (low, high), value in zip(ends, PLANTED.values(), strict=True)]
        assert max(high - low for low, high in ends) < 0.4
        assert result.recommended
        assert result.held_gain is not None
        assert result.held_out is not None
        assert result.held_gain[1] > 0.0
        assert result.loss[1] <= result.loss[0] <= result.loss[2]
        assert result.gap == result.held_out[0] - result.loss[0]
    assert (inside >= rounds - 2).all(), inside  # with 95 % coverage, P(more than 2 of 8 outside) < 0.006


def test_written_rules_contain_intervals_and_can_be_read_back(tmp_path: Path) -> None:
    result = ms.tune(Planted(), space=CEILINGS, budget=64)
    result.write(tmp_path / "rules.toml")
    read = Rules.read(tmp_path / "rules.toml")
    assert read.support_ceiling == pytest.approx(result.best["rules.support_ceiling"], abs=1e-6)
    text = (tmp_path / "rules.toml").read_text()
    assert text.count(" to ") == 2
    assert "95 % intervals" in text


def test_nothing_is_recommended_if_the_objective_is_flat() -> None:
    tuner = ms.Tuner(Planted(), space={"rules.salience_tau": (1, 90)})
    tuner.evaluate([{"rules.salience_tau": days} for days in (2.0, 20.0, 60.0)])
    result = tuner.result()
    assert not result.recommended
    assert "flat" in result.reason
    with pytest.raises(UsageError, match="nothing is recommended"):
        result.toml()


def test_tuned_constants_leave_other_settings_as_they_were() -> None:
    result = ms.tune(Planted(), space=CEILINGS | {"rules.salience_tau": (1, 90)}, budget=48)
    low, high = result.interval["rules.salience_tau"]
    assert result.recommended
    assert result.best["rules.salience_tau"] == Rules().salience_tau
    assert low <= Rules().salience_tau <= high


def test_nothing_is_recommended_if_the_gain_is_insignificant() -> None:
    optimum = Rules(support_ceiling=0.5, challenge_ceiling=0.3)
    result = ms.tune(Planted(count=60, subject=optimum), space=CEILINGS, budget=32)
    assert not result.recommended
    assert "nothing recommended" in str(result)


def test_result_does_not_depend_on_the_number_of_workers() -> None:
    alone = ms.tune(Planted(count=200), space=CEILINGS, budget=64)
    with ThreadPoolExecutor(3) as executor:
        many = ms.tune(Planted(count=200), space=CEILINGS, budget=64, executor=executor)
    assert alone.candidates.equals(many.candidates)
    assert (alone.best, alone.interval, alone.held_gain) == (many.best, many.interval, many.held_gain)


@dataclass(frozen=True)
class Noise:
    """Tuning problem with 24 random losses per point, drawn independently for each point."""

    seed: int = 0
    name: str = "noise"
    subject: Rules = field(default_factory=Rules)

    def losses(self, values: Mapping[str, Any], measures: Sequence[object]) -> list[Array]:
        key = np.array([values[name] for name in PLANTED]).view(np.uint32).tolist()
        return [np.random.default_rng([self.seed, *key]).normal(size=24) for _ in measures]

    def halved(self, seed: int) -> tuple[Noise, Noise]:
        return self, Noise(self.seed + 1000 + seed)


def test_random_objective_is_reported_as_flat() -> None:
    results = [ms.tune(Noise(seed), space=CEILINGS, budget=64) for seed in range(12)]
    assert sum("flat" in result.reason for result in results) >= 10  # P(3 or more of 12 not flat, at 4 % each) < 0.02
    assert sum(result.recommended for result in results) <= 1


def test_two_objectives_give_a_pareto_front() -> None:
    result = ms.tune(Planted(count=400), space=CEILINGS, objective=["brier", "bias"], budget=96)
    assert not result.recommended
    assert "front" in result.reason
    front = result.front.sort("loss of brier")
    assert front.height >= 5
    assert front["loss of bias"].is_sorted(descending=True)
    figure = result.figure()
    assert "brier" in figure.axes[0].get_xlabel()


def test_external_optimiser_can_drive_the_tuner() -> None:
    tuner = ms.Tuner(Planted(), space=CEILINGS, objective="brier")
    draws = np.random.default_rng(0)
    for _ in range(4):
        points = draws.random((16, 2))
        worth = tuner.evaluate([tuner.space.values(point) for point in points])
        assert len(worth) == 16
    result = tuner.result()
    assert result.candidates.height == 65
    assert result.loss[0] == pytest.approx(min(result.candidates["loss"]))
    assert result.candidates.row(0)[1:3] == (0.15, 0.6)  # the first candidate has the original settings


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=1, max_size=12))
def test_pareto_front_is_non_dominated(rows: list[list[int]]) -> None:
    losses = np.array(rows, dtype=float)
    front = pareto_front(losses)
    for row, on_front in zip(losses, front, strict=True):
        beaten = any((other <= row).all() and (other < row).any() for other in losses)
        assert on_front == (not beaten)


def test_search_refuses_unexpected_or_missing_losses() -> None:
    search = Search(1, size=4)
    numbers = [search.ask()[0] for _ in range(4)]
    with pytest.raises(UsageError, match="no loss yet"):
        search.ask()
    with pytest.raises(UsageError, match="this point is not waiting"):
        search.tell(9, 0.0)
    for number in numbers:
        search.tell(number, np.nan)
    with pytest.raises(UsageError, match="this point is not waiting"):
        search.tell(0, 0.0)
    assert search.ask()[0] == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"space": {"rules.support_ceiling": (0.0, 1.5)}}, "out of bounds"),
        ({"space": {"rules.salience_tau": (1, 90)}}, "exactly the same at every point"),
        ({"budget": 8}, "budget is too small"),
        ({"objective": "brier", "requirements": ["x > 1"]}, "cannot be combined"),
        ({"problems": []}, "nothing to tune on"),
        ({"problems": [3]}, "not a tuning problem"),
        ({"holdout": []}, "the list of held-out problems is empty"),
        ({"problems": "scenarios/mutual_dispute.toml", "objective": "brier"}, "needs facts with known truth"),
        ({"problems": "scenarios/mutual_dispute.toml", "replications": 1}, "at least two replications"),
        ({"problems": "scenarios/mutual_dispute.toml", "objective": "brir"}, "no such metric"),
    ],
)
def test_bad_arguments_for_tuning_are_refused(change: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"problems": Planted(count=20), "space": CEILINGS, "budget": 32} | change
    with pytest.raises(MalsimError, match=message):
        ms.tune(options.pop("problems"), **options)


def claims(folder: Path, *, objects: int = 40, truth: bool = True) -> Path:
    draws = np.random.default_rng(2)
    true = draws.integers(0, 2, objects)
    right = draws.random((objects, 5)) < 0.75
    rows = [f"w{w},o{o},{'yes' if right[o, w] == true[o] else 'no'},0.9" for o in range(objects) for w in range(5)]
    folder.mkdir(exist_ok=True)
    (folder / "claims.csv").write_text("writer,object,value,stated_confidence\n" + "\n".join(rows) + "\n")
    message = "".join(f"o{o},{'yes' if true[o] else 'no'}\n" for o in range(objects)) if truth else "nowhere,yes\n"
    (folder / "truth.csv").write_text("object,value\n" + message)
    return folder


def test_rules_are_tuned_on_half_of_the_objects(tmp_path: Path) -> None:
    folder = claims(tmp_path / "real")
    result = ms.tune(folder, space={"rules.challenge_ceiling": (0.1, 0.9)}, budget=32)
    assert result.candidates.height == 33
    with pytest.raises(UsageError, match="no such objective"):
        ms.tune(folder, space=CEILINGS, objective="harm", budget=32)
    with pytest.raises(UsageError, match="no object in common"):
        ms.tune(claims(tmp_path / "blind", truth=False), space=CEILINGS, budget=32)


def test_tune_command_writes_rules_and_a_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    requirements = ["always[20d:30d] (eff(obs_a1a1) >= 0.1)", "always[20d:30d] (eff(obs_b2b2) <= 0.25)"]
    words = ["tune", "scenarios/mutual_dispute.toml", "--budget", "32", "--replications", "2", "--json"]
    words += [word for text in requirements for word in ("--require", text)]
    space = ["--space", "rules.challenge_ceiling=0:1", "-o", str(tmp_path / "rules.toml")]
    assert main([*words, *space]) == 0
    message = json.loads(capsys.readouterr().out)
    assert message["recommended"]
    assert message["objectives"] == [f"worst of {', '.join(requirements)}"]
    assert -message["loss"][0] == pytest.approx(0.075, abs=0.01)  # half the distance from 0.1 to 0.25
    assert Rules.read(tmp_path / "rules.toml").challenge_ceiling == pytest.approx(
        message["best"]["rules.challenge_ceiling"], abs=1e-6
    )
    assert (tmp_path / "rules.png").is_file()
    assert main([*words, "--space", "rules.challenge_ceiling=low:high"]) == 2
    assert main([*words, "--space", "rules.challenge_ceiling"]) == 2
    assert "not a setting with a range" in capsys.readouterr().err


def test_tuning_figure_has_one_panel_per_setting() -> None:
    result = ms.tune(Planted(count=300), space=CEILINGS | {"rules.calibration": ["none", "brier"]}, budget=32)
    labels = [axes.get_xlabel() for axes in result.figure().axes]
    assert labels[0] == "rules.support_ceiling (1)"
    assert labels[2] == "rules.calibration (choice)"
    with pytest.raises(UsageError, match="a front needs"):
        result.pareto()


class Priced(Planted):
    """Tuning problem that can return its rules, so that the tuner can compute their price."""

    def under(self, values: Mapping[str, Any]) -> Rules:
        return self.subject.replace(**{name.removeprefix("rules."): value for name, value in values.items()})


def test_every_point_respects_a_bound_on_the_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in price is ten times the challenge ceiling, whose unbounded optimum is 0.3."""
    monkeypatch.setattr(problems, "price_figure", lambda rules, _: 10.0 * rules.challenge_ceiling)

    def tuned(budget: int, *keep: str) -> TuningResult:
        return tune(Priced(), space=CEILINGS, holdout=[Priced(seed=1)], budget=budget, keep=keep)

    free, result = tuned(64), tuned(64, "gap >= 5")
    assert free.best["rules.challenge_ceiling"] < 0.5 <= result.best["rules.challenge_ceiling"]
    assert result.candidates["rules.challenge_ceiling"].to_numpy().min() >= 0.5
    assert result.recommended
    late = tuned(32, "gap >= 7")  # at the original ceiling of 0.6 the price (`gap`) is only 6
    assert late.recommended
    assert "do not keep the bounds" in late.reason
    with pytest.raises(UsageError, match="no point tried satisfies"):
        tuned(32, "gap >= 11")


@pytest.mark.parametrize("text", ["gap", "gap > 3", "brier >= 1", "gap >= x"])
def test_invalid_price_bounds_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a bound on a price"):
        Tuner(Planted(), space=CEILINGS, holdout=[Planted()], keep=[text])


@pytest.mark.nightly
def test_prices_can_be_used_as_measures() -> None:
    scenario = ms.read("scenarios/poisoner.toml").replace(replications=2)
    guarded = scenario.replace(rules=Rules.guarded())
    names = ["price of the lie", "price of the truth", "gap"]
    assert [item.tolist() for item in measured_by_running(guarded, names)] == [[5.0] * 2, [2.0] * 2, [2.5] * 2]
    assert [item.tolist() for item in measured_by_running(scenario, names)] == [[1.0] * 2, [1.0] * 2, [1.0] * 2]
