"""Every limit that the page of performance prints is that of the row of the bench with this name, and no row is left out."""

from __future__ import annotations

import ast
import builtins
import importlib
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench import rows
from tests.docs import page_figures as figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

PAGE = {"page": "explanation/performance.md", "table": "| what | ratio | limit |"}
WITHOUT = {"ratios", "peers"}  # the clock, and shares of wrong answers, which have no limit


class Anything:
    """A value that only a run knows."""

    def __format__(self, spec: str) -> str:
        return "¤"

    def __rmul__(self, other: object) -> Anything:
        return self


class Names(dict[str, Any]):
    """What the words of a function stand for: its module's values, the texts it assigns, else anything."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.texts: dict[str, ast.expr] = {}

    def __missing__(self, name: str) -> object:
        return self.value(self.texts[name]) if name in self.texts else vars(builtins).get(name, Anything())

    def value(self, node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "row", "eval"), {}, self)  # noqa: S307  # code of this repository

    def assign(self, node: ast.Assign) -> None:
        names, values = (each.elts if isinstance(each, ast.Tuple) else [each] for each in (node.targets[0], node.value))
        for name, value in zip(names, values, strict=False):
            if isinstance(name, ast.Name) and isinstance(value, ast.JoinedStr | ast.Constant):
                self.texts[name.id] = value


def promises() -> Iterator[tuple[str, set[float]]]:
    """A pattern of each row's name, and its limit; any number of its file where only a run knows it."""
    for one in pkgutil.iter_modules(rows.__path__):
        if one.name not in WITHOUT:
            yield from _of_file(importlib.import_module(f"{rows.__name__}.{one.name}"))


def _of_file(module: ModuleType) -> Iterator[tuple[str, set[float]]]:
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    numbers = {float(value) for value in constants if isinstance(value, int | float)}
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        names = Names(vars(module))
        for node in sorted(ast.walk(function), key=lambda node: getattr(node, "lineno", 0)):
            if isinstance(node, ast.Assign):
                names.assign(node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"compare", "Ratio"}:
                given = {each.arg: each.value for each in node.keywords}
                name, limit = (names.value(each) for each in (node.args[0] if node.args else given["name"], given["limit"]))
                yield re.escape(name).replace("¤", ".*"), numbers if isinstance(limit, Anything) else {float(limit)}


def test_the_limits_of_the_page_are_those_of_the_bench() -> None:
    made, printed = dict(promises()), set[str]()
    for line in figures.table_lines(figures.page_text(PAGE), PAGE["table"])[1:]:
        name, _, limit = line.strip("| ").replace("`", "").split(" | ")
        (pattern,) = [each for each in made if re.fullmatch(each, name)]
        assert float(limit.removeprefix("≥ ")) in made[pattern], name
        printed.add(pattern)
    assert printed == {*made}
