"""Addresses that cross edges, name versions or reduce many values to one, read off a run's frames and its graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from malsim.errors import AddressError, ScenarioError
from malsim.netlist.evaluate import Frames, evaluate
from malsim.scenario.properties.build import REDUCERS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["crosses", "evaluated", "pins_of"]


def crosses(address: str) -> bool:
    """Whether an address needs more than one row of a frame.

    >>> crosses("mean(dec_a3ee.~supports.*-scores-eff)"), crosses("dec_a3ee@v2-scores-eff"), crosses("dec_a3ee-scores-eff")
    (True, True, False)
    """
    return re.search(r"[*@~]|^[a-z]+_\w+\.", address) is not None or address.partition("(")[0] in REDUCERS


def pins_of(run: object) -> Mapping[str, str]:
    """The signal on each pin of a run's netlist."""
    netlist = getattr(getattr(run, "scenario", None), "netlist", None)
    return netlist.pins if netlist else {}


def evaluated(address: str, run: object, frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """What an address comes to, one row a tick and replication: t, rep, value.

    Raises
    ------
    ScenarioError
        For a run that kept no graph, or an address that names nothing or many values.
    """
    memory = getattr(run, "memory", None)
    if memory is None:
        raise ScenarioError("frames hold no edges to follow", given=address, hint="read it through a netlist signal")
    edges = Frames.of(memory).edges
    try:
        values = evaluate(address, Frames(frames["cells"], edges, frames["writers"], frames["signals"], pins_of(run)))
    except AddressError as error:
        raise ScenarioError(error.problem, given=error.given or address, allowed=error.allowed, hint=error.hint) from error
    if values["value"].dtype == pl.List or "row" in values.columns:
        hint = "reduce them: mean(…), max(…), share(…)"
        raise ScenarioError("many values stand at this address", given=address, hint=hint)
    return values
