"""Files that are whole or absent: each is written under another name and moved into place when it is complete."""

from __future__ import annotations

import errno
import logging
import os
import platform
import re
import shutil
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

_OWNER = re.compile(r"\.writing-(?P<host>[0-9a-f]{8})-(?P<process>[0-9]+)-.*")
PICTURES = (".png", ".svg", ".pdf")
_OS_ERROR = re.compile(r"\(os error (\d+)\)")  # polars keeps the system's number in its text alone

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space, or name another place"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, or name another place"),
    errno.EACCES: ("not allowed to write here", "name another place"),
    errno.EROFS: ("this disk is read-only", "name another place"),
    errno.EISDIR: ("this is a folder", "name a file"),
    errno.ENOTDIR: ("a file has the name of the folder that is needed", "name another place"),
    errno.EEXIST: ("a file has the name of the folder that is needed", "name another place"),
    errno.ENOENT: ("no such folder", "make it first"),
    errno.ENAMETOOLONG: ("this name is too long", "choose a shorter name"),
}


def drawable(path: str, *, more: str = "") -> str:
    """Return the path of a figure; raise `UsageError` before any work if its suffix names no known format."""
    if Path(path).suffix not in PICTURES:
        allowed = " ".join([*PICTURES, *filter(None, [more])])
        raise UsageError("a figure's file name ends in its format", given=path, allowed=allowed)
    return path


def beside_it(folder: Path) -> Path:
    """Make a hidden folder to write in, named after this process; remove such folders of killed processes."""
    for abandoned in folder.glob(".writing-*"):
        owner = _OWNER.fullmatch(abandoned.name)
        if owner and owner["host"] == _host() and not _is_alive(int(owner["process"])):
            shutil.rmtree(abandoned, ignore_errors=True)
            logging.getLogger("malsim").warning("%s: removed, as the command that wrote there was killed", abandoned)
    return Path(tempfile.mkdtemp(prefix=f".writing-{_host()}-{os.getpid()}-", dir=folder))


def _host() -> str:
    """Return a hash of this machine's name in eight digits, as machines that share a disk may use the same process id."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere nobody can be asked without being hurt
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; at the end `path` has all of the new content, or its old content.

    Raises `UsageError` where it cannot be written, with the reason.
    """
    path = Path(path)
    with writing(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder", str(path))
        beside = beside_it(path.parent)
        try:
            yield beside / path.name
            (beside / path.name).replace(path)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def folder_of_files(folder: str | Path) -> Iterator[Path]:
    """Yield a temporary folder; at the end all files written there move into it, in the order of their names.

    Raises `UsageError` where it cannot be written, with the reason.
    """
    folder = Path(folder)
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists() and not folder.is_dir():
            raise FileExistsError(errno.EEXIST, "a file", str(folder))
        beside = beside_it(folder.parent)
        try:
            yield beside
            folder.mkdir(exist_ok=True)
            for file in sorted(beside.iterdir()):
                file.replace(folder / file.name)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def save_files(folder: str | Path, contents: Mapping[str, Any]) -> list[Path]:
    """Write frames as Parquet, texts as UTF-8, bytes and pictures into a folder, all or none; returns their paths."""
    with folder_of_files(folder) as index:
        for name, content in contents.items():
            if isinstance(content, str):
                (index / name).write_text(content, encoding="utf-8")
            elif isinstance(content, bytes):
                (index / name).write_bytes(content)
            elif hasattr(content, "savefig"):
                content.savefig(index / name)
            else:
                content.write_parquet(index / name)
    return [Path(folder) / name for name in contents]


def set_aside(folder: Path) -> Path | None:
    """Move the files of a folder to FOLDER-1, in the place of those there; folders inside stay where they are.

    Returns FOLDER-1, or None where there was no file to move.
    """
    files = [file for file in folder.glob("*") if file.is_file()] if folder.is_dir() else []
    if not files:
        return None
    before = folder.with_name(f"{folder.name}-1")
    with writing(before):
        before.mkdir(exist_ok=True)
        for file in (file for file in before.glob("*") if file.is_file()):
            file.unlink()
        for file in files:
            file.replace(before / file.name)
    return before


def save_text(path: str | Path, text: str) -> None:
    with whole_file(path) as index:
        index.write_text(text, encoding="utf-8")


def save_table(path: str | Path, frame: pl.DataFrame) -> Path:
    """Write a frame, as Parquet where the path ends so, else as CSV, whole or not at all; returns the path."""
    with whole_file(path) as index:
        frame.write_parquet(index) if index.suffix == ".parquet" else frame.write_csv(index)
    return Path(path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise a `UsageError` with the reason if a path cannot be written: a full disk, a missing permission, a long name."""
    try:
        yield
    except ValueError as error:
        if "null" not in str(error):
            raise
        raise UsageError("not a file name", given=str(path), hint="leave out the NUL character") from error
    except Exception as error:
        match = _OS_ERROR.search(str(error))
        if not match and not isinstance(error, OSError):
            raise
        number = int(match[1]) if match else getattr(error, "errno", None) or 0
        why = getattr(error, "strerror", None) or str(error)
        problem, hint = _REASONS.get(number, (f"cannot be written: {why}", "name another place"))
        raise UsageError(problem, given=str(path), hint=hint) from error
