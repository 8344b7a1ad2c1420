"""The history of a folder's files out of git's objects alone: no hook, filter, external diff or configuration of it is used.

The repository's own directory is never git's: a bare one of ours borrows its objects, so nothing that it says is obeyed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from malsim.base.errors import StoreError
from malsim.importers.reading.notes import MOST_BYTES

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SECONDS = 86_400.0
_START, _END = "\x1e", "\x1f"
_NOTHING = re.compile("0+")


@dataclass(frozen=True)
class FileChange:
    """One commit's change of one file: who, when (days after 1970), which path, its text before and after, None for none."""

    commit: str
    author: str
    day: float
    path: str
    before: str | None
    after: str | None


def repository(folder: Path) -> Path | None:
    """The `.git` folder that a folder belongs to; None where there is none, or only a link to one elsewhere.

    Raises `StoreError` for one that borrows objects: a stranger's folder is not to name others of this machine.
    """
    for place in (folder.resolve(), *folder.resolve().parents):
        git = place / ".git"
        if git.exists():
            whole = (
                git.is_dir() and not git.is_symlink() and (git / "objects").is_dir() and not (git / "objects").is_symlink()
            )
            if whole and (git / "objects" / "info" / "alternates").exists():
                raise StoreError("borrows its history from another folder", where=str(git), hint="import a clone of its own")
            return git if whole else None
    return None


def changes(folder: Path, git: Path) -> list[list[FileChange]]:
    """The changes of Markdown files below a folder, commit by commit, oldest first; of a merge what its parents say.

    Raises `StoreError` where git is not installed or the objects cannot be read.
    """
    head = head_of(git)
    if head is None:
        return []
    prefix = folder.resolve().relative_to(git.parent).as_posix()
    with _borrowing(git, head) as own:
        form = f"--format={_START}%H{_END}%an{_END}%at"
        options = ["--reverse", "--topo-order", "--raw", "--no-abbrev", "--no-renames", "--root", "-z", form]
        options += ["--no-ext-diff", "--no-textconv", "--no-mailmap", "--no-show-signature", "--no-notes"]
        log = _run(own, ["log", *options, head, "--", prefix]).decode("utf-8", "replace")
        commits = [commit for text in log.split(_START)[1:] if (commit := _commit(text, prefix))]
        shas = {sha for _, _, files in commits for *pair, _ in files for sha in pair if not _NOTHING.fullmatch(sha)}
        blobs = _blobs(own, sorted(shas))
        return [
            [FileChange(about[0], about[1], day, path, blobs.get(old), blobs.get(new)) for old, new, path in files]
            for about, day, files in commits
        ]


def _commit(text: str, prefix: str) -> tuple[list[str], float, list[tuple[str, str, str]]] | None:
    """Who, when, and the files (old object, new object, path below the prefix) of one commit."""
    about, *parts = text.split("\0")
    fields = about.strip("\n").split(_END)
    raw = [part.strip("\n") for part in parts if part.strip("\n")]
    files = []
    for meta, path in zip(raw[::2], raw[1::2], strict=False):
        modes = meta.split(" ")
        if meta.startswith(":") and path.lower().endswith(".md") and "120000" not in "".join(modes[:2]):
            files.append((modes[2], modes[3], path if prefix == "." else path.removeprefix(f"{prefix}/")))
    return (fields, int(fields[2]) / _SECONDS, files) if len(fields) == 3 and files else None  # noqa: PLR2004  # as asked for


def head_of(git: Path) -> str | None:
    """The commit that is checked out, read from the files that say so."""
    text = _line(git / "HEAD")
    if not text.startswith("ref: "):
        return text if _SHA.fullmatch(text) else None
    name = text.removeprefix("ref: ")
    if ".." in name or name.startswith("/"):
        return None
    loose = _line(git / name)
    packed = re.search(rf"^([0-9a-f]+) {re.escape(name)}$", _text(git / "packed-refs"), re.MULTILINE)
    sha = loose or (packed[1] if packed else "")
    return sha if _SHA.fullmatch(sha) else None


def _line(path: Path) -> str:
    return _text(path).strip()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return ""


@contextmanager
def _borrowing(git: Path, head: str) -> Iterator[Path]:
    """A bare repository of our own that has nothing but the other's objects."""
    with tempfile.TemporaryDirectory(prefix="malsim-git-") as folder:
        own = Path(folder)
        for part in ("objects/info", "refs/heads"):
            (own / part).mkdir(parents=True)
        (own / "objects" / "info" / "alternates").write_text(f"{git / 'objects'}\n", encoding="utf-8")
        (own / "HEAD").write_text(f"{head}\n", encoding="utf-8")
        longer = "[extensions]\n\tobjectFormat = sha256\n" if len(head) == 64 else ""  # noqa: PLR2004  # digits of SHA-256
        version = 1 if longer else 0
        config = f"[core]\n\trepositoryformatversion = {version}\n\tbare = true\n{longer}"
        (own / "config").write_text(config, encoding="utf-8")
        yield own


def _run(own: Path, arguments: list[str], stdin: str = "") -> bytes:
    program = shutil.which("git")
    if program is None:
        raise StoreError("its history needs git, which is not installed", where=str(own))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    quiet = {
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": str(own / "no_config"), "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C",
        "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }  # fmt: skip
    command = [program, "--no-pager", f"--git-dir={own}", *arguments]
    process = subprocess.run(command, input=stdin.encode(), capture_output=True, env=clean | quiet, cwd=own, check=False)  # noqa: S603
    if process.returncode:
        message = process.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise StoreError("its git objects cannot be read", given=" ".join(message), hint="run git fsck there")
    return process.stdout


def _blobs(own: Path, shas: list[str]) -> dict[str, str]:
    """The texts of objects; those that are missing or no files are left out."""
    output = _run(own, ["cat-file", "--batch"], "".join(f"{sha}\n" for sha in shas))
    blobs, at = dict[str, str](), 0
    while at < len(output):
        end = output.index(b"\n", at)
        sha, kind, *size = output[at:end].decode("ascii", "replace").split(" ")
        at = end + 1
        if size:
            if kind == "blob" and int(size[0]) <= MOST_BYTES:
                blobs[sha] = output[at : at + int(size[0])].decode("utf-8", "replace")
            at += int(size[0]) + 1
    return blobs
