"""Figures of pages: which row of `figures/` each belongs to, and what its command says on another seed.

A file of `figures/` is about one page: README.md or one of malsim/showing/manual. It has rows of four kinds.

- `[[table]]`: `table` is how the table's first line begins.
- `[[sentence]]`: `text` is a part of the page; `of` has, for each number in it, what it is about ([]: a setting).
- `[[fixed]]`: `text` is a part of the page, or `table` how a table begins, whose numbers nothing
  draws; `why` says what they are.
- `[[price]]`: a table of `malsim.judging.prices`; `order` has the memories of each row.

In `[[table]]` and `[[sentence]]`, `command` is how the command in the page begins that makes the figures, or several. It
names its seed, or the row is `undrawn`: its figures are the same on every seed, whatever their intervals are. It prints
JSON rows: words, `value`, `low`, `high`; other numbers of a row are taken one by one, with their name as a word. Further
keys:

- `add` has further options, `packages` and `programs` what has to be installed, `data` which folders of real claims take
  the place of FOLDER in the command;
- `order` has the names of the rows where their labels are sentences, `names` labels that the command calls otherwise;
- `where` has what neither label says, `parts` what tells several numbers of a cell apart;
- `value` is the figure of a row that is meant, where it has several with ends (`gain`, `gain_low`, `gain_high`),
  `interval` how the ends begin that brackets are, where these are another's;
- `but` has the rows and columns of a table that are not meant, `only` those that are: another row is about the others.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DATA = ROOT.parent / "shared" / "data"
NUMBER = re.compile(r"[-−+]?\d[\d,]*\.?\d*|[-−+]?\.\d+")
INTERVAL = re.compile(rf"\[({NUMBER.pattern}), ({NUMBER.pattern})\]")
CODE = re.compile(r"`[^`]*`")
INLINE = re.compile(r"(?<!`)`[^`]+`(?!`)")  # and no fence
FENCE = re.compile(r"^```.*?^```\n", flags=re.DOTALL | re.MULTILINE)
MEASURED = re.compile(
    r"(?<![\w.])[-−+]?\d*\.\d+\b(?!\.\d)|\d+ %|\b\d[\d,]* (?:of|in) \d[\d,]*\b|\b\d[\d,]* (?:times|ms|s|KB|MB|GB)\b"
)
Row = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """Figures that belong together: the words they are about, the numbers as printed, and the interval behind them."""

    about: tuple[str, ...]
    numbers: tuple[str, ...]
    interval: tuple[float, float] | None = None
    place: tuple[int, int] = (0, 0)


def read_rows() -> dict[str, list[Row]]:
    """The rows of every page by kind, each with its page."""
    found: dict[str, list[Row]] = {"table": [], "sentence": [], "fixed": [], "price": []}
    for path in sorted((HERE / "figures").glob("*.toml")):
        for kind, rows in tomllib.loads(path.read_text(encoding="utf-8")).items():
            found[kind] += [{"page": page_name(path.stem), **row} for row in rows]
    return found


def page_name(stem: str) -> str:
    """The page that a file of figures is about."""
    if stem == "README":
        return "README.md"
    (path,) = (ROOT / "malsim/showing/manual").glob(f"*/{stem}.md")
    return f"{path.parent.name}/{path.name}"


def page_text(row: Mapping[str, Any]) -> str:
    """The text of a row's page."""
    name = row["page"]
    return (ROOT / (name if name == "README.md" else f"malsim/showing/manual/{name}")).read_text(encoding="utf-8")


def label(text: str) -> str:
    """What a heading or a row is called: what is in code type before a colon or alone, or all of it."""
    code = re.fullmatch(r"`([^`]+)`(:.*)?", text.strip())
    return code[1] if code else text.strip().strip("*")


def table_cells(row: Mapping[str, Any]) -> Iterator[Cell]:
    """The cells of a table that hold figures and are meant, each with its line and column."""
    head, *lines = [line.strip("|").split(" | ") for line in table_lines(page_text(row), row["table"])]
    order = row.get("order", [label(line[0]) for line in lines])
    for line, (first, (_, *others)) in enumerate(zip(order, lines, strict=True)):
        for column, text in enumerate(others):
            plain = text.replace("**", "").replace("−", "-")
            ends, names = INTERVAL.search(plain), {first, label(head[column + 1])}
            numbers = tuple(NUMBER.findall(re.sub(r"[\[(].*?[\])]", "", plain)))
            if numbers and not names & {*row.get("but", [])} and ("only" not in row or names & {*row["only"]}):
                interval = (number(ends[1]), number(ends[2])) if ends else None
                yield Cell((first, label(head[column + 1])), numbers, interval, (line, column))


