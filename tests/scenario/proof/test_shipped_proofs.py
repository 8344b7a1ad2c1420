"""Tests that safety questions about every shipped tripwire and signal are answered as in the manual's table.

`python -m tests.scenario.proof.test_shipped_proofs` rewrites the table.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from malsim.base.errors import MalsimError
from malsim.lab.tripwire.runs.observation import alarm_of
from malsim.netlist.language.parse import parse
from malsim.netlist.shipped import catalogue
from malsim.netlist.wiring import link
from malsim.scenario.file.scenario_file import read
from malsim.scenario.proof.questions.safety import safety
from malsim.scenario.proof.ticks.cut import leaving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.netlist.wiring import Net

pytest.importorskip("z3")

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "malsim/showing/manual/validate/tripwire.md"
TABLE = re.compile(r"^\| net \| alarm \|.*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
ALARM = {"severity_ladder": "light-3"}
TRIPWIRES = (
    "tripwire", "tripwire_poisoned", "watchdog_silent_writer", "quorum_of_writers", "severity_ladder", "drift_baseline",
)  # fmt: skip
HEAD = "| net | alarm | sound | refuted | not asked, or why none was asked |\n|---|---|---|---|---|"


def nets() -> Iterator[tuple[str, Net, str]]:
    for name in TRIPWIRES:
        config = read(ROOT / "scenarios" / f"{name}.toml").netlist
        assert config is not None
        yield name, config.net, alarm_of(config.net, ALARM.get(name))
    for name, signal in catalogue().items():
        net = link(parse(signal.text))
        bits = [item for item in leaving(net) if net.signals[item].type == "bit"]
        yield name, net, "fires" if "fires" in bits else next(iter(bits), "")


def row(name: str, net: Net, alarm: str) -> str:
    if not alarm:
        return f"| {name} | | 0 | none | no bit leaves it |"
    try:
        answers = safety(net, alarm=alarm, timeout=120.0)
    except MalsimError as problem:
        return f"| {name} | `{alarm}` | 0 | none found | {problem.problem!s} |"
    count = {status: sum(item.status == status for item in answers) for status in ("sound", "not asked", "not decided")}
    flaws = "; ".join(item.question for item in answers if item.flaw) or "none"
    rest = ", ".join(f"{count[status]} {status}" for status in ("not asked", "not decided") if count[status])
    return f"| {name} | `{alarm}` | {count['sound']} | {flaws} | {rest} |"


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name, _, _ in nets()])
def test_safety_answers_match_the_table_in_the_manual(name: str) -> None:
    net, alarm = next((net, alarm) for other, net, alarm in nets() if other == name)
    assert row(name, net, alarm) in PAGE.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    text = "\n".join([HEAD, *(row(*entry) for entry in nets())])
    PAGE.write_text(TABLE.sub(lambda _: text, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
