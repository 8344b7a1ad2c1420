"""Reference charts beside a tripwire: CUSUM and EWMA of the first number it watches, scaled by its quiet ticks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.lab.tripwire.runs.detectors import cusum, ewma
from malsim.lab.tripwire.runs.observation import netlist_of
from malsim.lab.tripwire.runs.recorded_inputs import replay
from malsim.lab.tripwire.runs.silence import sensors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.lab.tripwire.boolean.machine import Bools
    from malsim.lab.tripwire.runs.observation import Observation
    from malsim.netlist.wiring import Net
    from ops.pin import Array

LEAST_SPREAD = 1e-3


@dataclass(frozen=True)
class Charts:
    """Charts of one signal, fitted once, to be run on any run that has it.

    Parameters
    ----------
    signal, target
        What is watched, and the value where it has none yet.
    nets
        Each chart by its name.
    """

    signal: str = ""
    target: float = 0.0
    nets: Mapping[str, Net] = field(default_factory=dict)

    @classmethod
    def of(cls, base: Observation) -> Charts:
        """The charts of a run; none where nothing that is watched has a value in quiet ticks."""
        for name in sensors(netlist_of(base.scenario).net):
            values = _filled_forward(base.signal(name))
            calm = values[~base.truth & ~np.isnan(values)]
            if len(calm):
                fit = {"target": float(calm.mean()), "sigma": max(float(calm.std()), LEAST_SPREAD)}
                nets = {f"{chart.__name__.upper()} of {name}": chart(**fit) for chart in (cusum, ewma)}
                return cls(name, fit["target"], nets)
        return cls()

    def alarms(self, observation: Observation) -> dict[str, Bools]:
        """Ticks × replications of each chart's alarm on a run."""
        if not self.nets:
            return {}
        values = _filled_forward(observation.signal(self.signal))
        stream = {"x": np.where(np.isnan(values), self.target, values)}
        return {name: replay(net, stream, ["alarm"])["alarm"] for name, net in self.nets.items()}


def _filled_forward(values: Array) -> Array:
    return pl.from_numpy(values).fill_nan(None).fill_null(strategy="forward").to_numpy()
