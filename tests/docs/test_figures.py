"""Figures of tables in pages: a table names its command, and at night another seed gives each cell again.

A row of figures.toml names a page (README.md or one of malsim/docs), how the table's first line begins, and how the command
in the page does that made it. Of its other keys

- `add` is what the page says of further options, `again` another seed, `packages` what has to be installed;
- `order` has the laws of the rows where their labels are sentences, `names` labels that the command calls otherwise;
- `where` has what neither label says, `laws` those of several numbers in a cell, `interval` whose ends brackets are;
- `but` has rows and columns that the command does not make.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import norm

from malsim.cli import main
from malsim.price import price

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FIGURES: dict[str, list[dict[str, Any]]] = tomllib.loads((HERE / "figures.toml").read_text(encoding="utf-8"))
TABLES = FIGURES["table"]
NUMBER = re.compile(r"[-−+]?\d*\.?\d+")
INTERVAL = re.compile(rf"\[({NUMBER.pattern}), ({NUMBER.pattern})\]")


@dataclass(frozen=True)
class Cell:
    """A cell with figures: its row, its column, its numbers as printed, and the interval behind them."""

    row: str
    column: str
    numbers: tuple[str, ...]
    interval: tuple[float, float] | None


def name_of(table: Mapping[str, Any]) -> str:
    return f"{table['page']}: {table['table']}"


def page_of(table: Mapping[str, Any]) -> str:
    name = table["page"]
    return (ROOT / (name if name == "README.md" else f"malsim/docs/{name}")).read_text(encoding="utf-8")


def label(text: str) -> str:
    """What a heading or a row is called: what is in code type before a colon or alone, or all of it."""
    code = re.fullmatch(r"`([^`]+)`(:.*)?", text.strip())
    return code[1] if code else text.strip().strip("*")


def cells_of(table: Mapping[str, Any]) -> Iterator[Cell]:
    """The cells of a table that hold figures."""
    lines = page_of(table).splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(table["table"]))
    head, *rows = [line.strip("|").split(" | ") for line in _until_blank(lines[start:]) if not line.startswith("|--")]
    order = table.get("order", [label(row[0]) for row in rows])
    for first, (_, *others) in zip(order, rows, strict=True):
        for column, text in zip(head[1:], others, strict=True):
            plain = text.replace("**", "").replace("−", "-")
            ends = INTERVAL.search(plain)
            numbers = tuple(NUMBER.findall(re.sub(r"[\[(].*?[\])]", "", plain)))
            if numbers and not {first, label(column)} & set(table.get("but", [])):
                yield Cell(first, label(column), numbers, (float(ends[1]), float(ends[2])) if ends else None)


def _until_blank(lines: list[str]) -> list[str]:
    return lines[: next((place for place, line in enumerate(lines) if not line.startswith("|")), len(lines))]


def commands_of(table: Mapping[str, Any]) -> list[list[str]]:
    """The commands in the page that made the table, each without its comment, and what the page says besides."""
    text = re.sub(r"\s*\\\n\s*|\n\s*(?=--)", " ", page_of(table).replace("\nmal,", " mal,"))
    beginnings = [table["command"]] if isinstance(table["command"], str) else table["command"]
    found = [re.search(re.escape(begins) + r"[^`\n]*", text) for begins in beginnings]
    assert all(found), f"{table['page']} has no command {beginnings}"
    return [[*shlex.split(one[0], comments=True)[1:], *shlex.split(table.get("add", ""))] for one in found if one]


def records(table: Mapping[str, Any], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What the commands print, on the other seed."""
    rows = []
    for words in commands_of(table):
        assert main([*_expanded(words), "--seed", str(table["again"]), "--json"]) == 0
        rows += json.loads(capsys.readouterr().out)
    return rows


def _expanded(words: list[str]) -> list[str]:
    """Words as a shell expands them: braces, then stars."""
    every = [one for word in words for one in _braces(word)]
    return [path for one in every for path in (sorted(map(str, Path().glob(one))) if "*" in one else [one])]


