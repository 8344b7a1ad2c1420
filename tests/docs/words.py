"""Word checker that reads every text shown to people and reports each word banned by words.toml as `file:line: rule`."""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
PHRASES = [(re.compile(row["not"], re.IGNORECASE), row) for row in RULES["phrase"]]
CODE = re.compile(r"^\s*(`{3,}).*?^\s*\1\s*$|``[^`]+``|`[^`\n]+`|^ {4,}[^\n]*$", flags=re.DOTALL | re.MULTILINE)
IN_LINE = re.compile(r"`[^`\n]+`|>>> [^\n]*")
TOML_TEXT = re.compile(r'\b(?:why|name|title|description)\s*=\s*"+([^"]*)"|#\s*(.*)$', re.MULTILINE)
LEAST_WORDS = 3
LONGEST_NAME = RULES["limits"].get("test_name", 10**9)


class Text(NamedTuple):
    """Piece of text with its kind and the line on which it begins."""

    kind: str
    line: int
    words: str
    first: bool = False
    function: bool = False


def blank(pattern: re.Pattern[str], words: str) -> str:
    """Replace code with `x`, but keep its line breaks so that later line numbers stay the same."""
    return pattern.sub(lambda code: "x" + "\n" * code[0].count("\n"), words)


def is_property(node: ast.AST) -> bool:
    marks = getattr(node, "decorator_list", [])
    return any("property" in ast.dump(mark) or "fixture" in ast.dump(mark) for mark in marks)


def docstrings(tree: ast.Module, *, of_tests: bool) -> Iterator[Text]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            words = ast.get_docstring(node, clean=False)
            if words:
                function = (
                    isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_property(node) and not of_tests
                )
                yield Text("docstring", node.body[0].lineno, words, first=True, function=function)


def spoken(node: ast.AST) -> str:
    """Join the literal parts of a string node, with `x` in place of each interpolated value."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def strings(tree: ast.Module) -> Iterator[Text]:
    """Yield each string of at least three words that is not a docstring; strings in a `raise` statement are messages."""
    expressions = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    passed = {id(node) for node in expressions if isinstance(node, ast.Constant)}
    passed |= {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node
    }
    raised = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node)}
    for node in ast.walk(tree):
        words = "" if id(node) in passed else spoken(node)
        if len(words.split()) >= LEAST_WORDS:
            yield Text("message" if id(node) in raised else "text", getattr(node, "lineno", 1), words)


def names(tree: ast.Module) -> Iterator[Text]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Text("name", node.lineno, node.id)
        elif isinstance(node, ast.arg):
            yield Text("name", node.lineno, node.arg)


def comments(source: str) -> Iterator[Text]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text("comment", token.start[0], token.string)


def python_texts(source: str, *, of_tests: bool = False) -> Iterator[Text]:
    tree = ast.parse(source)
    yield from docstrings(tree, of_tests=of_tests)
    yield from comments(source)
    yield from names(tree)
    if of_tests:
        yield from (
            Text("test", node.lineno, node.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        )
    else:
        yield from strings(tree)


def notebook_texts(source: str) -> Iterator[Text]:
    """Yield a notebook's Markdown cells and code comments. A text's line number is its cell's number."""
    for number, cell in enumerate(json.loads(source)["cells"], 1):
        written = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield Text("notebook", number, blank(CODE, written).replace("\n", " "))
        else:
            yield from (Text("notebook", number, match[0]) for match in re.finditer(r"#.*", written))


def texts(path: Path) -> list[Text]:
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return list(python_texts(source, of_tests="tests" in path.parts))
    if path.suffix == ".ipynb":
        return list(notebook_texts(source))
    if path.suffix == ".toml":
        rows = TOML_TEXT.finditer(source)
        return [Text("scenario", source.count("\n", 0, row.start()) + 1, row[1] or row[2] or "") for row in rows]
    return [Text("page", 1, blank(CODE, source))]


def wrong_phrases(text: Text) -> Iterator[tuple[int, str]]:
    words = blank(IN_LINE, text.words).replace("_", " ") if text.kind != "page" else text.words
    for pattern, row in PHRASES:
        if text.kind in row.get("in", [text.kind]):
            for match in pattern.finditer(words):
                yield text.line + words.count("\n", 0, match.start()), f"{match[0]!r}: write {row['write']}"


def wrong(text: Text) -> Iterator[tuple[int, str]]:
    """Yield (line number, violated rule) for each fault in a text."""
    if text.kind == "name":
        if text.words.strip("_") in RULES["names"]["not"]:
            yield text.line, f"variable {text.words!r}: name it by {RULES['names']['write']}"
        return
    yield from wrong_phrases(text)
    if text.kind == "test" and len(text.words) > LONGEST_NAME:
        yield text.line, f"{text.words!r} has {len(text.words)} characters, at most {LONGEST_NAME}"
    if text.first:
        word = (re.findall(r"[^\W\d_]+", text.words) or [""])[0]
        if word in RULES["first_words"]["any"] or (text.function and word in RULES["first_words"]["function"]):
            yield text.line, f"docstring begins with {word!r}: begin with {RULES['first_words']['write']}"


def faults(path: Path) -> list[str]:
    """List a file's faults as `file:line: kind: rule`, sorted by line."""
    rows = sorted({(line, text.kind, rule) for text in texts(path) for line, rule in wrong(text)})
    return [f"{path}:{line}: {kind}: {rule}" for line, kind, rule in rows]


def files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    kinds = {".py", ".md", ".ipynb", ".toml"}
    return sorted(
        path for path in folder.rglob("*") if path.suffix in kinds and not any(part[0] == "." for part in path.parts[1:])
    )


def main(arguments: list[str]) -> int:
    found = [fault for folder in arguments or ["."] for path in files(Path(folder)) for fault in faults(path)]
    sys.stdout.write("\n".join([*found, f"{len(found)} faults", ""]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
