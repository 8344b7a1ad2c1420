"""Faults in the loop, one at a time: claims lost, doubled, late or out of order, ticks lost, the clock jumping ahead."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.sim.settings.population import ClaimFault
from malsim.sim.world.clock import DAY
from malsim.sim.world.draws import Draws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from malsim.sim.settings.scenario import Scenario

HALF = 0.5
LATE = 3  # turns
LOST_TICKS = 0.3
FAULTS = {
    "lost claims": "half of the claims never arrive",
    "doubled claims": "half of the claims arrive twice",
    "late claims": "half of the claims arrive three turns late",
    "reordered claims": "every claim arrives at a random time of its turn",
    "lost ticks": "three ticks in ten are not made",
    "clock jump": "the clock jumps ahead by a tenth of the run, at two fifths of it",
}


def faulty(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    """Yield the scenario under each fault; cells that its netlist's wires begin at are never lost.

    Claims of populations suffer the noise on their lines, scripted ones draws of their own.
    """
    noise = {
        "lost claims": {"drop": HALF},
        "doubled claims": {"double": HALF},
        "late claims": {"delay": HALF, "late": LATE * scenario.turn_every / DAY},
        "reordered claims": {"reorder": 1.0},
    }
    scripted: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
        "lost claims": lambda claims: claims.filter(~_hit(scenario, "lost") | _on_wires(scenario)),
        "doubled claims": lambda claims: pl.concat([claims, claims.filter(_hit(scenario, "doubled"))]),
        "late claims": lambda claims: claims.with_columns(
            t=pl.col("t") + _hit(scenario, "late").cast(pl.Float64) * (LATE * scenario.turn_every / DAY)
        ),
        "reordered claims": lambda claims: claims.with_columns(t=_anywhere(scenario)),
    }
    for name, shares in noise.items():
        lines = tuple(ClaimFault(population=item.name, noise=shares) for item in scenario.writers)
        claims = scripted[name](scenario.claims) if scenario.claims.height else scenario.claims
        yield name, replace(scenario, claims=claims, faults=(*scenario.faults, *lines))
    turns = scenario.turns
    missing = np.flatnonzero(_draws(scenario).uniform("tick", rep=0, turn=np.arange(turns - 1)) < LOST_TICKS) + 1
    yield "lost ticks", replace(scenario, gaps=scenario.gaps + tuple(_gap(scenario, item, 1) for item in missing.tolist()))
    jump = _gap(scenario, max(1, 2 * turns // 5), max(1, turns // 10))
    yield "clock jump", replace(scenario, gaps=(*scenario.gaps, jump))


def _draws(scenario: Scenario) -> Draws:
    return Draws(scenario.seed, "fault matrix")


def _gap(scenario: Scenario, turn: int, count: int) -> tuple[int, int]:
    return turn * scenario.turn_every, (turn + count - 1) * scenario.turn_every + 1


def _hit(scenario: Scenario, purpose: str) -> pl.Series:
    return pl.Series(_draws(scenario).uniform(purpose, rep=0, member=np.arange(scenario.claims.height)) < HALF)


def _on_wires(scenario: Scenario) -> pl.Series:
    handles = [path.handle for _, path in scenario.netlist.net.paths] if scenario.netlist else []
    return scenario.claims["handle"].is_in(handles).fill_null(value=False)


def _anywhere(scenario: Scenario) -> pl.Series:
    turn = scenario.turn_every / DAY
    position = _draws(scenario).uniform("place", rep=0, member=np.arange(scenario.claims.height))
    return (scenario.claims["t"] / turn).floor() * turn + pl.Series(position) * turn
