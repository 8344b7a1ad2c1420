"""Every figure of README and manual has a row in `figures/`, and at night another seed gives it again."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import norm

from malsim.cli import main
from malsim.judging.prices import price
from tests.docs import page_figures as figures
from tests.docs.page_figures import DATA, ROOT, Cell, Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROWS = figures.read_rows()
MADE = [*ROWS["table"], *ROWS["sentence"]]
PAGES = ["README.md", *sorted(f"{path.parent.name}/{path.name}" for path in (ROOT / "malsim/showing/manual").glob("*/*.md"))]
AGAIN = 31_337  # a seed that no page was made with


def name_of(row: Mapping[str, Any]) -> str:
    return f"{row['page']}: {row.get('table', row.get('text'))[:60]}"


def cells_of(row: Mapping[str, Any]) -> Iterator[Cell]:
    return figures.table_cells(row) if "table" in row else figures.sentence_cells(row)


def sources() -> dict[str, list[Row]]:
    """The rows by what makes their figures: a command is run once for all of them."""
    found: dict[str, list[Row]] = {}
    for row in MADE:
        words = [row["command"], row.get("add", ""), *row.get("data", [])]
        found.setdefault(f"{row['page']}: {' '.join(map(str, words))}".strip(), []).append(row)
    return found


SOURCES = sources()


@pytest.mark.parametrize("page", PAGES)
def test_every_figure_of_a_page_has_a_row(page: str) -> None:
    assert figures.unexplained(page, ROWS) == []


@pytest.mark.parametrize("row", MADE, ids=name_of)
def test_figures_have_their_command_in_their_page(row: Mapping[str, Any]) -> None:
    assert list(cells_of(row))
    for words in figures.commands(row):
        assert "--seed" in words or row.get("undrawn"), "no seed"


@pytest.mark.parametrize("row", [*ROWS["sentence"], *ROWS["fixed"]], ids=name_of)
def test_a_row_is_about_words_of_its_page(row: Mapping[str, Any]) -> None:
    assert figures.flat(row.get("text", row.get("table"))) in figures.flat(figures.page_text(row))
    assert row["of"] if "of" in row else row["why"]


@pytest.mark.nightly
@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_another_seed_gives_each_figure_again(
    source: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = SOURCES[source]
    skip_without(rows[0])
    monkeypatch.chdir(ROOT)
    printed = records(rows[0], capsys)
    cells = [(cell, row) for row in rows for cell in cells_of(row)]
    wrong = [line for cell, row in cells for line in off(cell, row, printed, widening(len(cells)))]
    assert not wrong, "\n".join(wrong)


def skip_without(row: Mapping[str, Any]) -> None:
    if missing := [name for name in row.get("packages", []) if find_spec(name) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    if missing := [name for name in row.get("programs", []) if shutil.which(name) is None]:
        pytest.skip(f"not on the path: {', '.join(missing)}")
    if missing := [name for name in row.get("data", []) if not (DATA / name).is_dir()]:
        pytest.skip(f"the real claims lie beside the project, in shared/data, and are not here: {', '.join(missing)}")


def records(row: Mapping[str, Any], capsys: pytest.CaptureFixture[str]) -> list[Row]:
    """What the commands print, on the other seed."""
    return [one for words in figures.commands(row) for one in single(printed(_expanded(words), capsys))]


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    if words[0] == "malsim":
        assert main([*words[1:], "--seed", str(AGAIN), "--json"]) in (0, 1)
        return json.loads(capsys.readouterr().out)
    if words[1:3] == ["-m", "tests.bench.studies"]:
        return importlib.import_module(f"tests.bench.studies.{words[3]}").rows(AGAIN)
    done = subprocess.run(
        [sys.executable, *words[1:], "--seed", str(AGAIN), "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def single(what: Any) -> Iterator[Row]:
    """Rows of one `value` each: of several tables, and of rows with several numbers."""
    rows = what if isinstance(what, list) else [*_tables(what)]
    if rows and "verdict" in rows[0]:
        yield from _counted(rows)
    for row in rows:
        if "value" in row:
            yield row
            continue
        words = {key: each for key, each in row.items() if isinstance(each, str | int)}
        for key, each in row.items():
            if isinstance(each, int | float) and not key.endswith(("_low", "_high")):
                yield {**words, "figure": key, "value": each, "low": row.get(f"{key}_low"), "high": row.get(f"{key}_high")}


def _tables(what: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of each table of an object, then what is beside them as one row."""
    tables = {name: each for name, each in what.items() if isinstance(each, list)}
    for name, rows in tables.items():
        yield from ({"of table": name, **row} for row in rows if isinstance(row, dict))
    yield {name: each for name, each in what.items() if name not in tables}


