"""A tripwire's scorecard as one HTML file that opens from a disk without a network, from its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.showing.pages.page_parts import filled, image, png, table, text
from malsim.showing.pages.page_parts import page as skeleton
from malsim.showing.pages.tripwire_text import between, figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from malsim.scenario.proof.questions.answer import SafetyAnswer
    from malsim.showing.plots.style import Sheet

RESOLUTION = 110


def page(drawing: Sheet, sections: Iterable[str], *, flaws: Sequence[str], bad: bool, **heads: str) -> str:
    """Return the page: name, why, facts, verdict and watched ticks of `heads`, the flaws, the figure, then every table."""
    picture = image(png(drawing, dpi=RESOLUTION), alt="timeline, truth table, operating points, mutants and faults")
    body = filled(
        "tripwire", **{name: text(words) for name, words in heads.items()},
        flaws="".join(f"<li>{text(flaw)}</li>" for flaw in flaws), mood="bad" if bad else "good",
        figure=picture, sections="\n".join(sections),
    )  # fmt: skip
    return skeleton(f"{heads['name']}: scorecard", body)


def scores(frame: pl.DataFrame) -> str:
    """A row a figure with its meaning, a column a tripwire."""
    names = frame["tripwire"].unique(maintain_order=True).to_list()
    cells = {(row["tripwire"], row["metric"]): row for row in frame.to_dicts()}
    rows = [
        [metric, *(_figure(cells[name, metric]) for name in names), meaning]
        for metric, meaning in frame.select("metric", "meaning").unique(maintain_order=True).rows()
    ]
    return section("Against the episodes", ["figure", *names, "what it is"], rows)


def _figure(row: dict[str, object]) -> str:
    return figure(row) if row["low"] is None else f"{figure(row)} ({row['how']})"


def inputs(frame: pl.DataFrame) -> str:
    """What it watches, and how fresh that is."""
    rows = [
        [row["signal"], f"{row['fresh']:.1%}", f"{row['longest']} ticks", f"day {row['changed']:g}"]
        for row in frame.to_dicts()
    ]
    return section("What it watches", ["signal", "fresh", "longest unchanged", "last changed"], rows)


def answers(proofs: Iterable[SafetyAnswer]) -> str:
    """A row an answer for all inputs, those against the tripwire first."""
    order = ("FLAW", "not decided", "sound", "not asked")
    rows = [[one.status, one.question, one.how, f"line {one.line}" if one.flaw and one.line else ""]
            for one in sorted(proofs, key=lambda one: order.index(one.status))]  # fmt: skip
    heads, marks = ["answer", "question", "how", "where"], {"sound": "good", "FLAW": "bad"}
    return section("Proved for all inputs", heads, rows, marks=marks)


def truth_table(card: str, problem: str) -> str:
    """The truth table as text, or why there is none."""
    if not card:
        return section("Truth table", [], [], none=problem or "it has no Boolean part")
    return f"<section><h2>Truth table</h2><p class='facts'>* decides</p><pre>{text(card)}</pre></section>"


def coverage(frame: pl.DataFrame, total: float | None) -> str:
    """What this scenario showed, what it did not first."""
    rows = [
        [row["kind"], row["name"], f"line {row['line']}", "shown" if row["shown"] else f"wants {row['wants']}"]
        for row in frame.sort("shown", maintain_order=True).to_dicts()
    ]
    share = f": {total:.0%}" if total is not None else ""
    return section(f"Coverage{share}", ["kind", "pin", "where", "in this scenario"], rows, marks={"shown": "good"})


def mutants(frame: pl.DataFrame, score: float | None) -> str:
    """Each mutant and its fate, survivors first."""
    order = frame.sort(
        pl.col("verdict").replace_strict({"survived": 0, "crashed": 1, "killed": 2, "equal": 3}), maintain_order=True
    )
    rows = [
        [row["verdict"], row["kind"], f"line {row['line']}", row["what"],
         row["by"] or ("the alarm rang otherwise, and no check asks" if row["shows"] else "this scenario never shows it")]
        for row in order.to_dicts()
    ]  # fmt: skip
    title = "Mutants" + (f": {score:.0%} noticed" if score is not None else "")
    heads = ["fate", "kind", "where", "what was done", "by"]
    return section(title, heads, rows, none="not run", marks={"killed": "good", "survived": "bad"})


def faults(frame: pl.DataFrame) -> str:
    """Each fault in the loop and what it did to each alarm."""
    rows = [
        [row["fault"], row["alarm"], row["verdict"], _losses(row), between(row, "later"), between(row, "false"), row["what"]]
        for row in frame.to_dicts()
    ]
    heads = ["fault", "alarm", "verdict", "episodes lost", "ticks later", "false alarms more", "what was done"]
    return section("Faults in the loop", heads, rows, none="not run", marks={"holds": "good", "blinded": "bad"})


def _losses(row: dict[str, Any]) -> str:
    return f"{row['lost']} of {row['detected']}" + ("" if row["low"] is None else f" [{row['low']:.0%}, {row['high']:.0%}]")


def section(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    none: str = "",
    marks: dict[str, str] | None = None,
) -> str:
    """A heading with a table; `none` where it has no rows, `marks` the classes of cells by their text."""
    rows = list(rows)
    if not rows:
        return f"<section><h2>{text(title)}</h2><p>{text(none or 'nothing')}</p></section>"
    cells = ("<tr>" + "".join(_cell(cell, marks or {}) for cell in row) + "</tr>" for row in rows)
    return f"<section><h2>{text(title)}</h2>{table(heads, cells)}</section>"


def _cell(cell: object, marks: dict[str, str]) -> str:
    mark = marks.get(str(cell))
    return f"<td class='{mark}'>{text(str(cell))}</td>" if mark else f"<td>{text(str(cell))}</td>"
