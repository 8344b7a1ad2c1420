"""Scorecard of a tripwire, as a self-contained HTML page and as text for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.showing.pages.page_parts import filled, image, png, table, text
from malsim.showing.pages.page_parts import page as skeleton

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from malsim.scenario.proof.questions.answer import SafetyAnswer
    from malsim.showing.plots.style import Sheet

RESOLUTION = 130
ALIKE = {"holds": "holds under", "nothing to lose": "not compared, since no episode is detected without the fault:"}
ALTS = {"time": "watched values and the alarm over time", "card": "truth table", "points": "average run lengths",
        "mutants": "mutants caught and not caught", "faults": "faults in the loop"}  # fmt: skip


def page(figures: dict[str, Sheet], sections: Iterable[str], *, flaws: Sequence[str], bad: bool, **heads: str) -> str:
    """Return a tripwire's scorecard as an HTML page.

    `heads` has the texts name, why, facts, verdict and ticks. They are followed by flaws, figures and collapsible sections.
    """
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
    """Return a table with one row per measure and one column per tripwire. A single replication has no intervals."""
    names = frame["tripwire"].unique(maintain_order=True).to_list()
    cells = {(row["tripwire"], row["metric"]): row for row in frame.to_dicts()}
    texts = {
        key: figure(row, single=single) + ("" if single or row["low"] is None else f" ({row['how']})")
        for key, row in cells.items()
    }
    rows = [
        [metric, *(texts[name, metric] for name in names), meaning]
        for metric, meaning in frame.select("metric", "meaning").unique(maintain_order=True).rows()
    ]
    note = "one replication: use --replications 20 for intervals" if single else ""
    return section("Against the episodes", ["measure", *names, "meaning"], rows, note=note)


def inputs(frame: pl.DataFrame) -> str:
    """Return a table of the watched signals and their freshness."""
    rows = [
        [row["signal"], f"{row['fresh']:.1%}", f"{row['longest']} ticks", f"day {row['changed']:g}"]
        for row in frame.to_dicts()
    ]
    return section("Watched signals", ["signal", "fresh", "longest unchanged", "last changed"], rows)


def answers(proofs: Iterable[SafetyAnswer]) -> str:
    """Return a table of the answers to the safety questions, with flaws first."""
    order = ("FLAW", "not decided", "sound", "not asked")
    rows = [[answer.status, answer.question, answer.how, f"line {answer.line}" if answer.flaw and answer.line else ""]
            for answer in sorted(proofs, key=lambda answer: order.index(answer.status))]  # fmt: skip
    heads, marks = ["answer", "question", "how", "where"], {"sound": "good", "FLAW": "bad"}
    return section("Proved for all inputs", heads, rows, marks=marks)


def truth_table(card: str, problem: str) -> str:
    """Return the truth table as text, or the reason why it is missing."""
    if not card:
        return section("Truth table", [], [], none=problem or "The netlist has no Boolean part.")
    note = "* marks an input that decides, - an input without effect; -o card.csv writes all rows"
    return folded("Truth table", f"<p class='facts'>{note}</p><pre>{text(card)}</pre>")


def coverage(frame: pl.DataFrame, total: float | None) -> str:
    """Return a table of pin coverage, with unexercised pins first."""
    rows = [
        [row["kind"], row["name"], f"line {row['line']}", "shown" if row["shown"] else f"needs {row['wants']}"]
        for row in frame.sort("shown", maintain_order=True).to_dicts()
    ]
    share = f": {total:.0%}" if total is not None else ""
    return section(f"Coverage{share}", ["kind", "pin", "where", "in this scenario"], rows, marks={"shown": "good"})


def mutants(frame: pl.DataFrame, score: float | None) -> str:
    """Return a table of mutants, with the uncaught ones first."""
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
    """Return a table with one row per fault in the loop and one column per alarm."""
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
    """Return a heading, a note and a table, or `none` if there are no rows. `marks` maps cell texts to CSS classes."""
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
    """Return a collapsible section. It is not printed while it is collapsed."""
    return f"<details><summary>{text(title)}</summary>{body}</details>"


def figure(row: dict[str, object], *, single: bool = False) -> str:
    """Format a measure with its interval, such as `12 [8, 19] ticks`. For a single replication, omit the interval.

    >>> row = {"value": None, "low": 12.5, "high": math.inf, "unit": "ticks", "count": 0}
    >>> figure(row), figure(row, single=True)
    ('not seen [12.5, ∞] ticks', 'not seen')
    """
    if row["low"] is None:
        return "nothing to count"
    value = "not seen" if row["value"] is None else _number(row["value"])
    if single:
        unit = {"share": "", "ticks": " tick" if row["value"] == 1 else " ticks"}.get(str(row["unit"]), f" {row['unit']}")
        return value if row["value"] is None else value + unit
    return f"{value} [{_number(row['low'])}, {_number(row['high'])}] {row['unit']}"


def _number(value: object) -> str:
    return "∞" if isinstance(value, float) and math.isinf(value) else f"{value:.3g}"


def coverage_lines(coverage: pl.DataFrame, share: float) -> Iterator[str]:
    """Yield the share of pins that were exercised, and the stimulus that each unexercised pin needs."""
    lacking = coverage.filter(~pl.col("shown"))
    lines = [f"line {row['line']}: {row['kind']} {row['name']} needs {row['wants']}" for row in lacking.to_dicts()]
    return entry("coverage", lines, "complete", head=f"{share:.0%} shown")


def mutant_lines(mutants: pl.DataFrame, uncaught: Sequence[str], score: float) -> Iterator[str]:
    """Yield the share of mutants that were caught, followed by the uncaught, equivalent and crashed mutants."""
    yield from entry("mutants", uncaught, "none", head=f"{score:.0%} caught by a check or a proof; not caught:")
    for verdict in ("equal", "crashed"):
        rows = mutants.filter(pl.col("verdict") == verdict).to_dicts()
        lines = [f"line {row['line']}: {row['what']}: {row['by']}" for row in rows]
        yield from entry("", lines, "", head=f"{verdict}, not counted:")


def fault_lines(faults: pl.DataFrame) -> Iterator[str]:
    """Yield a line for each fault in the loop, with the fault's effect on each alarm."""
    for alarm, rows in faults.group_by("alarm", maintain_order=True):
        lines = [f"{row['fault']}: {fault_effect(row)}" for row in rows.to_dicts() if row["verdict"] not in ALIKE]
        lines += [
            f"{words} {', '.join(names)}"
            for verdict, words in ALIKE.items()
            if (names := rows.filter(verdict=verdict)["fault"].to_list())
        ]
        yield from entry("faults", lines, "", head=f"in the loop, {alarm[0]}:")


