"""Validation of paths that are named inside a file: they must not leave that file's folder."""

from __future__ import annotations

import unicodedata
from pathlib import Path, PurePosixPath, PureWindowsPath

from malsim.base.errors import ScenarioError

LONGEST_NAME, LONGEST_PATH = 255, 1024  # lengths in bytes that every file system allows
LONGEST_QUOTED = 60


def inside(folder: str | Path, name: str, *, where: str, what: str = "a file") -> Path:
    """Return the path of `name` in a folder, after checking that the path does not leave the folder.

    Raises
    ------
    ScenarioError
        The name is empty, absolute, too long, contains a control character, or leads out of the folder by `..` or a link.

    >>> inside("scenarios", "claims/of_may.csv", where="a.toml").as_posix()
    'scenarios/claims/of_may.csv'
    >>> inside("scenarios", "../secret.csv", where="a.toml")
    Traceback (most recent call last):
        ...
    malsim.base.errors.ScenarioError: a.toml: a file may not lie outside its scenario's folder; given: \
'../secret.csv'; move the file next to the scenario
    """
    quoted = name if len(name) <= LONGEST_QUOTED else name[:LONGEST_QUOTED] + "…"
    parts = name.replace("\\", "/").split("/")
    try:
        longest = max(len(part.encode()) for part in parts)
    except UnicodeEncodeError:
        longest = LONGEST_PATH
    if not name or any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in name):
        raise ScenarioError("not a valid file name", where=where, given=quoted, allowed="text without control characters")
    if longest > LONGEST_NAME or len(name.encode()) > LONGEST_PATH:
        raise ScenarioError(
            "the file name is too long", where=where, given=quoted, allowed=f"at most {LONGEST_NAME} bytes per part"
        )
    folder = Path(folder)
    outside = PurePosixPath(name).is_absolute() or bool(PureWindowsPath(name).drive or PureWindowsPath(name).root)
    try:
        outside = outside or not (folder / name).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # raised for a cycle of symbolic links
        outside = True
    if outside:
        problem = f"{what} may not lie outside its scenario's folder"
        raise ScenarioError(problem, where=where, given=quoted, hint="move the file next to the scenario")
    return folder / name
