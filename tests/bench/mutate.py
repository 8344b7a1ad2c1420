"""Change functions of the program one small step each, and list the changes that no test notices.

    python tests/bench/mutate.py --base HEAD~5          # of what has changed since then, every function once
    python tests/bench/mutate.py --draw 60 --seed 7     # sixty functions of the whole program
    python tests/bench/mutate.py --draw 60 --quick      # asked of the quick tests only

The tests nearest to the function run first, and the first failure ends a trial. Works on a copy of the checkout.
Exit code 1 where a change survives.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("malsim", "ops")
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
TIMEOUT = 1800.0


@dataclass(frozen=True)
class Mutant:
    """One node of a file replaced: `old` at these byte offsets becomes `new`."""

    path: Path
    function: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def apply(self, source: bytes) -> bytes:
        """The file with the change in it."""
        return source[: self.start] + self.new.encode() + source[self.end :]

    def __str__(self) -> str:
        """Where and what, in a line."""
        return f"{self.path}:{self.line} {self.function}: {' '.join(self.old.split())} -> {' '.join(self.new.split())}"


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in a node's place: one operator, constant, condition, call or statement changed."""
    match node:
        case ast.Compare(ops=[one]) if type(one) in COMPARE:
            yield ast.Compare(node.left, [COMPARE[type(one)]()], node.comparators)
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield ast.BinOp(node.left, ARITHMETIC[type(op)](), node.right)
        case ast.BoolOp():
            yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float() as number):
            yield ast.Constant(number + 1)
        case ast.IfExp():
            yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.Call(func=ast.Attribute(value=receiver), args=[], keywords=[]):
            yield receiver
        case ast.Raise() | ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue():
            yield ast.Pass()
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield ast.Return(ast.Constant(None))


def mutants(path: Path, source: bytes, changed: set[int] | None) -> dict[str, list[Mutant]]:
    """By function, every change that can be made to it; of functions with a changed line only, where these are given."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: dict[str, list[Mutant]] = {}
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if changed is not None and not changed.intersection(range(function.lineno, (function.end_lineno or 0) + 1)):
            continue
        for statement in function.body[1 if ast.get_docstring(function) is not None else 0 :]:
            for node in _evaluated(statement):
                for new in replacements(node):
                    start, end = (starts[line - 1] + column for line, column in _span(node))
                    text = ast.unparse(ast.fix_missing_locations(new))
                    text = text if isinstance(new, ast.stmt) else f"({text})"
                    old = source[start:end].decode()
                    number = source.count(b"\n", 0, start) + 1
                    name = f"{function.name}@{function.lineno}"
                    found.setdefault(name, []).append(Mutant(path, function.name, number, start, end, old, text))
    return found


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """A statement's nodes but for its annotations, which nobody evaluates."""
    yield node
    for name, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and name not in ("annotation", "returns"):
                yield from _evaluated(part)


def _span(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def draw(base: str | None, count: int | None, seed: int) -> list[Mutant]:
    """One change a function, of `count` functions drawn by the seed, or of all."""
    changed = changed_lines(base) if base else None
    functions = []
    for path in sorted(path.relative_to(ROOT) for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        if changed is None or path in changed:
            own = mutants(path, (ROOT / path).read_bytes(), None if changed is None else changed[path])
            functions += [own[name] for name in sorted(own)]
    chance = random.Random(seed)  # noqa: S311
    if count is not None and count < len(functions):
        functions = chance.sample(functions, count)
    return [chance.choice(own) for own in functions]


def changed_lines(base: str) -> dict[Path, set[int]]:
    """Of each file changed since a revision, the numbers of its new lines."""
    text = _output("git", "diff", "-U0", base, "--", *FOLDERS)
    lines: dict[Path, set[int]] = {}
    for part in text.split("\n+++ b/")[1:]:
        numbers = lines.setdefault(Path(part.split("\n", 1)[0]), set())
        for start, length in HUNK.findall(part):
            numbers.update(range(int(start), int(start) + int(length or 1)))
    return lines


def near(path: Path) -> list[str]:
    """The file's own doctests, and the test files that name its module or live in a folder of its folder's name."""
    module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    parts = [module, module.rpartition(".")[0]]
    named = [file for file in (ROOT / "tests").rglob("test_*.py") if any(part in file.read_text() for part in parts)]
    return [str(path), *sorted(str(file.relative_to(ROOT)) for file in named)]


def is_noticed(copy: Path, mutant: Mutant, marks: list[str]) -> bool:
    """Whether a test fails, or none can be collected, with the change in the copy."""
    target = copy / mutant.path
    source = target.read_bytes()
    target.write_bytes(mutant.apply(source))
    try:
        return any(_fails(copy, [*paths, *marks]) for paths in (near(mutant.path), []))
    finally:
        target.write_bytes(source)


def _fails(copy: Path, words: list[str]) -> bool:
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "--no-header", *words]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return True  # a change that hangs is noticed
    return done.returncode not in (0, 5)  # 5: nothing was collected


def _output(*words: str) -> str:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main() -> int:
    """Draw, try, list what survives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", metavar="REV", help="only functions changed since this revision")
    parser.add_argument("--draw", type=int, metavar="N", help="that many functions, drawn; default all")
    parser.add_argument("--seed", type=int, default=0, help="of the draw; default 0")
    parser.add_argument("--quick", action="store_true", help="ask the quick tests only")
    args = parser.parse_args()
    drawn = draw(args.base, args.draw, args.seed)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / ROOT.name
        for name in _output("git", "ls-files").split("\n")[:-1]:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
        for number, mutant in enumerate(drawn, start=1):
            noticed = is_noticed(copy, mutant, ["-m", "quick"] if args.quick else [])
            survivors += not noticed
            print(f"{number}/{len(drawn)} {'noticed ' if noticed else 'SURVIVED'} {mutant}", flush=True)
    print(f"{survivors} of {len(drawn)} changes survived")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
