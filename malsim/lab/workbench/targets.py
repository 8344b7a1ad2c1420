"""Opening of scenarios, netlists and files of claims, by path or by the name of an example."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from malsim import api
from malsim.base.errors import UsageError, nearest
from malsim.base.files.paths import inside
from malsim.examples import root
from malsim.netlist import read as read_netlist
from malsim.sim.replay.disputes import disputes
from malsim.sim.replay.feed import arranged, claims_to_admit
from malsim.sim.settings.netlist_config import NetlistConfig
from malsim.sim.settings.scenario import Scenario
from malsim.sim.writers.engine.claim_files import read_claims

MOST_CLAIMS = 3_000
DAYS = 30.0
KINDS = (".toml", ".malnet", ".csv", ".csv.gz", ".parquet", ".ndjson", ".jsonl")


def example_path(name: str) -> Path:
    """Return the path of a shipped scenario. Raises `UsageError` for an unknown name."""
    names = {path.stem: path for path in (root() / "scenarios").glob("*.toml")}
    if name not in names:
        raise UsageError("no such example", where="scenario", given=name, hint=nearest(name, names, "see the gallery"))
    return names[name]


def path_of_name(name: str, folder: Path) -> Path:
    """Return the file of this name below `folder`, or the shipped scenario of this name."""
    if "/" in name or "." in name:
        path = inside(folder, name, where="scenario")
        if path.is_file():
            return path
    return example_path(name)


def scenario_of_path(path: str | Path, *, allow_code: bool = False) -> Scenario:
    """Return the scenario of a file, a scenario that runs a netlist for 30 days, or one that replays claims.

    Raises `MalsimError` for a file that cannot be read, and `UsageError` for more than 3,000 claims.
    """
    path = Path(path)
    if path.suffix == ".malnet":
        netlist = NetlistConfig(document=read_netlist(path))
        return Scenario(name=path.stem, why=f"The netlist {path.name}.", days=DAYS, netlist=netlist, path=str(path))
    if path.suffix != ".toml" and path.name.endswith(KINDS):
        return _scenario_of_claims(path)
    return api.read(path, allow_code=allow_code)


def _scenario_of_claims(path: Path) -> Scenario:
    """Return a scenario in which the claims of a file arrive at their recorded times, or 1 % per day without times."""
    claims = read_claims(path).claims
    if claims.height > MOST_CLAIMS:
        hint, allowed = "use malsim compare for longer files", f"at most {MOST_CLAIMS}"
        raise UsageError("too many claims for a live page", where=str(path), given=claims.height, allowed=allowed, hint=hint)
    stream = arranged(claims, seed=0)
    admitted = claims_to_admit(stream, disputes(stream, mutual=False))
    last = float(stream["t"].max() or 0.0)  # type: ignore[arg-type]  # polars types the most of any column
    sequence = pl.int_range(pl.len()).over("writer").alias("sequence")
    claims = admitted.with_columns(sequence, rep=pl.lit(0, pl.Int32))
    return Scenario(name=path.stem, why=f"The claims of {path.name}.", days=max(last, 1.0) + 1.0, claims=claims)
