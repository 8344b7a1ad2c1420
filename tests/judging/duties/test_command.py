"""Tests for judging duties from the command line and in pytest, also for memories that raise errors."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from malsim.cli import main
from malsim.judging.duties import assess, check
from malsim.judging.duties.references import Append, Governed
from malsim.judging.verdict_table import ERROR, HOLDS, NOT_OFFERED
from tests.judging.duties.planted import KeepsTheSummary

if TYPE_CHECKING:
    from malsim.adapters import Query

test_governed_reference_keeps_all_duties = check(Governed)
test_expected_failure_passes = check(KeepsTheSummary, expected_failures={"F6"})

CELLS = ["--case", "change.B", "--case", "F6", "--case", "S7"]


class SaysItInWords(Append):
    """Memory whose items state their value only in the text, and whose calls are coroutines."""

    async def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:  # type: ignore[override]
        return [
            {name: part for name, part in item.items() if name in ("id", "object", "rank", "text")}
            for item in super().peek(query, now, limit)
        ]

    read = peek  # type: ignore[assignment]


class Raises(Append):
    def write(self, claims: Any, now: float) -> None:
        if len(self.claims) > 1:
            raise KeyError("no space left")
        super().write(claims, now)


class Hangs(Append):
    def tick(self, now: float) -> None:  # noqa: ARG002
        time.sleep(2.0)


class Invents(Append):
    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return [item | {"value": "never"} for item in super().peek(query, now, limit)]


class Drifts(Append):
    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        items = super().peek(query, now, limit)
        self.claims = self.claims[:-1]
        return items


class Wavers(Governed):
    """Memory whose beliefs rise with every peek, although a peek must not change a memory."""

    looks = 0

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        self.looks += 1
        return [item | {"belief": item["belief"] * (1.0 - 0.5**self.looks)} for item in super().peek(query, now, limit)]


class EndsBeforeItBegins(Governed):
    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        return [item | {"valid_from": 9.0, "valid_to": 3.0} for item in super().peek(query, now, limit)]


class HidesTexts(Governed):
    """Memory that reports no stored texts, although it stores some."""

    def texts(self) -> list[str]:
        return []


class LogsEveryDay(Governed):
    """Memory that fabricates a log with one event per hour."""

    def log(self) -> list[dict[str, Any]]:
        last = self.events[-1]
        return [last | {"event": "forget", "at": last["at"] - hours / 24.0} for hours in range(50)]


class Foresees(Governed):
    def log(self) -> list[dict[str, Any]]:
        return [{"event": "forget", "id": 1, "by": "ann", "at": 1e6}]


@pytest.mark.parametrize(
    ("memory", "cell", "parts"),
    [
        (Raises, "change.B", ["Raises: write, day 1.5, last claim: ", "raised KeyError: 'no space left'"]),
        (Hangs, "change.C", ["Hangs: tick, day 31, last claim: ", "did not return within 0.1 s"]),
        (Invents, "T2", ["Invents: peek, day 31, last claim: ", "nobody claimed; given: 'never'"]),
        (Drifts, "T2", ["Drifts: peek, day 31, last claim: ", "a peek changed the memory"]),
        (Wavers, "T2", ["Wavers: peek, day 31, last claim: ", "a peek changed the memory"]),
        (
            EndsBeforeItBegins,
            "T2",
            ["day 31, last claim: ", "returned, on day 31, an item with valid_to before valid_from", "9.0 to 3.0"],
        ),
        (LogsEveryDay, "F9", ["LogsEveryDay: log, day 11", "on a day without a call", "forget by"]),
        (Foresees, "F9", ["Foresees: log, day 11", "the log contains an event in the future"]),
    ],
)
def test_error_message_names_memory_call_day_and_claim(memory: Any, cell: str, parts: list[str]) -> None:
    (item,) = assess(memory, cell=cell, limit=0.1).verdicts
    assert item.verdict == ERROR
    assert all(part in item.why for part in parts), item.why


def test_erasure_is_vacuous_for_a_memory_without_texts() -> None:
    (item,) = assess(HidesTexts, cell="F6").verdicts
    assert item.verdict == "vacuous"


def test_error_in_one_cell_does_not_affect_other_cells() -> None:
    table = assess(Foresees)
    assert {item.name for item in table.having(ERROR)} == {"F9", "F10"}
    assert len(table.having(HOLDS)) == 54


def test_values_are_parsed_from_texts_and_coroutines_are_run() -> None:
    for cell, verdict in (("flip.A", HOLDS), ("change.A", HOLDS), ("flip.B", "fails"), ("S7", NOT_OFFERED)):
        (item,) = assess(SaysItInWords, cell=cell).verdicts
        assert (item.verdict, cell) == (verdict, cell), item.why


def test_command_prints_rows_and_writes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--junit", str(tmp_path / "duties.xml"), "--html", str(tmp_path / "duties.html"), "-o", str(tmp_path)]
    assert main(["judge", "append", "governed", *CELLS, "--json", *files]) == 1
    rows = json.loads(capsys.readouterr().out)["duties"]
    assert [(row["memory"], row["cell"], row["verdict"]) for row in rows[:4]] == [
        ("append", "change.B", "fails"), ("append", "F6", "not offered"), ("append", "S7", "vacuous"),
        ("governed", "change.B", "holds"),
    ]  # fmt: skip
    assert set(rows[0]) == {"memory", "cell", "kind", "verdict", "why", "witness"}
    assert rows[1]["why"] == "it offers no forget, texts"
    append, governed = ET.fromstring((tmp_path / "duties.xml").read_text())  # noqa: S314  # our own
    assert append.attrib == {"name": "append", "tests": "3", "failures": "1", "errors": "0", "skipped": "2"}
    assert (governed.get("failures"), "d  write object=" in (append[0][0].text or "")) == ("0", True)
    assert (tmp_path / "duties.png").read_bytes().startswith(b"\x89PNG")
    html = (tmp_path / "duties.html").read_text()
    assert html.count("<section") == 1
    assert "http" not in html
    assert main(["judge", "governed", *CELLS, "--draws", "2"]) == 0
    assert "obligations kept 0/0, prohibitions kept 3/3" in capsys.readouterr().out
    assert main(["judge", "append", "--case", "F66"]) == main(["judge", "append", "--set", "law.a=1"]) == 2
    assert main(["judge", "--list"]) == 0
    assert main(["judge", "append", "--draws", "0"]) == 2
    assert "--draws: out of bounds; given: 0; allowed: 1 or more" in capsys.readouterr().err


def test_law_store_and_user_memory_can_be_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_duties.py").write_text("from malsim.judging.duties.references import Overwrite as Last")
    entity = {"type": "entity", "name": "api", "entityType": "service", "observations": ["listens on 1", "listens on 2"]}
    (tmp_path / "memory.jsonl").write_text(json.dumps(entity) + "\n")
    names = ["own_duties:Last", "last_write", "mal"]
    assert main(["judge", *names, "--case", "change.C'", "--case", "S1", "--on", "memory.jsonl", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)["duties"]
    assert [row["verdict"] for row in rows] == ["fails", "fails", "fails", "not offered", "fails", "not offered"]
    for row in rows:
        assert row["why"].split(": ", 1)[-1].split(" must be")[0] in row["witness"] or row["verdict"] != "fails"
