"""The lowest loss that Optuna's TPE finds where `searches` measures the others; wants `pip install optuna`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.bench.studies.searches import BUDGET, SIZE, medians

if TYPE_CHECKING:
    from tests.bench.studies import Row
    from tests.bench.studies.searches import Loss


def rows(seed: int) -> list[Row]:
    """The median on each loss."""
    return medians(seed, tpe)


def tpe(loss: Loss, seed: int) -> float:
    """As Optuna has it by default."""
    optuna: Any = importlib.import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(lambda trial: loss(np.array([trial.suggest_float(str(k), 0, 1) for k in range(SIZE)])), n_trials=BUDGET)
    return float(study.best_value)
