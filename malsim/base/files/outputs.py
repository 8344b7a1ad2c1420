"""Atomic file writes: each file is written under a temporary name and moved into place when complete."""

from __future__ import annotations

import errno
import logging
import os
import platform
import re
import shutil
import tempfile
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

_OWNER = re.compile(r"\.writing-(?P<host>[0-9a-f]{8})-(?P<process>[0-9]+)-.*")
PICTURES = (".png", ".svg", ".pdf")
_OS_ERROR = re.compile(r"\(os error (\d+)\)")  # polars states the error number only in its message

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space, or choose another path"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, or choose another path"),
    errno.EACCES: ("not allowed to write here", "choose another path"),
    errno.EROFS: ("this disk is read-only", "choose another path"),
    errno.EISDIR: ("this is a folder", "name a file"),
    errno.ENOTDIR: ("a file with the name of this folder already exists", "choose another path"),
    errno.EEXIST: ("a file with the name of this folder already exists", "choose another path"),
    errno.ENOENT: ("no such folder", "create it first"),
    errno.ENAMETOOLONG: ("this name is too long", "choose a shorter name"),
}


def drawable(path: str, *, more: str = "") -> str:
    """Return `path` if its suffix is a supported figure format; otherwise raise `UsageError`."""
    if Path(path).suffix not in PICTURES:
        allowed = " ".join([*PICTURES, *filter(None, [more])])
        raise UsageError("unsupported file type", given=path, allowed=allowed)
    return path


@contextmanager
def hidden_folder(parent: Path) -> Iterator[Path]:
    """Yield a temporary hidden folder in `parent`, named after the host and process.

    Folders left behind by killed processes are removed.
    """
    host = f"{zlib.crc32(platform.node().encode()):08x}"  # machines that share a disk may have processes with the same id
    for abandoned in parent.glob(".writing-*"):
        owner = _OWNER.fullmatch(abandoned.name)
        if owner and owner["host"] == host and not _is_alive(int(owner["process"])):
            shutil.rmtree(abandoned, ignore_errors=True)
            logging.getLogger("malsim").warning("%s: removed, as the command that wrote there was killed", abandoned)
    folder = Path(tempfile.mkdtemp(prefix=f".writing-{host}-{os.getpid()}-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # on Windows, os.kill would terminate the process
        return True
    with suppress(OSError):  # raised if the process belongs to another user
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to. At the end of the block the file moves to `path`, unless the block raised.

    Raises `UsageError` with the reason if the file cannot be written.
    """
    path = Path(path)
    with writing(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(path))
        with hidden_folder(path.parent) as folder:
            yield folder / path.name
            (folder / path.name).replace(path)


@contextmanager
def folder_of_files(folder: str | Path) -> Iterator[Path]:
    """Yield a temporary folder. At the end of the block its files move to `folder` in name order, unless the block raised.

    Raises `UsageError` with the reason if the files cannot be written.
    """
    folder = Path(folder)
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists() and not folder.is_dir():
            raise FileExistsError(errno.EEXIST, "is a file", str(folder))
        with hidden_folder(folder.parent) as temporary:
            yield temporary
            folder.mkdir(exist_ok=True)
            for file in sorted(temporary.iterdir()):
                file.replace(folder / file.name)


def save_files(folder: str | Path, contents: Mapping[str, Any]) -> list[Path]:
    """Write `contents` to files in a folder, all or none, and return their paths.

    Frames are written as Parquet, texts as UTF-8.
    """
    with folder_of_files(folder) as temporary:
        for name, content in contents.items():
            if isinstance(content, str):
                (temporary / name).write_text(content, encoding="utf-8")
            elif isinstance(content, bytes):
                (temporary / name).write_bytes(content)
            elif hasattr(content, "savefig"):
                content.savefig(temporary / name)
            else:
                content.write_parquet(temporary / name)
    return [Path(folder) / name for name in contents]


def set_aside(folder: Path) -> Path | None:
    """Move the files in a folder to FOLDER-1, replacing the files there. Subfolders stay in place.

    Returns FOLDER-1, or None if there were no files to move.
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
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def save_table(path: str | Path, frame: pl.DataFrame) -> Path:
    """Write a frame as Parquet if the path ends in .parquet, otherwise as CSV. Return the path."""
    with whole_file(path) as temporary:
        frame.write_parquet(temporary) if temporary.suffix == ".parquet" else frame.write_csv(temporary)
    return Path(path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert a failed write in the block to `UsageError` with its cause, such as a full disk or missing permission."""
    try:
        yield
    except ValueError as error:
        if "null" not in str(error):
            raise
        raise UsageError(
            "a path cannot contain a NUL character", given=str(path), hint="remove the NUL character"
        ) from error
    except Exception as error:
        match = _OS_ERROR.search(str(error))
        if not match and not isinstance(error, OSError):
            raise
        number = int(match[1]) if match else getattr(error, "errno", None) or 0
        why = getattr(error, "strerror", None) or str(error)
        problem, hint = _REASONS.get(number, (f"cannot be written: {why}", "choose another path"))
        raise UsageError(problem, given=str(path), hint=hint) from error
