"""Reader for a scenario's initial memory: a malsim store, or any other memory that malsim can import."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.errors import ScenarioError, StoreError
from malsim.base.files.paths import inside
from malsim.base.files.toml_text import line_of
from malsim.importers.building.bring import bring
from malsim.importers.reading.git import head_of, repository
from malsim.importers.reading.notes import files
from malsim.memory.store import Store
from malsim.memory.tables.connect import is_store
from malsim.memory.tables.write import latest_day
from malsim.sim.settings.scenario import InitialMemory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.base.files.toml_text import Lines
    from malsim.memory import Memory


def initial_memory_of(
    table: dict[str, Any], lines: Lines, where: str, *, recorded: Mapping[str, str] | None = None
) -> InitialMemory | None:
    """Read the stores named by `from` and `primed_by` in `[memory]`. `recorded` holds the store hashes of a recorded run.

    Raises `ScenarioError` if a file is missing, is outside the scenario's folder, is not a store, or has a different hash.
    """
    given = table.get("memory", {})
    names = {key: given[key] for key in ("from", "primed_by") if key in given}
    if not names:
        return None
    read, stores = {}, {}
    for key, name in names.items():
        at = f"{where}:{line_of(lines, ('memory', key))}: memory.{key}"
        path = inside(Path(where).parent, name, where=at, what="a store")
        if not path.exists():
            raise ScenarioError(
                "no such store", where=at, given=name, hint="create one: malsim import FILE -o memory.sqlite"
            )
        stores[name] = _hash(path)
        if recorded is not None and recorded.get(name) != stores[name]:
            raise ScenarioError(
                "the store is not the one that the recorded run used",
                where=at,
                given=name,
                hint="restore the recorded store",
            )
        try:
            read[key] = _memory_in(path)
        except StoreError as error:
            raise ScenarioError(error.problem, where=at, given=name, allowed=error.allowed, hint=error.hint) from error
    lender = read["primed_by"][0] if "primed_by" in read else None
    if "from" not in read:
        return InitialMemory(lender=lender, stores=stores)
    memory, now = read["from"]
    return InitialMemory(memory=memory, now=now, lender=lender, stores=stores)


def initial_memory_from(path: str | Path) -> InitialMemory:
    """Load a store, or any memory that can be imported, as a run's initial memory. Folders are not hashed."""
    file = Path(path)
    memory, now = _memory_in(file)
    stores = {str(path): _hash(file) if file.is_file() else ""}
    return InitialMemory(memory=memory, now=now, stores=stores)


def _hash(path: Path) -> str:
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    for note in files(path):
        content = hashlib.sha256(note.read_bytes()).hexdigest()
        digest.update(f"{note.relative_to(path).as_posix()}\0{content}\n".encode("utf-8", "surrogateescape"))
    if git := repository(path):
        digest.update((head_of(git) or "").encode())
    return digest.hexdigest()


def _memory_in(path: Path) -> tuple[Memory, float]:
    if is_store(path):
        with Store(path, write=False) as store:
            return store.recorded, store.day or 0.0
    memory = bring(path).memory
    return memory, latest_day(memory)
