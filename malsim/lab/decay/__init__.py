"""Estimation of how long claims stay true, from histories in which claims that are still true are censored."""

from malsim.lab.decay.fit import fit_decay
from malsim.lab.decay.histories import histories, restatements
from malsim.lab.decay.result import Decay

__all__ = ["Decay", "fit_decay", "histories", "restatements"]
