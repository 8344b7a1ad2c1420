"""Loader of individual functions of other projects, from local checkouts at pinned commits.

The environment variable `MALSIM_SOURCES` names a folder that contains, for each project, either a git checkout (`NAME` or
`OWNER+NAME/repo`) or an unpacked archive (`NAME-COMMIT`).
"""

from __future__ import annotations
import __future__

import ast
import os
import subprocess
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

START = datetime(2026, 1, 1, tzinfo=UTC)
VARIABLE = "MALSIM_SOURCES"


class MissingError(LookupError):
    """Error for a missing checkout, file or tool. The test is skipped with this message."""


@dataclass(frozen=True)
class Checkout:
    project: str
    commit: str

    @cached_property
    def folder(self) -> Path:
        root = os.environ.get(VARIABLE)
        if not root:
            raise MissingError(f"{VARIABLE} is not set, but a checkout of {self.project} is needed")
        owner, name = self.project.split("/")
        folders = [Path(root, name), Path(root, f"{owner}+{name}", "repo"), *Path(root).glob(f"{name}-{self.commit}*")]
        for folder in folders:
            if folder.is_dir():
                return folder
        raise MissingError(f"the folder in {VARIABLE} contains no checkout of {self.project}")

    def text(self, path: str) -> str:
        """Return the contents of the file at the pinned commit."""
        if self.commit in self.folder.name and (self.folder / path).is_file():
            return (self.folder / path).read_text(encoding="utf-8")
        command = ["git", "-C", str(self.folder), "show", f"{self.commit}:{path}"]
        shown = subprocess.run(command, capture_output=True, check=False)
        if shown.returncode:
            raise MissingError(f"the checkout of {self.project} has no file {path} at commit {self.commit}")
        return shown.stdout.decode("utf-8")

    def functions(self, path: str, *names: str, **given: Any) -> SimpleNamespace:
        tree = ast.parse(self.text(path))
        chosen = [node for name in names for node in _nodes(tree, name)]
        for node in chosen:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                node.decorator_list = [
                    item for item in node.decorator_list if ast.unparse(item) in ("dataclass", "staticmethod")
                ]
        flags = __future__.annotations.compiler_flag
        space: dict[str, Any] = {"__name__": __name__, **given}
        exec(compile(ast.Module(chosen, []), f"{self.project}/{path}", "exec", flags, dont_inherit=True), space)
        return SimpleNamespace(**space)

    def statements(self, path: str, within: str, names: tuple[str, ...], **given: Any) -> Any:
        """Return a function that runs only the assignments to `names` in the function `within` and returns their values."""
        [function] = _nodes(ast.parse(self.text(path)), within)
        found = [
            node for node in ast.walk(function) if set(_named(node)) & set(names) and not isinstance(node, ast.FunctionDef)
        ]
        first: dict[str, Any] = {name: next(node for node in found if name in _named(node)) for name in names}
        code = compile(ast.Module([first[name] for name in names], []), f"{self.project}/{path}", "exec")

        def run(**values: Any) -> dict[str, Any]:
            space = {**given, **values}
            exec(code, space)
            return {name: space[name] for name in names}

        return run


def _nodes(tree: ast.AST, name: str) -> list[ast.stmt]:
    outer, _, inner = name.partition(".")
    found = [node for node in ast.iter_child_nodes(tree) if outer in _named(node)]
    if not found:
        raise MissingError(f"the source file does not define {name}")
    return _nodes(found[0], inner) if inner else [node for node in found if isinstance(node, ast.stmt)]


def _named(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


class Wall:
    """Clock whose `datetime` and `date` classes return the current day of the stream."""

    def __init__(self) -> None:
        self.day = 0.0
        wall = self

        class Now(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
                return wall.at(wall.day).astimezone(tz) if tz else wall.at(wall.day).replace(tzinfo=None)

        class Today(date):
            @classmethod
            def today(cls) -> date:  # type: ignore[override]
                return wall.at(wall.day).date()

        self.datetime, self.date = Now, Today

    @staticmethod
    def at(day: float) -> datetime:
        return START + timedelta(days=day)

    def iso(self, day: float) -> str:
        return self.at(day).isoformat()
