"""Folders of notes: what a line is, and the history that git keeps, read without obeying anything that a repository says."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from malsim.importers.building.bring import bring
from malsim.importers.reading.notes import NoteObservation, note_of

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.importers.building.assemble import ImportedMemory

HEAD = "---\ntitle: Port\n---\n"


class Repository:
    """A git repository that several people commit to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        tried = self.git("init", "-q", check=False)
        if tried.returncode:
            pytest.skip(f"git cannot make a repository here: {tried.stderr.strip()}")

    def git(
        self, *arguments: str, check: bool = True, given: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        outer = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env = (
            outer | {"GIT_CONFIG_GLOBAL": str(self.folder.parent / "no_config"), "GIT_CONFIG_NOSYSTEM": "1"} | (given or {})
        )
        return subprocess.run(["git", *arguments], cwd=self.folder, env=env, check=check, capture_output=True, text=True)  # noqa: S607

    def commit(self, who: str, day: int, **files: str | None) -> None:
        for name, text in files.items():
            path = self.folder / f"{name}.md"
            path.unlink() if text is None else path.write_text(HEAD.replace("Port", name) + text, encoding="utf-8")
        self.git("add", "-A")
        when = f"2026-03-{day:02}T12:00:00+00:00"
        by = {"GIT_AUTHOR_NAME": who, "GIT_AUTHOR_EMAIL": f"{who}@example.org", "GIT_AUTHOR_DATE": when,
              "GIT_COMMITTER_NAME": "bot", "GIT_COMMITTER_EMAIL": "bot@example.org", "GIT_COMMITTER_DATE": when}  # fmt: skip
        self.git("commit", "-q", "-m", "change", given=by)


def counts(came: ImportedMemory) -> dict[str, str]:
    return {item.strip(): count for item, count in came.report.rows()}


@pytest.fixture
def shared(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "notes")
    repository.commit("ann", 2, port="- [port] listens on 8080\n- [owner] team Rook\n")
    repository.commit("bob", 5, port="- [port] listens on 8443\n- [owner] team Rook\n")
    repository.commit("cai", 9, port="- [port] listens on 8443\n", limits="- [rate] 50/s\n")
    return repository


def test_git_says_who_wrote_what_when_and_what_it_replaced(shared: Repository) -> None:
    came = bring(shared.folder)
    assert came.start == "2026-03-02"
    columns = ("object", "title", "writer", "created", "status", "version")
    assert came.memory.cells.select(columns).rows() == [
        ("port", "listens on 8080", "ann", 0.5, "superseded", 1),
        ("port", "team Rook", "ann", 0.5, "annexed", 1),
        ("port", "listens on 8443", "bob", 3.5, "active", 2),
        ("limits", "50/s", "cai", 7.5, "active", 1),
    ]
    assert came.memory.edges.select("source", "relation", "target").rows() == [(2, "supersedes", 0)]
    assert counts(came)["commits read"] == "3"
    assert counts(came)["writers"] == "3"


def test_what_is_not_committed_yet_comes_undated_and_a_part_of_a_repository_alone(shared: Repository) -> None:
    (shared.folder / "deep").mkdir()
    shared.commit("ann", 10, **{"deep/inner": "- [x1] inside\n"})
    (shared.folder / "deep" / "inner.md").write_text(HEAD + "- [x1] edited\n", encoding="utf-8")
    came = bring(shared.folder / "deep").memory.cells
    assert came.select("title", "writer", "created", "status").rows() == [
        ("inside", "ann", 0.5, "annexed"),
        ("edited", "unknown:markdown", None, "active"),
    ]


def test_nothing_that_a_repository_plants_is_run(shared: Repository, tmp_path: Path) -> None:
    flag = tmp_path / "planted"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho run >> {flag}\ncat\n", encoding="utf-8")
    script.chmod(0o755)
    for name in ("post-checkout", "pre-commit", "post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (shared.folder / ".git" / "hooks").mkdir(exist_ok=True)
        (shared.folder / ".git" / "hooks" / name).symlink_to(script)
    (shared.folder / ".gitattributes").write_text("*.md diff=evil filter=evil\n", encoding="utf-8")
    (shared.folder / ".git" / "info" / "attributes").write_text("*.md diff=evil filter=evil\n", encoding="utf-8")
    run = str(script)
    config = {
        "core.fsmonitor": run, "core.hooksPath": str(shared.folder / ".git" / "hooks"), "diff.external": run,
        "diff.evil.textconv": run, "diff.evil.command": run, "filter.evil.smudge": run, "filter.evil.clean": run,
        "core.pager": run, "core.sshCommand": run, "core.editor": run, "alias.log": f"!{run}", "gpg.program": run,
        "log.showSignature": "true", "core.alternateRefsCommand": run,
    }  # fmt: skip
    with (shared.folder / ".git" / "config").open("a", encoding="utf-8") as file:
        for name, value in config.items():
            section, _, key = name.rpartition(".")
            head, _, sub = section.partition(".")
            file.write(f'[{head} "{sub}"]\n\t{key} = "{value}"\n' if sub else f'[{head}]\n\t{key} = "{value}"\n')
    assert bring(shared.folder).memory.cells.height == 4
    assert not flag.exists()


def test_links_out_of_the_folder_are_not_followed(shared: Repository, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("- [key] elsewhere\n", encoding="utf-8")
    (shared.folder / "link.md").symlink_to(tmp_path / "secret.md")
    shared.commit("ann", 11)
    assert "elsewhere" not in bring(shared.folder).memory.cells["title"].to_list()


def test_a_line_that_is_no_observation_and_one_that_is() -> None:
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


def test_relations_between_notes(tmp_path: Path) -> None:
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
    assert counts(came)["relations dropped: no note of that name"] == "1"
    assert came.memory.cells["status"].to_list() == ["active", "superseded", "superseded", "active"]


def test_an_index_that_is_a_link_leaves_only_the_history(shared: Repository, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text("- a line\n", encoding="utf-8")
    shared.commit("ann", 11, port=None, limits=None)
    (shared.folder / "MEMORY.md").symlink_to(tmp_path / "elsewhere.md")
    assert set(bring(shared.folder, form="claude-code").memory.cells["status"]) == {"superseded", "annexed"}
