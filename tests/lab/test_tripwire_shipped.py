"""Every shipped scenario with a tripwire trips it on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

import malsim as ms
from malsim.netlist.language.lexicon import ALARMS
from malsim.netlist.shipped import catalogue
from malsim.scenario.file.scenario_file import read

SCENARIOS = Path(__file__).parents[2] / "scenarios"
ALARM = {"severity_ladder": "light-3", "drift_baseline": "drifted"}
TRIPWIRES = [
    "tripwire",
    "tripwire_poisoned",
    "watchdog_silent_writer",
    "quorum_of_writers",
    "severity_ladder",
    "drift_baseline",
]
STORIES = {"liar_from_day_20"}  # a picture of the loop; its alarm is no tripwire for others to use


def test_no_tripwire_is_shipped_without_its_dead_man_test() -> None:
    for path in sorted(SCENARIOS.glob("*.toml")):
        wires = read(path).netlist
        instances = wires.net.instances.items() if wires else ()
        standing = catalogue()  # these are tripped in tests of their own
        ops = {item.sheet.name for name, item in instances if name.partition(".")[0] not in standing}
        if ops & {*ALARMS, "watchdog"} and path.stem not in STORIES:
            assert path.stem in TRIPWIRES, path.stem


@pytest.mark.parametrize("name", TRIPWIRES)
def test_it_is_tripped_on_purpose_in_every_replication(name: str) -> None:
    scenario = read(SCENARIOS / f"{name}.toml")
    scenario = scenario.replace(replications=min(scenario.replications, 4))
    scorecard = ms.validate(None, scenario, alarm=ALARM.get(name), mutate=False, faults=False)
    assert scorecard.receipt.tests
    assert scorecard.receipt.last_test is not None
    missed = scorecard.scores.row(3, named=True)
    assert (missed["metric"], missed["value"]) == ("missed", 0.0)


def test_nan_blinds_everything_downstream() -> None:
    """Before the first claim the least of no cells is NaN, and a smooth that nobody reloads keeps it for ever."""
    scenario = read(SCENARIOS / "tripwire_poisoned.toml").replace(replications=6, days=12)
    assert scenario.netlist is not None
    text = scenario.netlist.text.replace(" calm.load", "")
    assert text != scenario.netlist.text
    scorecard = ms.validate(text, scenario, mutate=False, faults=False)
    assert scorecard.receipt.verdict == "blind: its inputs went stale (steady), so its silence says nothing"
    assert scorecard.receipt.ends_blind
