"""Tests that a store is refused if its write-ahead log was lost or truncated."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from malsim.base.errors import StoreError
from malsim.memory.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

KILLED = """
import os
from malsim import Store
store = Store("killed.sqlite")
for number in range(3):
    store.admit([{"handle": f"obs_a1a{number}", "writer": "ann", "title": f"the pump {number}", "confidence": 0.5}])
os.kill(os.getpid(), 9)
"""


@pytest.fixture(scope="module", name="files")
def _files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("killed")
    root = str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-c", KILLED], cwd=folder, env=os.environ | {"PYTHONPATH": root}, check=False)
    return {path.name.removeprefix("killed.sqlite"): path.read_bytes() for path in folder.iterdir()}


def store_of(folder: Path, files: dict[str, bytes]) -> Path:
    for end, content in files.items():
        (folder / f"a.sqlite{end}").write_bytes(content)
    return folder / "a.sqlite"


@pytest.mark.parametrize(
    "damage",
    [
        lambda files: files | {"-wal": files["-wal"][: len(files["-wal"]) // 2]},
        lambda files: {end: files[end] for end in ("", "-shm")},
        lambda files: {"": files[""], "-wal": files["-wal"][: len(files["-wal"]) // 2]},
        lambda files: {"": files[""]},
    ],
    ids=["cut", "lost", "cut and copied", "left behind in a copy"],
)
def test_lost_or_truncated_log_is_reported(
    damage: Callable[[dict[str, bytes]], dict[str, bytes]], files: dict[str, bytes], tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match=r"a\.sqlite-wal, was lost or cut"):
        Store(store_of(tmp_path, damage(files)), write=False)


@pytest.mark.parametrize("ends", [("", "-wal", "-shm"), ("", "-wal")], ids=["left by the kill", "copied with its log"])
def test_complete_log_of_a_killed_writer_is_read(ends: tuple[str, ...], files: dict[str, bytes], tmp_path: Path) -> None:
    with Store(store_of(tmp_path, {end: files[end] for end in ends})) as store:
        assert store.height == 3
