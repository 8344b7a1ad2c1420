"""Shipped examples: scenarios, notebooks and the files that they use."""

from __future__ import annotations

import json
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from malsim.base.errors import UsageError, nearest

USES = {
    "tune": "Tune formulas",
    "test": "Test regression scenarios",
    "teach": "Teach the HAL analogy",
    "validate": "Validate tripwires",
}
FOLDERS = ("scenarios", "notebooks")
LEFT_OUT = (".png", ".pyc")


@dataclass(frozen=True)
class Example:
    """Shipped file, with its name (such as scenarios/poisoner.toml) and its path."""

    name: str
    path: Path

    @property
    def sentence(self) -> str:
        """Short description of the file; "" if there is none."""
        if self.path.suffix == ".ipynb":
            cells = self._read["cells"]
            return "".join(cells[0]["source"]).split("\n", 1)[0].lstrip("# ") if cells else ""
        return str(self._read.get("why", "")).split("\n", 1)[0]

    @property
    def use(self) -> str:
        """Purpose of the file: tune, test, teach, validate, or "" if unspecified."""
        settings = self._read.get("metadata", {}).get("malsim", {}) if self.path.suffix == ".ipynb" else self._read
        return str(settings.get("use", ""))

    @property
    def _read(self) -> dict[str, Any]:
        loads = {".toml": tomllib.loads, ".ipynb": json.loads}.get(self.path.suffix)
        return loads(self.path.read_text(encoding="utf-8")) if loads else {}


def examples() -> list[Example]:
    """Return all shipped examples, sorted by name."""
    folder = root()
    paths = (path for name in FOLDERS for path in sorted((folder / name).rglob("*")))
    return [
        Example(path.relative_to(folder).as_posix(), path)
        for path in paths
        if path.is_file()
        and path.suffix not in LEFT_OUT
        and not any(part.startswith((".", "_")) for part in path.parts[-2:])
    ]


def where_shipped(file: str) -> str:
    """Return a hint with the command that writes a shipped file; "" if no shipped file has this name.

    >>> where_shipped("poisoner.toml"), where_shipped("mine.toml")
    ('`malsim examples poisoner -o .` writes scenarios/poisoner.toml', '')
    """
    example = next((example for example in examples() if example.path.name == file), None)
    return "" if example is None else f"`malsim examples {example.path.stem} -o .` writes {example.name}"


def copy(names: list[str], folder: Path) -> list[Path]:
    """Copy examples, and the files that they name, into a folder. Raise `UsageError` instead of overwriting a file."""
    every = examples()
    selection = _with_companions([entry for name in names for entry in _find(name, every)], every) if names else every
    for example in selection:
        target = folder / example.name
        if target.exists() and target.read_bytes() != example.path.read_bytes():
            raise UsageError("the file already exists", given=str(target), hint="choose another folder with -o")
    for example in selection:
        target = folder / example.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(example.path, target)
    return [folder / example.name for example in selection]


def _find(name: str, every: list[Example]) -> list[Example]:
    """Return the example with this name, or all examples in the folder with this name."""
    if inside := [entry for entry in every if f"/{entry.path.parent.as_posix()}".endswith(f"/{name.rstrip('/')}")]:
        return inside
    for example in sorted(every, key=lambda entry: entry.path.suffix != ".toml"):  # prefer a scenario to its netlist
        if name in (example.path.name, example.path.stem) or f"/{example.name}".endswith(f"/{name}"):
            return [example]
    hint = nearest(name, [example.path.stem for example in every], "run `malsim examples` to list them")
    raise UsageError("no such example", given=name, hint=hint)


def _with_companions(selection: list[Example], every: list[Example]) -> list[Example]:
    """Return the examples together with the files that they name, such as a scenario's netlist."""
    files = list(selection)
    for example in files:
        if example.path.suffix not in (".toml", ".malnet"):
            continue
        text = example.path.read_text(encoding="utf-8")
        files += [other for other in every if other not in files and f'{other.path.name}"' in text]
    return files


def root() -> Path:
    """Return the folder that contains scenarios/ and notebooks/, in the installed package or in the checkout."""
    package = Path(__file__).parent
    inside = package / "_examples"
    return inside if inside.is_dir() else package.parent
