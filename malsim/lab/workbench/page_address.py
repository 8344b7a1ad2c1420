"""The state of the page in its address: the scenario, each changed setting, and what was added by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from malsim.base.errors import UsageError
from malsim.lab.workbench.changes import LAW, Tuning
from malsim.sim.settings.netlist_config import Input

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OWN = ("scenario", "netlist", "check", "input")


def query_of(tuning: Tuning, scenario: str, token: str = "") -> str:
    """Return the query of a link to a tuning: `?scenario=tripwire&rules.challenge_ceiling=0.3`."""
    words: list[tuple[str, Any]] = [(name, text) for name, text in (("token", token), ("scenario", scenario)) if text]
    words += list(tuning.values.items())
    if tuning.netlist is not None:
        words.append(("netlist", tuning.netlist))
    words += [("check", f"{check.name}: {check.property}") for check in tuning.checks]
    words += [("input", f"{one.signal}@{one.at}={one.value:g}") for one in tuning.inputs]
    return f"?{urlencode(words)}" if words else ""


def tuning_of(base: Tuning, words: Mapping[str, Sequence[str]]) -> Tuning:
    """Return a tuning with what an address says. Raises `MalsimError` for a name or a value that is refused."""
    tuning = base
    if "netlist" in words:
        tuning = replace(tuning, netlist=words["netlist"][0])
    for name in sorted(words, key=lambda name: name != LAW):
        if name not in OWN:
            tuning = tuning.with_value(name, _value(words[name][0]))
    for text in words.get("check", ()):
        name, _, property_ = text.partition(": ")
        tuning = tuning.with_check(name, property_)
    inputs = tuple(_input(text) for text in words.get("input", ()))
    return replace(tuning, inputs=inputs) if inputs else tuning


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _input(text: str) -> Input:
    signal, _, rest = text.partition("@")
    at, _, value = rest.partition("=")
    try:
        return Input(signal, int(at), float(value))
    except ValueError as error:
        raise UsageError("not an input", where="input", given=text, allowed="SIGNAL@MILLISECONDS=VALUE") from error
