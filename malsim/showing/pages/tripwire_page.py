"""Scorecard of a tripwire as a self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.showing.pages.page_parts import filled, image, png, table, text
from malsim.showing.pages.page_parts import page as skeleton
from malsim.showing.pages.tripwire_text import fault_effect, figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from malsim.scenario.proof.questions.answer import SafetyAnswer
    from malsim.showing.plots.style import Sheet

RESOLUTION = 130
ALTS = {"time": "watched values and the alarm over time", "card": "truth table", "points": "average run lengths",
        "mutants": "mutants caught and not caught", "faults": "faults in the loop"}  # fmt: skip


def page(figures: dict[str, Sheet], sections: Iterable[str], *, flaws: Sequence[str], bad: bool, **heads: str) -> str:
    """Return the page with the texts of `heads` (name, why, facts, verdict, ticks), flaws, figures and folded sections."""
    picture = "".join(
        f"<div class='{name}'>{image(png(figure, dpi=RESOLUTION), alt=ALTS[name])}</div>" for name, figure in figures.items()
    )
    body = filled(
        "tripwire", **{name: text(words) for name, words in heads.items()},
        flaws="".join(f"<li>{text(flaw)}</li>" for flaw in flaws), mood="bad" if bad else "good",
        figures=picture, sections="\n".join(sections),
    )  # fmt: skip
    return skeleton(f"{heads['name']}: scorecard", body)


def scores(frame: pl.DataFrame, *, single: bool) -> str:
    """Return a table with a row per measure and a column per tripwire, without intervals for a single replication."""
    names = frame["tripwire"].unique(maintain_order=True).to_list()
    cells = {(row["tripwire"], row["metric"]): row for row in frame.to_dicts()}
    rows = [
        [metric, *(_score(cells[name, metric], single=single) for name in names), meaning]
        for metric, meaning in frame.select("metric", "meaning").unique(maintain_order=True).rows()
    ]
    note = "one replication: use --replications 20 for intervals" if single else ""
    return section("Against the episodes", ["measure", *names, "meaning"], rows, note=note)


def _score(row: dict[str, object], *, single: bool) -> str:
    text = figure(row, single=single)
    return text if single or row["low"] is None else f"{text} ({row['how']})"


def inputs(frame: pl.DataFrame) -> str:
    """Return a table of the watched signals and their freshness."""
    rows = [
        [row["signal"], f"{row['fresh']:.1%}", f"{row['longest']} ticks", f"day {row['changed']:g}"]
        for row in frame.to_dicts()
    ]
    return section("Watched signals", ["signal", "fresh", "longest unchanged", "last changed"], rows)


def answers(proofs: Iterable[SafetyAnswer]) -> str:
    """Return a table of the safety answers, flaws first."""
    order = ("FLAW", "not decided", "sound", "not asked")
    rows = [[answer.status, answer.question, answer.how, f"line {answer.line}" if answer.flaw and answer.line else ""]
            for answer in sorted(proofs, key=lambda answer: order.index(answer.status))]  # fmt: skip
    heads, marks = ["answer", "question", "how", "where"], {"sound": "good", "FLAW": "bad"}
    return section("Proved for all inputs", heads, rows, marks=marks)


def truth_table(card: str, problem: str) -> str:
    """Return the truth table as text, or the reason why there is none."""
    if not card:
        return section("Truth table", [], [], none=problem or "The netlist has no Boolean part.")
    note = "* marks an input that decides, - an input without effect; -o card.csv writes all rows"
    return folded("Truth table", f"<p class='facts'>{note}</p><pre>{text(card)}</pre>")


def coverage(frame: pl.DataFrame, total: float | None) -> str:
    """Return a table of the exercised pins, gaps first."""
    rows = [
        [row["kind"], row["name"], f"line {row['line']}", "shown" if row["shown"] else f"needs {row['wants']}"]
        for row in frame.sort("shown", maintain_order=True).to_dicts()
    ]
    share = f": {total:.0%}" if total is not None else ""
    return section(f"Coverage{share}", ["kind", "pin", "where", "in this scenario"], rows, marks={"shown": "good"})


def mutants(frame: pl.DataFrame, score: float | None) -> str:
    """Return a table of the mutants, uncaught mutants first."""
    order = frame.sort(
        pl.col("verdict").replace_strict({"not caught": 0, "crashed": 1, "caught": 2, "equal": 3}), maintain_order=True
    )
    why = {True: "the alarm differs, but no check covers it", False: "the alarm is the same in this scenario"}
    rows = [
        [row["verdict"], row["kind"], f"line {row['line']}", row["what"], row["by"] or why[bool(row["shows"])]]
        for row in order.to_dicts()
    ]  # fmt: skip
    title = "Mutants" + (f": {score:.0%} caught by a check or a proof" if score is not None else "")
    heads = ["result", "kind", "where", "change", "caught by, or reason"]
    return section(title, heads, rows, none="not run", marks={"caught": "good", "not caught": "bad"})


def faults(frame: pl.DataFrame) -> str:
    """Return a table with a row per fault in the loop and a column per alarm."""
    names = frame["alarm"].unique(maintain_order=True).to_list()
    cells = {(row["fault"], row["alarm"]): row for row in frame.to_dicts()}
    rows = [
        [fault, what, *(fault_effect(cells[fault, name]) for name in names)]
        for fault, what in frame.select("fault", "what").unique("fault", maintain_order=True).rows()
    ]
    return section("Faults in the loop", ["fault", "change", *names], rows, none="not run", marks={"holds": "good"})


def section(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    none: str = "",
    note: str = "",
    marks: dict[str, str] | None = None,
) -> str:
    """Return a heading, a note and a table, or `none` without rows. `marks` maps the text of cells to CSS classes."""
    rows = list(rows)
    if not rows:
        return folded(title, f"<p>{text(none or 'nothing')}</p>")
    classes = {word: f" class='{mark}'" for word, mark in (marks or {}).items()}
    lines = (
        "<tr>" + "".join(f"<td{classes.get(str(cell), '')}>{text(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    facts = f"<p class='facts'>{text(note)}</p>" if note else ""
    return folded(title, facts + table(heads, lines))


def folded(title: str, body: str) -> str:
    """Return a collapsible section, which is not printed while it is closed."""
    return f"<details><summary>{text(title)}</summary>{body}</details>"
