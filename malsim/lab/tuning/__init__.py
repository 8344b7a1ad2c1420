"""Tuning: search for settings, test on held-out units, intervals, and a recommendation."""

from malsim.lab.tuning.search import Search
from malsim.lab.tuning.tuner import Tuner, tune
from malsim.lab.tuning.tuning_result import TuningResult

__all__ = ["Search", "Tuner", "TuningResult", "tune"]
