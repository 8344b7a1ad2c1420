"""Writers that replay the claims of a file at the recorded times, identically in every replication.

value, writer, time and stated confidence = those in the file's line; without times, one claim every step days

The file is a claim file (CSV, Parquet or NDJSON; columns writer, object, value, and optionally time, stated_confidence).
Its objects must be facts of the scenario, and its values must be values of these facts.
"""

from pathlib import Path

import numpy as np
import polars as pl

from malsim.base.errors import ScenarioError
from malsim.base.parameters import Param
from malsim.sim.world import Fact
from malsim.sim.world.clock import DAY
from malsim.sim.writers.engine.claim_context import Script
from malsim.sim.writers.engine.claim_files import read_claims

path = Param("", "file", "claim file in the scenario's folder")
step = Param(1.0, "d", "time between two claims, if the file has no times", 0.0, 1e6)
default_confidence = Param(0.7, "1", "stated confidence for lines that give none", 0.01, 1.0)


def script(facts: tuple[Fact, ...], *, path: str, step: float, default_confidence: float, folder: str) -> Script:
    claims = read_claims(Path(folder) / path, default_confidence=default_confidence).claims
    indices = {
        (fact.name, word): (index, value)
        for index, fact in enumerate(facts)
        for value in range(len(fact.values))
        for word in (fact.label(value), str(fact.values[value]))
    }
    pairs = [indices.get(pair) for pair in claims.select("object", "value").rows()]
    if None in pairs:
        line, name, value = claims.select("line", "object", "value").row(pairs.index(None))
        where, given = f"{path}: line {line}", f"{name} = {value}"
        raise ScenarioError("no such fact or value", where=where, given=given, hint="add it under [[facts]]")
    fact, value = np.array(pairs, dtype=np.int64).T
    dated = claims["time"].null_count() == 0
    days = claims["time"].to_numpy() if dated else np.arange(claims.height) * step
    return Script.of(
        writers=claims["writer"], t=np.rint(days * DAY).astype(np.int64), fact=fact, value=value,
        stated=claims["confidence"].cast(pl.Float64).to_numpy(),
    )  # fmt: skip
