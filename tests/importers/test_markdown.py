"""Import of a folder of Markdown notes: observations, and relations between notes."""

from __future__ import annotations

from pathlib import Path

from malsim.importers.building.bring import bring
from malsim.importers.reading.notes import NoteObservation, note_of
from tests.importers.samples import counts


def test_only_observation_lines_become_claims() -> None:
    note = note_of(
        "# Head\n- [port] listens on 8443 #net #prod (from the log)\n- [x] done\n- [ ] not done\n- [a](b.md) a link\n"
        "- #only #tags\n- plain item\n- relates to [[Other]] (why)\n"
        '- "depends heavily on" [[Third|named]]\n- [[Bare]]\nsee [[Inline]]\n'
        "```\n- [code] is none\n```\n",
        "n",
    )
    assert note.observations == (NoteObservation("port", "listens on 8443"), NoteObservation("Note", "#only #tags"))
    assert note.relations == (
        ("relates to", "Other"), ("depends heavily on", "Third"), ("links_to", "Bare"), ("links_to", "Inline"),
    )  # fmt: skip


def test_relations_between_notes_become_edges(tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text(
        "---\ntitle: New\n---\n- [port] 8443\n- corrects [[Old]]\n- near [[Third]]\n", encoding="utf-8"
    )
    (tmp_path / "old.md").write_text("---\ntitle: Old\n---\n- [port] 8080\n- [x1] other\n", encoding="utf-8")
    (tmp_path / "third.md").write_text(
        "---\ntitle: Third\n---\n- [a] b\n- supports [[new]]\n- see [[Gone]]\n", encoding="utf-8"
    )
    came = bring(tmp_path)
    titles = came.memory.cells["title"].to_list()
    edges = [(titles[a], word, titles[b]) for a, word, b in came.memory.edges.select("source", "relation", "target").rows()]
    assert sorted(edges) == [
        ("8443", "concerns", "b"), ("8443", "supersedes", "8080"), ("8443", "supersedes", "other"),
        ("b", "supports", "8443"),
    ]  # fmt: skip
    assert counts(came)["left out: relations to missing notes or within one note"] == "1"
    assert came.memory.cells["status"].to_list() == ["active", "superseded", "superseded", "active"]