def _counted(rows: list[Row]) -> Iterator[Row]:
    """Of verdicts on duties: how many of each kind a memory keeps, and of how many that it offers."""
    for memory, kind in dict.fromkeys((row["memory"], row["kind"]) for row in rows if "kind" in row):
        own = [row["verdict"] for row in rows if (row["memory"], row["kind"]) == (memory, kind)]
        yield {"memory": memory, "of": f"{kind}s kept", "figure": "kept", "value": own.count("holds")}
        yield {"memory": memory, "of": f"{kind}s kept", "figure": "offered", "value": len(own) - own.count("not offered")}


def _expanded(words: list[str]) -> list[str]:
    """Words as a shell expands them: braces, then stars."""
    every = [one for word in words for one in _braces(word)]
    return [path for one in every for path in (sorted(map(str, Path().glob(one))) if "*" in one else [one])]


def _braces(word: str) -> list[str]:
    parts = re.match(r"(.*)\{(.*)\}(.*)", word)
    return [parts[1] + middle + parts[3] for middle in parts[2].split(",")] if parts else [word]


def record_of(cell: Cell, part: str | None, row: Mapping[str, Any], records: list[Row]) -> Row:
    """The one row of what was printed that a cell is about."""
    names = row.get("names", {})
    words = {names.get(each, each) for each in (*cell.about, part) if each is not None}
    wanted = row.get("where", {})
    matches = [
        one for one in records
        if words <= {each for each in one.values() if isinstance(each, str)} and wanted.items() <= one.items()
    ]  # fmt: skip
    assert len(matches) == 1, (cell, part, len(matches))
    return matches[0]


def off(cell: Cell, row: Mapping[str, Any], records: list[Row], wider: float) -> list[str]:
    """What of a cell the other seed does not give again."""
    words, parts = [], row.get("parts", [None] * len(cell.numbers))
    for text, part in zip(cell.numbers, parts, strict=False):
        value, low, high = figure(record_of(cell, part, row, records), row)
        half = 0.51 * 10.0 ** -len(text.partition(".")[2])
        if not value - wider * (value - low) - half <= figures.number(text) <= value + wider * (high - value) + half:
            words.append(f"{', '.join(cell.about)}: {text}, and again {value:.4g} [{low:.4g}, {high:.4g}]")
    one = record_of(cell, parts[len(cell.numbers) - 1], row, records)
    ends: list[float] = [one.get(f"{row.get('interval', prefix(row))}{end}") or np.nan for end in ("low", "high")]
    if cell.interval and (cell.interval[0] > ends[1] or ends[0] > cell.interval[1]):
        words.append(f"{', '.join(cell.about)}: {cell.interval}, and again {ends}")
    return words


def figure(record: Row, row: Mapping[str, Any]) -> tuple[float, float, float]:
    """The figure of a record that a row is about, and the ends of its interval; its own where nothing was drawn."""
    value = record[row.get("value", "value")] or record.get("beyond") or 0.0
    ends = [None if row.get("undrawn") else record.get(f"{prefix(row)}{end}") for end in ("low", "high")]
    low, high = (value if end is None else end for end in ends)
    return value, low, high


def prefix(row: Mapping[str, Any]) -> str:
    """How the ends of its figure begin."""
    return f"{row['value']}_" if "value" in row else ""


def widening(count: int) -> float:
    """How many times as far as a 95 % interval reaches: both estimates err, and of many some are far off."""
    return float(np.sqrt(2.0) * norm.ppf(1.0 - 0.025 / count) / norm.ppf(0.975))


@pytest.mark.nightly
@pytest.mark.parametrize("row", ROWS["price"], ids=name_of)
def test_prices_are_those_of_the_table(row: Mapping[str, Any]) -> None:
    skip_without(row)
    head, *lines = [
        [each.strip() for each in line.strip("|").split("|")[1:]]
        for line in figures.table_lines(figures.page_text(row), row["table"])
    ]
    for names, cells in zip(row["order"], lines, strict=True):
        for one in price(*names).frame.to_dicts():
            assert cells == [_price(one[name.removeprefix("the ")], gap=name == "gap") for name in head], one["memory"]


def _price(value: float | None, *, gap: bool) -> str:
    if value is None or value == float("inf"):
        return "" if gap else "over 12"
    return f"{value:.2g}".removeprefix("0")
