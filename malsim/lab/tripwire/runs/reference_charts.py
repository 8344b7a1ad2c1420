"""What stands beside a tripwire: CUSUM and EWMA of the first number it watches, centred and scaled by its quiet ticks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from malsim.lab.tripwire.runs.detectors import cusum, ewma
from malsim.lab.tripwire.runs.observation import wired
from malsim.lab.tripwire.runs.recorded_inputs import replay
from malsim.lab.tripwire.runs.silence import sensors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.lab.tripwire.runs.observation import Observation
    from malsim.netlist.wiring import Net
    from ops.pin import Array

__all__ = ["Charts"]

LEAST_SPREAD = 1e-3


@dataclass(frozen=True)
class Charts:
    """Charts of one signal, fitted once, to be run on any run that has it.

    Parameters
    ----------
    signal, target
        What is watched, and what stands where it has no value yet.
    nets
        Each chart by its name.
    """

    signal: str = ""
    target: float = 0.0
    nets: Mapping[str, Net] = field(default_factory=dict)

    @classmethod
    def of(cls, seen: Observation) -> Charts:
        """The charts of a run; none where nothing that is watched has a value in quiet ticks."""
        for name in sensors(wired(seen.scenario).net):
            held = _held(seen.signal(name))
            calm = held[~seen.truth & ~np.isnan(held)]
            if len(calm):
                fit = {"target": float(calm.mean()), "sigma": max(float(calm.std()), LEAST_SPREAD)}
                nets = {f"{chart.__name__.upper()} of {name}": chart(**fit) for chart in (cusum, ewma)}
                return cls(name, fit["target"], nets)
        return cls()

    def alarms(self, seen: Observation) -> dict[str, Bools]:
        """Ticks × replications of each chart's alarm on a run."""
        if not self.nets:
            return {}
        held = _held(seen.signal(self.signal))
        stream = {"x": np.where(np.isnan(held), self.target, held)}
        return {name: replay(net, stream, ["alarm"])["alarm"] for name, net in self.nets.items()}


def _held(values: Array) -> Array:
    """Values with the last known one where there is none."""
    ticks = np.arange(len(values))[:, None]
    last = np.maximum.accumulate(np.where(np.isnan(values), -1, ticks), axis=0)
    made: Array = np.where(last < 0, np.nan, np.take_along_axis(values, np.maximum(last, 0), axis=0))
    return made
