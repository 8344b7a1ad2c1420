"""What a figure depends on, as a hash: the files that a module imports, and those that they import."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOTS = ("malsim", "ops")
PLACE = Path(__file__).parents[2]
LETTERS = 20


def hash_of_text(*words: str, data: bytes = b"") -> str:
    """A hash of some texts, and of bytes, in letters that fit a file's name."""
    return hashlib.sha256("\0".join(words).encode() + data).hexdigest()[:LETTERS]


def hash_of_file(path: str, *words: str) -> str:
    """A hash of a file's bytes, where there is one, and of some texts."""
    return hash_of_text(*words, data=Path(path).read_bytes() if path and Path(path).is_file() else b"")


@cache
def code_hash(module: str, *folders: str) -> str:
    """A hash of a module's source and of all of malsim that it imports, also inside functions; not of laws by name.

    `folders` are packages whose modules it finds by looking: all of them count.
    """
    paths = (path for folder in folders for path in sorted(PLACE.joinpath(*folder.split(".")).glob("*.py")))
    waiting, texts = [module, *(".".join(path.relative_to(PLACE).with_suffix("").parts) for path in paths)], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name in texts:
            continue
        texts[name], imports = _source(name)
        waiting += imports
    return hash_of_text(*(f"{name}\n{texts[name]}" for name in sorted(texts)))


@cache
def _source(name: str) -> tuple[str, tuple[str, ...]]:
    """A module's text and the modules of ours that it names in imports; nothing for what is no module."""
    base = PLACE.joinpath(*name.split("."))
    path = next((each for each in (base.with_suffix(".py"), base / "__init__.py") if each.is_file()), None)
    if path is None:
        return "", ()
    text = path.read_text(encoding="utf-8")
    return text, tuple(dict.fromkeys(_imports(text)))


def _imports(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in ROOTS)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in ROOTS:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
