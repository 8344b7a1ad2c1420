"""Constants from data: searched, held out, given with intervals, or not recommended at all."""

from malsim.lab.tuning.search import Search
from malsim.lab.tuning.tuner import Tuner, tune
from malsim.lab.tuning.tuning_result import TuningResult

__all__ = ["Search", "Tuner", "TuningResult", "tune"]
