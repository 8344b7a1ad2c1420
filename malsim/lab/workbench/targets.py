"""Files that the workbench opens: scenarios, netlists, claims and stores, by path or by the name of an example."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from malsim import api
from malsim.base.errors import UsageError, nearest
from malsim.base.files.paths import inside
from malsim.examples import root
from malsim.memory.tables.connect import is_store
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
    """Return the path of a shipped scenario by name. Raises `UsageError` with similar names."""
    names = {path.stem: path for path in (root() / "scenarios").glob("*.toml")}
    if name not in names:
        raise UsageError("no such example", where="scenario", given=name, hint=nearest(name, names, "see the gallery"))
    return names[name]


def path_of_name(name: str, folder: Path) -> Path:
    """Return the path that an address names: a file below the folder, or else a shipped scenario."""
    if "/" in name or "." in name:
        path = inside(folder, name, where="scenario")
        if path.is_file():
            return path
    return example_path(name)


def name_below(path: Path, folder: Path) -> str:
    """Return the name of a path relative to the folder, as used in addresses; empty for a path elsewhere.

    >>> name_below(Path("scenarios/tripwire.toml"), Path())
    'scenarios/tripwire.toml'
    """
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return ""


def holds_store(path: str | Path) -> bool:
    return Path(path).is_file() and is_store(Path(path))


def scenario_of_path(path: str | Path, *, allow_code: bool = False) -> Scenario:
    """Return the scenario of a file: the scenario itself, a netlist run for 30 days, or claims in order of arrival.

    Raises `MalsimError` for a file that cannot be read, and `UsageError` for more than 3,000 claims.
    """
    path = Path(path)
    if path.suffix == ".malnet":
        netlist = NetlistConfig(document=read_netlist(path))
        return Scenario(name=path.stem, why=f"The netlist {path.name}.", days=DAYS, netlist=netlist, path=str(path))
    if path.suffix != ".toml" and path.name.endswith(KINDS):
        return _of_claims(path)
    return api.read(path, allow_code=allow_code)


def _of_claims(path: Path) -> Scenario:
    """Return a scenario in which the claims of a file arrive at their own times, or 1 % per day without times."""
    claims = read_claims(path).claims
    if claims.height > MOST_CLAIMS:
        hint = "malsim compare reads longer files"
        allowed = f"at most {MOST_CLAIMS}"
        raise UsageError("too many claims for a live page", where=str(path), given=claims.height, allowed=allowed, hint=hint)
    stream = arranged(claims, seed=0)
    admitted = claims_to_admit(stream, disputes(stream, mutual=False))
    last = float(stream["t"].max() or 0.0)  # type: ignore[arg-type]  # polars types the most of any column
    return Scenario(name=path.stem, why=f"The claims of {path.name}.", days=max(last, 1.0) + 1.0, claims=_spread(admitted))


def _spread(claims: pl.DataFrame) -> pl.DataFrame:
    return claims.with_columns(pl.int_range(pl.len()).over("writer").alias("sequence"), rep=pl.lit(0, pl.Int32))
