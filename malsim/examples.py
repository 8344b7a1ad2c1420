"""The shipped examples: where they lie, what each is about, and how to copy them."""

from __future__ import annotations

import json
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from malsim.base.errors import UsageError, nearest

FOLDERS = ("scenarios", "notebooks")
LEFT_OUT = (".png", ".pyc")


@dataclass(frozen=True)
class Example:
    """One file: its `name` (scenarios/poisoner.toml) and where it lies."""

    name: str
    path: Path

    @property
    def sentence(self) -> str:
        """What it is about, in one line; empty where the file does not say."""
        if self.path.suffix == ".toml":
            return str(tomllib.loads(self.path.read_text(encoding="utf-8")).get("why", "")).split("\n", 1)[0]
        if self.path.suffix == ".ipynb":
            cells = json.loads(self.path.read_text(encoding="utf-8"))["cells"]
            return "".join(cells[0]["source"]).split("\n", 1)[0].lstrip("# ") if cells else ""
        return ""


def examples() -> list[Example]:
    """Every shipped example, by name."""
    place = root()
    paths = (path for folder in FOLDERS for path in sorted((place / folder).rglob("*")))
    return [
        Example(path.relative_to(place).as_posix(), path)
        for path in paths
        if path.is_file()
        and path.suffix not in LEFT_OUT
        and not any(part.startswith((".", "_")) for part in path.parts[-2:])
    ]


def where_shipped(file: str) -> str:
    """How to come by the shipped file of a name; empty where none has it.

    >>> where_shipped("poisoner.toml"), where_shipped("mine.toml")
    ('`malsim examples poisoner -o .` writes scenarios/poisoner.toml', '')
    """
    example = next((example for example in examples() if example.path.name == file), None)
    return "" if example is None else f"`malsim examples {example.path.stem} -o .` writes {example.name}"


def copy(names: list[str], folder: Path) -> list[Path]:
    """Copy examples into a folder, each with what it names; all where no name is given. Nothing is overwritten.

    Raises
    ------
    UsageError
        For an unknown name, with the nearest; where another file stands in the way.
    """
    every = examples()
    selection = _with_companions([one for name in names for one in _find(name, every)], every) if names else every
    for example in selection:
        target = folder / example.name
        if target.exists() and target.read_bytes() != example.path.read_bytes():
            raise UsageError("another file stands there already", given=str(target), hint="choose another folder with -o")
    for example in selection:
        target = folder / example.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(example.path, target)
    return [folder / example.name for example in selection]


def _find(name: str, every: list[Example]) -> list[Example]:
    """The example of a name, or all that lie in a folder of that name."""
    if inside := [one for one in every if f"/{one.path.parent.as_posix()}".endswith(f"/{name.rstrip('/')}")]:
        return inside
    for example in sorted(every, key=lambda one: one.path.suffix != ".toml"):  # a scenario before its netlist
        if name in (example.path.name, example.path.stem) or f"/{example.name}".endswith(f"/{name}"):
            return [example]
    hint = nearest(name, [example.path.stem for example in every], "`malsim examples` lists all")
    raise UsageError("no such example", given=name, hint=hint)


def _with_companions(selection: list[Example], every: list[Example]) -> list[Example]:
    """The examples and those whose file names stand in their text, such as a scenario's netlist."""
    files = list(selection)
    for example in files:
        if example.path.suffix not in (".toml", ".malnet"):
            continue
        text = example.path.read_text(encoding="utf-8")
        files += [other for other in every if other not in files and f'{other.path.name}"' in text]
    return files


def root() -> Path:
    """The folder that holds scenarios/ and notebooks/: within the package as installed, beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "_examples"
    return inside if inside.is_dir() else package.parent
