"""Tests for the code's structure: imports, sizes of files and folders, duplicate names and host names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
ALLOWED = tomllib.loads((ROOT / "tests/house_exceptions.toml").read_text(encoding="utf-8"))
MOST_ENTRIES, MOST_LINES, MOST_FUNCTION_LINES = 12, 300, 45
PALETTES = {
    "malsim", "malsim/adapters", "malsim/commands",
    "malsim/commands/agent", "malsim/commands/store", "malsim/importers",
    "malsim/laws", "malsim/netlist/shipped", "malsim/sim/writers", "ops",
}  # fmt: skip
# Participles are not allowed as names because they do not say what a value is.
PARTICIPLES = {
    "asked", "caught", "chosen", "drawn", "driven", "fed", "found", "gone", "grown", "heard", "held", "kept", "known",
    "linked", "lost", "made", "met", "said", "seen", "shown", "spoken", "taken", "told", "worded", "written",
}  # fmt: skip
# Host names are split so that this file does not contain them.
PARTS = (("py", "pi.org"), ("python", "hosted.org"), ("registry.npm", "js"), ("deb.deb", "ian"), ("ana", "conda.org"))
HOSTS = ["".join(parts) for parts in PARTS]
PLACES = "|".join("".join(parts) for parts in (("wo", "rk"), ("fa", "rm"), ("tmp/ve", "nv"), ("tmp/bash", "_jobs")))
MACHINE = re.compile(rf"(?<![\w.~-])/(?:{PLACES}|(?:home|Users)/[a-z])\b")


@cache
def tracked() -> tuple[Path, ...]:
    """Return all project files that Git does not ignore."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    return tuple(ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file())


@cache
def modules() -> dict[str, Path]:
    paths = {}
    for path in tracked():
        parts = path.relative_to(ROOT).with_suffix("").parts
        if path.suffix == ".py" and parts[0] in ("malsim", "ops"):
            paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_text(encoding="utf-8"))


def imported(name: str) -> Iterator[str]:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (full if (full := f"{node.module}.{item.name}") in modules() else node.module for item in node.names)


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the groups of modules that import each other directly or indirectly."""
    reach = {}
    for name in graph:
        reachable, waiting = set[str](), [name]
        while waiting:
            fresh = graph[waiting.pop()] - reachable
            reachable |= fresh
            waiting += fresh
        reach[name] = reachable
    return {frozenset(other for other in reach[name] if name in reach[other]) for name in graph if name in reach[name]}


def test_imports_satisfy_their_contracts() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_import_cycles_are_limited_to_listed_exceptions() -> None:
    """Type-only and local imports count too. Exceptions limit the number of modules in cycles per package."""
    graph = {name: {other for other in imported(name) if other in modules() and other != name} for name in modules()}
    cycles = circles(graph)
    inside = Counter(
        ".".join(name.split(".")[:2]) if name.startswith("malsim") else "ops" for cycle in cycles for name in cycle
    )
    over = {package: count for package, count in inside.items() if count > ALLOWED["circles"].get(package, 0)}
    assert not over, [sorted(cycle) for cycle in cycles]


def test_folders_have_few_entries() -> None:
    entries = defaultdict(set)
    for path in tracked():
        parts = path.relative_to(ROOT).parts
        if parts[0] in ("malsim", "ops"):
            for depth in range(1, len(parts)):
                entries["/".join(parts[:depth])].add(parts[depth])
    counts = {folder: len(names - {"__init__.py"}) for folder, names in entries.items() if folder not in PALETTES}
    assert not {folder: count for folder, count in counts.items() if count > ALLOWED["entries"].get(folder, MOST_ENTRIES)}


def test_files_and_functions_are_short() -> None:
    for name, path in modules().items():
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= ALLOWED["lines"].get(name, MOST_LINES), f"{name} has {lines} lines"
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                value = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(node) else 0
                size = (node.end_lineno or 0) - node.lineno + 1 - value
                allowed = ALLOWED["functions"].get(f"{name}.{node.name}", MOST_FUNCTION_LINES)
                assert size <= allowed, f"{name}.{node.name} has {size} lines"


def test_duplicate_names_are_listed_with_a_reason() -> None:
    """Folders in `PALETTES` name their files in users' terms, so these names may also occur in other folders."""
    files, classes = defaultdict(list), defaultdict(list)
    for name, path in modules().items():
        if path.name != "__init__.py" and str(path.parent.relative_to(ROOT)) not in PALETTES:
            files[path.name].append(name)
        for node in tree(name).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(name)
    for kind, homes in (("same_file_name", files), ("same_class_name", classes)):
        assert not {name: where for name, where in homes.items() if len(where) > 1 and name not in ALLOWED[kind]}


def bound(name: str) -> Iterator[str]:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_variable_names_are_not_participles() -> None:
    over = {name: sorted(PARTICIPLES & {item.strip("_") for item in bound(name)}) for name in modules()}
    assert not {name: words for name, words in over.items() if set(words) - set(ALLOWED["participles"].get(name, []))}


@pytest.mark.parametrize("name", ["slow.txt", "nightly.txt"])
def test_tests_in_the_slow_and_nightly_lists_exist(name: str) -> None:
    """A renamed test would otherwise no longer match its entry and would run in full on every push."""
    for line in (ROOT / "tests" / name).read_text(encoding="utf-8").splitlines():
        file, _, test = line.partition("#")[0].partition(" ")[0].partition("::")
        path = ROOT / file
        assert path.exists(), line
        words = rf"def {test} *\(|^{test} ="
        assert not test.startswith("test_") or re.search(words, path.read_text(encoding="utf-8"), re.MULTILINE), line


@pytest.mark.parametrize("suffix", [".py", ".toml", ".txt", ".md", ".ipynb", ".json", ".lark", ".hal", ""])
def test_files_contain_no_registry_hosts_or_local_paths(suffix: str) -> None:
    for path in tracked():
        if path.suffix == suffix:
            text = path.read_text(encoding="utf-8")
            assert not [host for host in HOSTS if host in text], path
            assert MACHINE.search(text) is None, path