def table_lines(text: str, begins: str) -> list[str]:
    """A table's lines without the rule below its head."""
    lines = text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(begins))
    end = next((place for place in range(start, len(lines)) if not lines[place].startswith("|")), len(lines))
    return [line for line in lines[start:end] if not line.startswith("|--")]


def sentence_cells(row: Mapping[str, Any]) -> Iterator[Cell]:
    """The figures of a sentence, one number each, with the interval that follows it."""
    plain = flat(row["text"]).replace("−", "-")
    spans = [(one.start(), one.end()) for one in INTERVAL.finditer(plain)]
    numbers = [one for one in NUMBER.finditer(CODE.sub(_blank, plain)) if not any(a < one.start() < b for a, b in spans)]
    for one, about in zip(numbers, row["of"], strict=True):
        ends = INTERVAL.match(plain, one.end() + 1)
        if about:
            yield Cell(tuple(about), (one[0].strip(","),), (number(ends[1]), number(ends[2])) if ends else None)


def _blank(code: re.Match[str]) -> str:
    return " " * len(code[0])


def number(text: str) -> float:
    """A number as pages print it."""
    return float(text.replace(",", "").replace("−", "-"))


def flat(text: str) -> str:
    """Text without line breaks."""
    return " ".join(text.split())


def commands(row: Mapping[str, Any]) -> list[list[str]]:
    """The commands in the page that made the figures, each without its comment, and what the row adds."""
    text = INLINE.sub(lambda code: flat(code[0]), re.sub(r"\s*\\\n\s*", " ", page_text(row)))
    beginnings = [row["command"]] if isinstance(row["command"], str) else row["command"]
    found = [re.search(re.escape(begins) + r"[^`\n]*", text) for begins in beginnings]
    assert all(found), f"{row['page']} has no command {beginnings}"
    return [[*_filled(shlex.split(one[0], comments=True), row), *shlex.split(row.get("add", ""))] for one in found if one]


def _filled(words: list[str], row: Mapping[str, Any]) -> list[str]:
    """The command with real folders in place of FOLDER."""
    if "FOLDER" not in words:
        return words
    start = words.index("FOLDER")
    rest = [word for word in words[start:] if word not in {"FOLDER", "…"}]
    return [*words[:start], *(str(DATA / name) for name in row["data"]), *rest]


def unexplained(page: str, rows: Mapping[str, list[Row]]) -> list[str]:
    """The cells of tables and the sentences of a page whose measured numbers no row is about."""
    mine = {kind: [row for row in each if row["page"] == page] for kind, each in rows.items()}
    text = FENCE.sub("\n", page_text({"page": page}))
    prose = flat(re.sub(r"^\|.*\n", "\n", text, flags=re.MULTILINE))
    for row in [*mine["sentence"], *mine["fixed"]]:
        prose = prose.replace(flat(row["text"]), "¦") if "text" in row else prose
    prose = CODE.sub("", prose)
    left = [prose[max(0, one.start() - 60) : one.end() + 40] for one in MEASURED.finditer(prose)]
    tables = [one[0].splitlines() for one in re.finditer(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)]
    return [*left, *(cell for lines in tables for cell in _open_cells(page, lines, mine))]


def _open_cells(page: str, lines: list[str], rows: Mapping[str, list[Row]]) -> Iterator[str]:
    """The cells of one table that measure something and that no row is about."""
    if any(lines[0].startswith(row["table"]) for row in rows["price"]):
        return
    mine = [row for row in [*rows["table"], *rows["fixed"]] if "table" in row and lines[0].startswith(row["table"])]
    done = {cell.place for row in mine for cell in table_cells(row)}
    measured = any(MEASURED.search(CODE.sub("", line.partition(" | ")[2])) for line in lines[2:])
    for cell in table_cells({"page": page, "table": lines[0]}) if measured or mine else ():
        if cell.place not in done:
            yield f"{', '.join(cell.about)}: {', '.join(cell.numbers)}"
