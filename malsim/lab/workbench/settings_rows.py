"""Rows of the workbench's settings panel, built from a scenario's settings and grouped."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from malsim.lab.space.settings import settings_of
from malsim.laws import shipped_laws
from malsim.memory import Rules

if TYPE_CHECKING:
    from malsim.lab.space.setting import Setting
    from malsim.sim.settings.scenario import Scenario

ENDLESS = 1e6  # a bound of larger magnitude counts as infinite
WIDE = 200.0  # a slider is logarithmic if the ratio of its ends is at least this large
FIRST = (
    "support_ceiling", "challenge_ceiling", "damping", "confidence_cap", "currency_floor", "calibration_floor",
    "salience_floor", "tau_stable", "tau_volatile", "tau_ephemeral", "salience_tau", "calibration",
)  # fmt: skip
RUN = ("run.days", "run.turn_every", "seed", "run.replications")
TITLES = {
    "law": "Parameters of the law", "netlist": "Ops of the netlist", "facts": "Facts", "writers": "Writers",
    "reader": "Reader", "reviewers": "Reviewers", "faults": "Faults",
}  # fmt: skip


def setting_groups(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the settings as groups of rows with name, label, value, unit, choices, slider range and description."""
    about = {
        f"rules.{rule.name}": f"{rule.metadata.get('why', '')}. Default: {rule.default}. "
        f"Source: {rule.metadata.get('source', '')}."
        for rule in fields(Rules)
    }
    settings = settings_of(scenario)
    rows = {name: _row(setting, about.get(name, "")) for name, setting in settings.items() if name != "run.first"}
    ceilings = [f"rules.{name}" for name in FIRST if f"rules.{name}" in rows]
    groups = [("Ceilings, floors and time constants", ceilings, True), ("Run", [name for name in RUN if name in rows], True)]
    for prefix, title in TITLES.items():
        names = [name for name in rows if name.startswith(f"{prefix}.")]
        groups.append((title, names, prefix in ("law", "netlist")))
    listed = {name for _, names, _ in groups for name in names}
    groups.append(("More rules", [name for name in rows if name not in listed], False))
    rows_by_group: list[dict[str, Any]] = [
        {"title": title, "rows": [rows[name] for name in names], "open": opened} for title, names, opened in groups
    ]
    laws = list(shipped_laws())
    choices = laws if scenario.law in laws else [scenario.law]
    text = "law: the rule by which the memory scores its claims; `malsim laws` lists them"
    law = {"name": "law", "label": "law", "value": scenario.law, "unit": "", "choices": choices, "about": text}
    rows_by_group[1]["rows"].insert(0, law)
    return [group for group in rows_by_group if group["rows"]]


def _row(setting: Setting, about: str) -> dict[str, Any]:
    label = setting.name.partition(".")[2] or setting.name
    text = f"{setting.name}: {about} Allowed: {setting.allowed}."
    row = {"name": setting.name, "label": label, "value": setting.value, "unit": setting.unit, "about": text}
    if setting.choices:
        return row | {"choices": list(setting.choices)}
    low, high = reach(setting)
    ends = {"from": low, "to": high, "log": low > 0 and high / low > WIDE}
    return row | {"choices": [], "whole": setting.whole, "value": float(setting.value), **ends}


def reach(setting: Setting) -> tuple[float, float]:
    """Return the slider range of a setting. A practically infinite bound is replaced with a multiple of the value."""
    value = float(setting.value)
    size = abs(value) or 1.0
    low, high = setting.low, setting.high
    if high > ENDLESS or not math.isfinite(high):
        high = max(10.0 * size, value)
    if low < -ENDLESS or not math.isfinite(low):
        low = min(-2.0 * size, value)
    if setting.above or setting.name == "run.days":
        low = max(low, size / 100.0) if high / size >= 1.0 and setting.high > ENDLESS else low + 0.01 * (high - low)
    if setting.whole:
        low, high = math.ceil(low), max(math.floor(high), math.ceil(low) + 1)
    return (min(low, value), max(high, value)) if math.isfinite(value) else (low, high)
