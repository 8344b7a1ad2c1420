"""A tripwire's scorecard as one HTML file that opens from a disk without a network."""

from __future__ import annotations

import base64
import html
import io
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.lab.tripwire.said import between, figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from malsim.lab.tripwire.scorecard import Scorecard
    from malsim.plot.style import Sheet

__all__ = ["page"]

RESOLUTION = 110


def page(made: Scorecard, drawn: Sheet) -> str:
    """The page: the verdict on its silence, the figure, then every table."""
    scenario, receipt = made.scenario, made.receipt
    held = io.BytesIO()
    drawn.savefig(held, format="png", dpi=RESOLUTION)
    verdict, _, watched = str(receipt).partition("\n")
    facts = f"{scenario.path} · seed {scenario.seed}, {scenario.days:g} days, {scenario.replications} replications"
    sections = [_scores(made), _inputs(made), _findings(made), _card(made), _coverage(made), _mutants(made), _faults(made)]
    text = resources.files("malsim.report").joinpath("tripwire.html").read_text(encoding="utf-8")
    return Template(text).substitute(
        name=_text(f"{made.name}: {made.alarm}"), why=_text(scenario.why), facts=_text(facts), verdict=_text(verdict),
        watched=_text(watched), mood="good" if verdict.startswith("alive") else "bad",
        figure=base64.b64encode(held.getvalue()).decode(), sections="\n".join(sections),
    )  # fmt: skip


def _scores(made: Scorecard) -> str:
    names = made.scores["tripwire"].unique(maintain_order=True).to_list()
    told = {(row["tripwire"], row["metric"]): row for row in made.scores.to_dicts()}
    rows = [
        [metric, *(_figure(told[name, metric]) for name in names), meaning]
        for metric, meaning in made.scores.select("metric", "meaning").unique(maintain_order=True).rows()
    ]
    return _section("Against the episodes", ["figure", *names, "what it is"], rows)


def _figure(row: dict[str, object]) -> str:
    return figure(row) if row["low"] is None else f"{figure(row)} ({row['how']})"


def _inputs(made: Scorecard) -> str:
    rows = [
        [row["signal"], f"{row['fresh']:.1%}", f"{row['longest']} ticks", f"day {row['changed']:g}"]
        for row in made.receipt.inputs.to_dicts()
    ]
    return _section("What it watches", ["signal", "fresh", "longest unchanged", "last changed"], rows)


def _findings(made: Scorecard) -> str:
    rows = [[one.kind, one.fault.where, one.fault.problem, one.fault.hint] for one in made.findings]
    return _section("What can be said without running it", ["kind", "where", "what", "try"], rows, none="nothing to say")


def _card(made: Scorecard) -> str:
    if made.card is None:
        return _section("Truth table", [], [], none=made.untold or "it has no Boolean part")
    return f"<section><h2>Truth table</h2><p class='facts'>* decides</p><pre>{_text(str(made.card))}</pre></section>"


def _coverage(made: Scorecard) -> str:
    rows = [
        [row["kind"], row["name"], f"line {row['line']}", "shown" if row["shown"] else f"wants {row['wants']}"]
        for row in made.coverage.sort("shown", maintain_order=True).to_dicts()
    ]
    share = f": {made.covered:.0%}" if made.covered is not None else ""
    return _section(f"Coverage{share}", ["kind", "pin", "where", "in this scenario"], rows, marks={"shown": "good"})


def _mutants(made: Scorecard) -> str:
    order = made.mutants.sort(
        pl.col("verdict").replace_strict({"survived": 0, "crashed": 1, "killed": 2}), maintain_order=True
    )
    rows = [
        [row["verdict"], row["kind"], f"line {row['line']}", row["what"],
         row["by"] or ("the alarm rang otherwise, and no check asks" if row["shows"] else "this scenario never shows it")]
        for row in order.to_dicts()
    ]  # fmt: skip
    score = made.mutation_score
    title = "Wrongs put in on purpose" + (f": {score:.0%} noticed" if score is not None else "")
    heads = ["fate", "kind", "where", "what was done", "by"]
    return _section(title, heads, rows, none="not run", marks={"killed": "good", "survived": "bad"})


def _faults(made: Scorecard) -> str:
    rows = [
        [row["fault"], row["alarm"], row["verdict"], _lost(row), between(row, "later"), between(row, "false"), row["what"]]
        for row in made.faults.to_dicts()
    ]
    heads = ["fault", "alarm", "verdict", "episodes lost", "ticks later", "false alarms more", "what was done"]
    return _section("Faults in the loop", heads, rows, none="not run", marks={"holds": "good", "blinded": "bad"})


def _lost(row: dict[str, Any]) -> str:
    return f"{row['lost']} of {row['detected']}" + ("" if row["low"] is None else f" [{row['low']:.0%}, {row['high']:.0%}]")


def _section(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    none: str = "",
    marks: dict[str, str] | None = None,
) -> str:
    rows = list(rows)
    if not rows:
        return f"<section><h2>{_text(title)}</h2><p>{_text(none or 'nothing')}</p></section>"
    head = "".join(f"<th>{_text(name)}</th>" for name in heads)
    body = "".join("<tr>" + "".join(_cell(cell, marks or {}) for cell in row) + "</tr>" for row in rows)
    return f"<section><h2>{_text(title)}</h2><div class='wide'><table><tr>{head}</tr>{body}</table></div></section>"


def _cell(cell: object, marks: dict[str, str]) -> str:
    mark = marks.get(str(cell))
    return f"<td class='{mark}'>{_text(str(cell))}</td>" if mark else f"<td>{_text(str(cell))}</td>"


def _text(text: str) -> str:
    return html.escape(text)
