"""Manifest of a run, with everything needed to repeat the run and to check that its frames are the same."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from malsim.base.screen import redacted
from malsim.base.user_formula import UserFormula

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory import Rules
    from malsim.sim.settings.scenario import Scenario

_PACKAGES = ("malsim", "numpy", "polars", "scipy", "simpy")


def manifest(scenario: Scenario, frames: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    netlist = None
    if scenario.netlist is not None:
        text, name = scenario.netlist.text, scenario.netlist.document.name
        netlist = {"name": name, "text": redacted(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    forked = {} if scenario.forked is None else {"forked": scenario.forked}
    return {
        "malsim": 1, "name": scenario.name, "path": scenario.path, "scenario": redacted(scenario.text),
        "scenario_sha256": hashlib.sha256(scenario.text.encode()).hexdigest(), "netlist": netlist,
        "stores": dict(scenario.initial_memory.stores) if scenario.initial_memory else {},
        "law": scenario.law, "law_settings": dict(scenario.law_settings),
        "adapter": scenario.adapter.name if scenario.adapter else None, "rules": constants(scenario.rules), **forked,
        "seed": scenario.seed, "days": scenario.days, "turn_every_ms": scenario.turn_every,
        "replications": scenario.replications, "first": scenario.first, "record": scenario.record,
        "record_every": scenario.record_every, "versions": versions(), "processor": platform.machine(),
        "simd": simd_targets(), "rows": {name: frame.height for name, frame in frames.items()},
        "sha256": {name: digest(frame) for name, frame in frames.items()},
    }  # fmt: skip


def versions() -> dict[str, str]:
    by_name = {}
    for name in _PACKAGES:
        try:
            by_name[name] = version(name)
        except PackageNotFoundError:
            by_name[name] = "not installed"
    return by_name | {"python": platform.python_version()}


def simd_targets() -> list[str]:
    """Return the SIMD instruction sets that numpy uses on this machine. They affect the last bit of `tanh` and `exp`."""
    extensions = cast("dict[str, list[str]]", np.show_config(mode="dicts")["SIMD Extensions"])
    return [*extensions.get("baseline", []), *extensions.get("found", [])]


def digest(frame: pl.DataFrame) -> str:
    """Return the SHA-256 of a frame's column names, types and values, bit for bit. List columns are not supported."""
    kinds = ", ".join(f"({name!r}, {kind!r})" for name, kind in frame.schema.items())
    # spelt out, because the repr of a schema differs between Python versions
    sha = hashlib.sha256(f"Schema([{kinds}])".encode())
    for column in frame.get_columns():
        sha.update(column.is_null().to_numpy().tobytes())
        values = column.drop_nulls()  # nulls are dropped because their bytes are undefined
        if values.dtype == pl.String:
            sha.update(values.str.join("").item().encode())
            values = values.str.len_bytes()
        sha.update(values.to_physical().to_numpy().tobytes())
    return sha.hexdigest()


def constants(rules: Rules) -> dict[str, Any]:
    by_name: dict[str, Any] = {rule.name: getattr(rules, rule.name) for rule in dataclasses.fields(rules)}
    if callable(rules.effective):
        by_name["effective"] = _formula(rules.effective)
    return {name: str(value) if value in (float("inf"), float("-inf")) else value for name, value in by_name.items()}


def _formula(function: Any) -> dict[str, str]:
    if isinstance(function, UserFormula) and function.source:
        sha = hashlib.sha256(function.source.encode()).hexdigest()
        return {"source": function.source, "sha256": sha, "values": json.dumps(dict(function.values))}
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = repr(getattr(function, "__qualname__", function))
    return {"source": source, "sha256": hashlib.sha256(source.encode()).hexdigest()}
