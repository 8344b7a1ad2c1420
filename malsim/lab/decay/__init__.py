"""How long claims stay true, from histories, with those that still stand counted as such."""

from malsim.lab.decay.fit import Decay, fit_decay
from malsim.lab.decay.histories import histories

__all__ = ["Decay", "fit_decay", "histories"]
