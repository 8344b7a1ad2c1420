"""The tuner's table: 256 points in five dimensions, medians over 8 seeds, beside Optuna's TPE and scipy's evolution.

Run by hand: pytest -n 0 -s tests/bench/test_tuner_table.py (about a minute; wants `pip install optuna`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.optimize import Bounds, differential_evolution

from malsim.lab.tuning.search import ModelSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Loss = Callable[[NDArray[np.float64]], float]

SIZE, BUDGET, SEEDS = 5, 256, range(8)
NEAR = 1e-9  # what all call solved


class SpentError(Exception):
    """The budget is used up."""


def middle(seed: int) -> NDArray[np.float64]:
    """Where the least is: nowhere that a first design has a point."""
    return np.random.default_rng(100 + seed).uniform(0.2, 0.8, SIZE)


def quadratic(seed: int) -> Loss:
    return lambda x: float((np.arange(1, SIZE + 1) * (x - middle(seed)) ** 2).sum())


def rosenbrock(_: int) -> Loss:
    def loss(x: NDArray[np.float64]) -> float:
        at = 4.0 * x - 2.0
        return float((100.0 * (at[1:] - at[:-1] ** 2) ** 2 + (1.0 - at[:-1]) ** 2).sum())

    return loss


def rastrigin(seed: int) -> Loss:
    def loss(x: NDArray[np.float64]) -> float:
        at = 10.24 * (x - middle(seed))
        return float((at**2 - 10.0 * np.cos(2.0 * np.pi * at) + 10.0).sum())

    return loss


def ours(loss: Loss, seed: int) -> float:
    search = ModelSearch(SIZE, seed=seed, start=32)
    for _ in range(BUDGET):
        number, point = search.ask()
        search.tell(number, loss(point))
    return min(search.values.values())


def parzen(loss: Loss, seed: int) -> float:
    optuna: Any = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(lambda trial: loss(np.array([trial.suggest_float(str(k), 0, 1) for k in range(SIZE)])), n_trials=BUDGET)
    return float(study.best_value)


def evolution(loss: Loss, seed: int) -> float:
    """As scipy has it by default, until the budget is spent."""
    values: list[float] = []

    def evaluate(x: NDArray[np.float64]) -> float:
        if len(values) == BUDGET:
            raise SpentError
        values.append(loss(x))
        return values[-1]

    with pytest.raises(SpentError):
        differential_evolution(evaluate, Bounds(np.zeros(SIZE), np.ones(SIZE)), rng=seed)
    return min(values)


@pytest.mark.parametrize("make", [quadratic, rosenbrock, rastrigin])
def test_the_search_is_never_worse_than_others_on_the_same_budget(make: Callable[[int], Loss]) -> None:
    medians = {
        search.__name__: float(np.median([search(make(seed), seed) for seed in SEEDS]))
        for search in (ours, parzen, evolution)
    }
    print(f"{make.__name__:12}" + "".join(f"{name:>12} {value:<10.3g}" for name, value in medians.items()))
    assert medians["ours"] <= max(NEAR, min(medians["parzen"], medians["evolution"]))
