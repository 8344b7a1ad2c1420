"""How long claims stay true, from histories, with those that still stand counted as such."""

from malsim.lab.decay.fit import fit_decay
from malsim.lab.decay.histories import histories, restatements
from malsim.lab.decay.result import Decay

__all__ = ["Decay", "fit_decay", "histories", "restatements"]