def _braces(word: str) -> list[str]:
    parts = re.match(r"(.*)\{(.*)\}(.*)", word)
    return [parts[1] + middle + parts[3] for middle in parts[2].split(",")] if parts else [word]


def record_of(cell: Cell, law: str | None, table: Mapping[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The one row of what was printed that a cell is about."""
    names = table.get("names", {})
    words = {names.get(each, each) for each in (cell.row, cell.column, law) if each is not None}
    wanted = table.get("where", {})
    matches = [
        row for row in rows
        if words <= {each for each in row.values() if isinstance(each, str)} and wanted.items() <= row.items()
    ]  # fmt: skip
    assert len(matches) == 1, (cell, law, len(matches))
    return matches[0]


def off(cell: Cell, table: Mapping[str, Any], rows: list[dict[str, Any]], wider: float) -> list[str]:
    """What of a cell the other seed does not give again."""
    words, laws = [], table.get("laws", [None] * len(cell.numbers))
    for text, law in zip(cell.numbers, laws, strict=False):
        row = record_of(cell, law, table, rows)
        value, half = row["value"] or row.get("beyond") or 0.0, 0.51 * 10.0 ** -len(text.partition(".")[2])
        low, high = (value if row[end] is None else row[end] for end in ("low", "high"))
        if not value - wider * (value - low) - half <= float(text) <= value + wider * (high - value) + half:
            words.append(f"{cell.row}, {cell.column}: {text}, and again {value:.4g} [{low:.4g}, {high:.4g}]")
    row = record_of(cell, laws[-1], table, rows)
    ends: list[float] = [row.get(f"{table.get('interval', '')}{end}") or np.nan for end in ("low", "high")]
    if cell.interval and (cell.interval[0] > ends[1] or ends[0] > cell.interval[1]):
        words.append(f"{cell.row}, {cell.column}: {cell.interval}, and again {ends}")
    return words


def widening(count: int) -> float:
    """How many times as far as a 95 % interval reaches: both estimates err, and of many some are far off."""
    return float(np.sqrt(2.0) * norm.ppf(1.0 - 0.025 / count) / norm.ppf(0.975))


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_a_table_has_its_command_in_its_page(table: Mapping[str, Any]) -> None:
    assert len(list(cells_of(table))) > 3
    assert commands_of(table)


@pytest.mark.nightly
@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_another_seed_gives_each_cell_again(
    table: Mapping[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing := [name for name in table.get("packages", []) if find_spec(name) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    monkeypatch.chdir(ROOT)
    rows, cells = records(table, capsys), list(cells_of(table))
    wrong = [line for cell in cells for line in off(cell, table, rows, widening(len(cells)))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.nightly
@pytest.mark.parametrize("table", FIGURES["price"], ids=name_of)
def test_prices_are_those_of_the_table(table: Mapping[str, Any]) -> None:
    if missing := [name for name in table.get("packages", []) if find_spec(name) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    columns = {
        "lie": "lie",
        "the lie": "lie",
        "identities": "identities",
        "truth": "truth",
        "the truth": "truth",
        "gap": "gap",
    }
    lines = _until_blank(page_of(table).partition(table["table"])[2].splitlines()[1:])[1:]
    head = [each.strip() for each in table["table"].strip("| ").split("|")][1:]
    for names, line in zip(table["order"], lines, strict=True):
        cells = [each.strip() for each in line.strip("|").split("|")][1:]
        for row in price(*names).frame.to_dicts():
            printed = [_price(row[columns[name]], gap=name == "gap") for name in head]
            assert cells == printed, row["memory"]


def _price(value: float | None, *, gap: bool) -> str:
    if value is None or value == float("inf"):
        return "" if gap else "over 12"
    return f"{value:.2g}".removeprefix("0")
