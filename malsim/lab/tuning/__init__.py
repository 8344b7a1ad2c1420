"""Constants from data: searched, held out, given with intervals, or not recommended at all."""

from malsim.lab.tuning.search import Search
from malsim.lab.tuning.tuned import Tuned
from malsim.lab.tuning.tuner import Tuner, tune

__all__ = ["Search", "Tuned", "Tuner", "tune"]