def fault_effect(row: dict[str, Any]) -> str:
    """Describe the effect of a fault on an alarm in a few words."""
    match row["verdict"]:
        case "misses":
            return f"misses {row['lost']} of {row['detected']} episodes that are detected without the fault"
        case "late":
            return f"late by {between(row, 'later')} tick{'s' if row['later'] != 1 else ''}"
        case "false alarms":
            return f"{between(row, 'false')} more false alarms per replication"
        case "error":
            return f"could not be run: {row['what']}"
        case _:
            return str(row["verdict"])


def between(row: dict[str, Any], name: str) -> str:
    """Format a paired difference, with its interval if there is one."""
    value = row["later" if name == "later" else "false_alarms"]
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "none" if value is None else f"{value:.2g}" if low is None else f"{value:.2g} [{low:.2g}, {high:.2g}]"


def entry(name: str, lines: Sequence[str], none: str, *, head: str = "") -> Iterator[str]:
    """Yield an entry's lines, with its name in front of the first, or the text `none` if there are no lines."""
    if not lines and not none:
        return
    first = " ".join(part for part in (head, "" if lines else none) if part) or lines[0]
    yield f"  {name:<10} {first}"
    yield from (f"             {line}" for line in (lines if head else lines[1:]))


def score_lines(scores: pl.DataFrame, *, single: bool = False) -> Iterator[str]:
    """Yield a text table with one row per measure and one column per tripwire."""
    names = scores["tripwire"].unique(maintain_order=True).to_list()
    rows = {(row["tripwire"], row["metric"]): figure(row, single=single) for row in scores.to_dicts()}
    metrics = scores["metric"].unique(maintain_order=True).to_list()
    widths = [max(len(name), *(len(rows[name, metric]) for metric in metrics)) for name in names]
    yield "  ".join(["against the episodes".ljust(20), *map(str.ljust, names, widths)]).rstrip()
    for metric in metrics:
        cells = [rows[name, metric].ljust(width) for name, width in zip(names, widths, strict=True)]
        yield "  ".join([metric.ljust(20), *cells]).rstrip()
