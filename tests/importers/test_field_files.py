"""Import of flawed files: double encoding, damaged or joined lines, and deletions that name no item."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from malsim.importers.building.bring import bring

ORLA = '{"type":"entity","name":"Orla","entityType":"person","observations":["works nights"]}'
SHED = '{"type":"entity","name":"shed","entityType":"place","observations":["has two locks"]}'


def _titles(path: Path, text: str) -> tuple[list[str], dict[str, str]]:
    path.write_text(text, encoding="utf-8")
    came = bring(path)
    return came.memory.cells["title"].to_list(), dict(came.report.select("item", "count").rows())


@pytest.mark.parametrize(
    ("text", "titles", "unreadable"),
    [
        (f'{ORLA}rks nights"]}}\n{SHED}\n', ["has two locks"], "1"),
        (f"{ORLA}{SHED}", ["works nights", "has two locks"], None),
        (f"{ORLA} {SHED}\n{ORLA[:40]}\n", ["works nights", "has two locks"], "1"),
        (f"[{ORLA}, {SHED}]", ["works nights", "has two locks"], None),
        (f"\ufeff{ORLA}\n{SHED}\n", ["works nights", "has two locks"], None),
        (ORLA.replace('"works nights"', '{"content": "works nights", "time": 1}'), ["works nights"], None),
        (ORLA.replace('"works nights"', "") + "\n" + SHED, ["has two locks"], None),
    ],
)
def test_damaged_lines_are_skipped_and_counted(tmp_path: Path, text: str, titles: list[str], unreadable: str | None) -> None:
    imported, report = _titles(tmp_path / "memory.jsonl", text)
    assert imported == titles
    assert report.get("left out: unreadable lines") == unreadable


def test_twice_encoded_letta_file_has_the_same_claims(tmp_path: Path) -> None:
    blocks = [{"id": "b", "label": "human", "value": "Name: Ines.\nWorks nights."}]
    agents = [{"id": "a", "name": "clerk", "block_ids": ["b"], "messages": []}]
    plain = json.dumps({"agents": agents, "blocks": blocks, "tools": []}, indent=2)
    expected = ["Name: Ines.", "Works nights."]
    assert _titles(tmp_path / "a.af", plain)[0] == _titles(tmp_path / "b.af", json.dumps(plain))[0] == expected


@pytest.mark.parametrize(
    ("writer", "statuses", "unnamed"), [("ines", ["annexed", "active"], None), ("agent", ["active"] * 2, "1")]
)
def test_deletion_without_item_annexes_earlier_claims_of_writer(
    tmp_path: Path, writer: str, statuses: list[str], unnamed: str | None
) -> None:
    lines = [
        {"t": 0.0, "event": "write", "item": "m1", "object": "Ines", "value": "works nights", "writer": "ines"},
        {"t": 0.1, "event": "delete", "writer": writer, "tool": "delete_all_memories"},
        {"t": 0.2, "event": "write", "item": "m2", "object": "Ines", "value": "has a dog", "writer": "ines"},
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    came = bring(path)
    assert came.memory.cells["status"].cast(str).to_list() == statuses
    assert dict(came.report.select("item", "count").rows()).get("deletions without an item that annexed nothing") == unnamed


def test_second_front_matter_block_and_dates_of_notes_are_read(tmp_path: Path) -> None:
    (tmp_path / "double.md").write_text("---\npermalink: p\n---\n\n---\ntitle: Pump\n---\n- [port] 8443\n", encoding="utf-8")
    (tmp_path / "day.md").write_text(
        '---\ntitle: day\ndate: "2026-05-26"\n---\n- [log] crates came\n- for [[Pump]]\n', "utf-8"
    )
    came = bring(tmp_path)
    assert set(came.memory.cells["object"]) == {"Pump", "day"}
    assert (came.start, came.memory.edges.height) == ("2026-05-26", 1)


def test_empty_import_is_reported(tmp_path: Path) -> None:
    (tmp_path / "memory.jsonl").write_text(ORLA.replace('"works nights"', ""), encoding="utf-8")
    assert str(bring(tmp_path / "memory.jsonl")).startswith("nothing was imported: the source contains no claims")
