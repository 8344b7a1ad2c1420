"""Lookup of ops: modules of the package `ops`, presets (an op with settings), and entry points of other packages.

Third-party ops are loaded on first use, so that a broken op does not affect other ops.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tomllib
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from ops.pin import foreign
from ops.pin.errors import OpError
from ops.pin.foreign import Foreign, within_time
from ops.pin.read import read
from ops.pin.sheet import Sheet, spell
from ops.pin.words import words

__all__ = ["GROUP", "load", "names", "others", "sheets"]

GROUP = "malsim.ops"


def names() -> list[str]:
    """Return the names of all ops, including presets and entry points, without loading any op."""
    return sorted({*_modules(), *_presets(), *(spell(point.name) for point in _points())})


def others() -> list[str]:
    """Return the ops of other packages, each with its name and location, without loading them."""
    return [f"{point.name} ({point.value})" for point in _points()]


def load(name: str, **choices: object) -> Sheet:
    """Return the data sheet of an op for given sizes and type, as in `load("quorum", inputs=3)`.

    Raises
    ------
    OpError
        If the name, a size or the type is unknown, or a third-party op cannot be loaded.

    >>> load("quorum", inputs=3).summary
    'Test whether enough of the inputs are true.'
    """
    return _sheet(spell(name)).sized(**choices)


def sheets() -> dict[str, Sheet | OpError]:
    """Map the name of each op to its data sheet or its load error.

    A third-party op whose name is already in use is an error.
    """
    clashes = [point for point in _points() if spell(point.name) in {**_modules(), **_presets()}]
    labels = [f"{point.name} ({point.value})" for point in clashes]
    faults = {label: OpError("this name is already used by an op of the palette", where=label) for label in labels}
    return {name: _sheet_or_error(name) for name in names()} | faults


def _sheet_or_error(name: str) -> Sheet | OpError:
    try:
        return load(name)
    except OpError as error:
        return error


def _hint(name: str) -> str:
    """Return a hint that names the op for a LinuxCNC component, or ops with similar names."""
    if component := words().get(name.replace("-", "_")):
        return f"LinuxCNC's {component.name} is {component.op} here"
    near = get_close_matches(name, names(), n=3)
    return f"did you mean {' or '.join(near)}?" if near else "run `malsim op` to list them"


def _sheet(name: str) -> Sheet:
    if name in _modules() or name in _presets():
        return _own(name)
    points = [point for point in _points() if spell(point.name) == name]
    if len(points) > 1:
        raise OpError("two packages define an op with this name", where=name, given=[point.value for point in points])
    if not points:
        raise OpError("no such op", given=name, hint=_hint(name))
    return _foreign(name, points[0])


def _points() -> tuple[EntryPoint, ...]:
    return _installed_ops(tuple((folder, _modified(folder)) for folder in sys.path))


@lru_cache(maxsize=8)
def _installed_ops(folders: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of ops. They are cached until a folder changes, because scanning all packages is slow."""
    del folders
    return tuple(entry_points(group=GROUP))


def _modified(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except (OSError, ValueError):
        return 0


@cache
def _modules() -> dict[str, str]:
    return {spell(module.name): module.name for module in pkgutil.iter_modules([str(files("ops"))]) if not module.ispkg}


@cache
def _presets() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("ops").joinpath("presets.toml").read_text(encoding="utf-8"))


@cache
def _own(name: str) -> Sheet:
    if name in _modules():
        return read(name, importlib.import_module(f"ops.{_modules()[name]}"))
    preset = _presets()[name]
    sheet = _own(preset["op"])
    sizes = {key: replace(sheet.sizes[key], start=n, low=n, high=n) for key, n in preset.get("sizes", {}).items()}
    fixed = {key: replace(sheet.params[key], start=v, low=v, high=v) for key, v in preset.get("params", {}).items()}
    return replace(
        sheet,
        name=name,
        text=f"{preset['doc']}\n\nPreset of {preset['op']}:\n\n{sheet.text}",
        params={**sheet.params, **fixed},
        sizes={**sheet.sizes, **sizes},
        counts={**sheet.counts, **{key: size.start for key, size in sizes.items()}},
    )


def _foreign(name: str, point: EntryPoint) -> Sheet:
    where = f"{name} ({point.value})"
    foreign.watch.before_loading(where)
    try:
        sheet: Sheet = within_time(lambda: read(name, point.load()), where)
    except OpError as error:
        raise OpError("cannot be loaded", where=where, given=error.problem, hint="report it to its author") from error
    return replace(sheet, function=Foreign(sheet.function, where, {*sheet.outs, *sheet.state}))
