"""Repetition of a recorded run from its manifest, and comparison with the recorded frames."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from malsim.base.errors import DataError
from malsim.base.files.table_files import read_table
from malsim.base.files.text_files import read_text
from malsim.memory import Rules
from malsim.scenario.file.scenario_file import parse
from malsim.sim import bench
from malsim.sim.record.manifest import digest, simd_targets, versions
from malsim.sim.run import FRAMES
from malsim.sim.settings.scenario import check_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario

TOLERANCE = 1e-12
LARGEST = 64 * 2**20
NOTHING = type(None)
WORDS = {str: "text", int: "a whole number", float: "a number", dict: "a table", list: "a list", NOTHING: "nothing"}
INVALID = "not a valid entry of a manifest"
ENTRIES: dict[str, tuple[type, ...]] = {
    "name": (str,), "path": (str, NOTHING), "scenario": (str, NOTHING), "scenario_sha256": (str, NOTHING), "rules": (dict,),
    "netlist": (dict, NOTHING), "stores": (dict, NOTHING), "seed": (int,), "days": (int, float), "turn_every_ms": (int,),
    "replications": (int,), "first": (int,), "record": (str, list), "record_every": (int,), "sha256": (dict,),
    "versions": (dict, NOTHING), "processor": (str, NOTHING), "law": (str, NOTHING), "law_settings": (dict, NOTHING),
    "adapter": (str, NOTHING), "simd": (list, NOTHING),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Rerun:
    """Repeated run, the differences between its machine and the recorded one (`other`), and the differences in each frame.

    If the machines do not differ (`other` is empty), frames are compared bit for bit, and otherwise as numbers.
    """

    run: Run
    other: tuple[str, ...]
    differences: dict[str, str]

    @property
    def exactly(self) -> bool:
        return not self.other

    @property
    def same(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        how = "bit for bit by their hashes" if self.exactly else f"numbers within {TOLERANCE:g}, everything else equal"
        why = "; ".join(self.other) or "same processor, instruction sets of numpy and versions"
        summary = f"{len(FRAMES)} frames compared {how} ({why}): {'all the same' if self.same else 'not the same'}"
        return "\n".join([summary, *(f"  {name}: {what}" for name, what in self.differences.items())])


def rerun(path: str | Path) -> Rerun:
    """Repeat the run described by a manifest, and compare its frames with the recorded ones.

    With the same processor, numpy instruction sets and versions, the hashes must be equal. Otherwise the Parquet files
    next to the manifest are compared, with a tolerance of 1e-12 for numbers. Raises `DataError` if the file is not a
    manifest or its run cannot be repeated, and `ScenarioError` if the run exceeds the limits.
    """
    path = Path(path)
    recorded = read_manifest(path)
    scenario = again(recorded, where=str(path))
    check_size(scenario)
    run = bench.run(scenario)
    other = _other_machine(recorded)
    differences, exactly = {}, not other
    for name in FRAMES:
        frame = getattr(run, name)
        if exactly and digest(frame) == recorded["sha256"].get(name):
            continue
        difference = _difference(frame, path.parent / f"{name}.parquet")
        if exactly or difference:
            differences[name] = difference or "the hash differs"
    return Rerun(run=run, other=other, differences=differences)


def _other_machine(recorded: Mapping[str, Any]) -> tuple[str, ...]:
    then, now = recorded.get("versions") or {}, versions()
    other = [f"{name} {now[name]}, recorded {then.get(name, 'none')}" for name in now if now[name] != then.get(name)]
    if recorded.get("processor") != platform.machine():
        other.append(f"processor {platform.machine()}, recorded {recorded.get('processor')}")
    if recorded.get("simd") != simd_targets():
        given = " ".join(map(str, recorded.get("simd") or ["none"]))
        other.append(f"numpy computes with {' '.join(simd_targets())}, recorded {given}")
    return tuple(other)


def again(recorded: dict[str, Any], *, where: str = "manifest") -> Scenario:
    if recorded.get("forked") is not None:
        hint, given = "repeat the original run and fork it again", f"day {recorded['forked']}"
        raise DataError("a forked run cannot be repeated", where=where, given=given, hint=hint)
    if not recorded.get("scenario"):
        hint = "only runs of scenario files can be repeated"
        raise DataError("the manifest does not contain the text of a scenario", where=where, hint=hint)
    rules = {name: value for name, value in recorded["rules"].items() if value is not None}
    if isinstance(rules.get("effective"), dict):
        raise DataError(
            "a run with your own formula cannot be repeated from its manifest",
            where=where,
            hint="repeat the run from Python",
        )
    if adapter := recorded.get("adapter"):
        hint = f"run the scenario again with malsim run --memory {adapter}"
        raise DataError(
            "a run with your own memory cannot be repeated from its manifest", where=where, given=adapter, hint=hint
        )
    record = recorded["record"]
    netlist = (recorded.get("netlist") or {}).get("text")
    file = _scenario_file(recorded, Path(where).parent)
    stores = recorded.get("stores") or {}
    scenario = parse(recorded["scenario"], name=recorded["name"], where=file, netlist=netlist, stores=stores)
    for store in set(stores) - set(scenario.initial_memory.stores if scenario.initial_memory else ()):
        hint = "run the scenario again with malsim run --from, or name the store in [memory] from"
        raise DataError("the run started from a store that its scenario does not name", where=where, given=store, hint=hint)
    return scenario.replace(
        rules=Rules.of({name: float(value) if value == "inf" else value for name, value in rules.items()}),
        law=recorded.get("law") or "mal", law_settings=recorded.get("law_settings") or {},
        seed=recorded["seed"], days=recorded["days"], turn_every=recorded["turn_every_ms"],
        replications=recorded["replications"], first=recorded["first"],
        record=tuple(record) if isinstance(record, list) else record, record_every=recorded["record_every"],
    )  # fmt: skip


def one_replication(path: str | Path, rep: int | None = None) -> Run:
    path = Path(path)
    path = path / "manifest.json" if path.is_dir() else path
    scenario = again(read_manifest(path), where=str(path))
    rep = scenario.first if rep is None else rep
    if not scenario.first <= rep < scenario.first + scenario.replications:
        allowed = f"{scenario.first} to {scenario.first + scenario.replications - 1}"
        raise DataError("no such replication", where=str(path), given=rep, allowed=allowed)
    scenario = scenario.replace(first=rep, replications=1, record="all", record_every=1)
    check_size(scenario)
    return bench.run(scenario)


def _scenario_file(recorded: Mapping[str, Any], folder: Path) -> str:
    """Return the path of the scenario file. Claims, stores and netlists are read relative to it.

    The recorded path is used only if its file has the recorded hash, because a manifest from an unknown source must not
    choose which files are read. Otherwise the file is expected next to the manifest.
    """
    path = Path(recorded.get("path") or recorded["name"])
    try:
        small = path.stat().st_size < LARGEST
        if small and hashlib.sha256(path.read_bytes()).hexdigest() == recorded.get("scenario_sha256"):
            return str(path)
    except (OSError, ValueError):
        pass
    return str(folder / "".join(path.name.split("\0"))[:100])


def _check(recorded: Mapping[str, Any], where: str) -> None:
    for name, kinds in ENTRIES.items():
        given = recorded.get(name)
        if not isinstance(given, kinds) or isinstance(given, bool):
            allowed, given = " or ".join(WORDS[kind] for kind in kinds), type(given).__name__
            raise DataError(INVALID, where=f"{where}: {name}", given=given, allowed=allowed)
    for name in ("sha256", "stores", "netlist"):
        texts = recorded.get(name) or {}
        if not all(isinstance(text, str) for text in texts.values()):
            raise DataError(INVALID, where=f"{where}: {name}", allowed="a table of strings")
    if not all(isinstance(name, str) for name in recorded["record"]):
        raise DataError(INVALID, where=f"{where}: record", allowed="all, bands, or addresses")


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a run's manifest. Raise `DataError` if the file is not a manifest."""
    hint = "give the path of a manifest.json that a run wrote"
    if not path.is_file():
        raise DataError("no such manifest", given=str(path), hint=hint)
    try:
        manifest = json.loads(read_text(path))
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError("not a JSON file", where=str(path), hint=hint) from error
    keys = {"malsim", "scenario", "rules", "seed", "days", "turn_every_ms", "replications", "first", "record", "sha256"}
    if not isinstance(manifest, dict) or keys - manifest.keys():
        raise DataError("not a run manifest", where=str(path), hint=hint)
    _check(manifest, str(path))
    return manifest


def _difference(frame: pl.DataFrame, recorded: Path) -> str:
    if not recorded.is_file() or recorded.is_symlink():
        return f"{recorded.name} is missing"
    other = read_table(recorded)
    if frame.schema != other.schema or frame.height != other.height:
        return f"{frame.height} rows and {frame.width} columns, recorded {other.height} and {other.width}"
    for name in frame.columns:
        ours, theirs = frame[name], other[name]
        if not ours.dtype.is_float():
            if not ours.equals(theirs, null_equal=True):
                return f"column {name} differs"
        elif (ours.is_null() != theirs.is_null()).any():
            return f"column {name} has values in other rows"
        else:
            numbers, recorded_numbers = ours.drop_nulls().to_numpy(), theirs.drop_nulls().to_numpy()
            differs = ~np.isclose(numbers, recorded_numbers, rtol=0.0, atol=TOLERANCE, equal_nan=True)
            if differs.any():
                gap = float(np.abs(numbers[differs] - recorded_numbers[differs]).max())
                return f"column {name} differs by up to {gap:.3g}"
    return ""
