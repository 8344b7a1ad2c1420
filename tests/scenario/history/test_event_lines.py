"""Any memory that logs a line an event can be judged and watched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from malsim.base.errors import DataError
from malsim.cli import main
from malsim.scenario.history.log_history import log_history, read_log
from malsim.scenario.properties import check
from malsim.sim.settings.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

GOOD: list[dict[str, Any]] = [
    {"t": 0, "event": "write", "item": "m1", "object": "pump", "value": "A", "writer": "ann", "rank": 1, "belief": 0.8},
    {"t": 1, "event": "write", "item": "m2", "object": "pump", "value": "B", "writer": "bob", "rank": 2, "belief": 0.9},
    {"t": 2, "event": "read", "item": "m2", "belief": 0.95},
    {"t": 3, "event": "write", "item": "m1", "value": "A", "belief": 0.7},
    {"t": 4, "event": "delete", "item": "m2"},
    {"t": 5, "event": "tick"},
]
CHECKS = """
why = "What the log must show."
[[check]]
name = "ahead"
property = "always (eff(m1) >= 0.5)"
[[check]]
name = "deleted"
property = "eventually at event(delete, m2)"
[[check]]
name = "rivals"
property = "eventually (rivals(pump) == 0)"
"""


def logged(path: Path, lines: list[dict[str, Any]], end: str = "") -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + end, encoding="utf-8")
    return path


def test_an_item_is_as_its_last_line_left_it(tmp_path: Path) -> None:
    history = log_history(logged(tmp_path / "log.jsonl", GOOD), Scenario(), objects=True)
    rows = history.cells.filter(history.cells["cell"] == "m2").select("t", "effective", "status", "object").rows()
    assert rows == [
        (1.0, 0.9, "active", "pump"), (2.0, 0.95, "active", "pump"), (3.0, 0.95, "active", "pump"),
        (4.0, 0.95, "superseded", "pump"), (5.0, 0.95, "superseded", "pump"),
    ]  # fmt: skip
    assert check("always[4d:5d] (belief(pump) == 0.7)", history).passed
    assert check("eventually (m2-rank == 2)", history).passed


@pytest.mark.parametrize(
    ("axiom", "code"),
    [("bounds", 0), ("read-idempotence", 1), ("consistency", 1), ("truth-may-return", 0), ("peek", 2), ("anchor", 2)],
)
def test_axioms_are_asked_of_it(axiom: str, code: int, tmp_path: Path) -> None:
    checks = f'why = "w"\n[[check]]\nname = "a"\naxiom = "{axiom}"\n'
    (tmp_path / "checks.toml").write_text(checks, encoding="utf-8")
    log = logged(tmp_path / "log.jsonl", GOOD)
    assert main(["test", "--events", str(log), str(tmp_path / "checks.toml")]) == code


def test_a_line_cut_short_is_counted_and_read_when_it_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "checks.toml").write_text(CHECKS, encoding="utf-8")
    log = logged(tmp_path / "log.jsonl", GOOD, end='{"t": 6, "event": "wri')
    asked = ["watch", "--events", str(log), "--checks", str(tmp_path / "checks.toml"), "--once"]
    assert main(asked) == 0
    assert "1 line cut short at its end was left out" in capsys.readouterr().err
    with log.open("a", encoding="utf-8") as file:
        file.write('te", "item": "m1", "belief": 0.2}\n')
    assert main(asked) == 1
    assert (
        "fail: ahead: replication 0, day 6: expected eff(m1) >= 0.5, got eff(m1) = 0.2; margin -0.3"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "not a JSON object"),
        ("nonsense", "not a JSON object"),
        ('{"t": "now", "event": "write"}', "t is no finite number"),
        ('{"t": 1e300, "event": "write"}', "t is no finite number"),
        (f'{{"t": 9, "event": "write", "rank": {10**400}}}', "rank is no finite number"),
        ('{"t": 9, "event": "write", "item": "m1", "belief": NaN}', "belief is no finite number"),
        ('{"t": 9}', "no word for the event"),
        ('{"t": 1, "event": "tick"}', "time runs backwards"),
        ('{"t": 9, "event": "write", "item": {}}', "item is no text or number"),
        ('{"t": 9, "event": "write", "item": "m 1"}\n{"t": 9, "event": "write", "item": "m-1"}', "two items of one address"),
    ],
)
def test_a_bad_line_is_named_by_its_number(line: str, said: str, tmp_path: Path) -> None:
    log = logged(tmp_path / "log.jsonl", GOOD, end=line + "\n")
    with pytest.raises(DataError, match=said) as problem:
        read_log(log)
    assert f"log.jsonl:{len(GOOD) + 1 + line.count(chr(10))}" in str(problem.value)
