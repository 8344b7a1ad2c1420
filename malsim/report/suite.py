"""A judged suite as one HTML file that opens from a disk without a network: verdicts, margins, seeds, and a figure each."""

from __future__ import annotations

import html
from importlib import resources
from string import Template
from typing import TYPE_CHECKING

from malsim.plot.runs.checked import checked
from malsim.report.page_parts import image, png, text
from malsim.scenario.judge.suite_summary import details
from malsim.scenario.picture import picture

if TYPE_CHECKING:
    from malsim.scenario.judge.judge import Judged, Outcome, Status
    from malsim.scenario.judge.suite_summary import Suite

__all__ = ["report"]

RESOLUTION = 80
MOST_FIGURES = 5 * 2**20 * 3 // 4 - 2**19
WORDS: dict[Status, str] = {"pass": "passed", "fail": "failed", "error": "error"}


def report(suite: Suite) -> str:
    """The page. Figures are PNG inside it; beyond 4 MB of them, failing scenarios keep theirs and others go without."""
    order = sorted(suite.judged, key=lambda judged: ("error", "fail", "pass").index(judged.status))
    figures, left = dict[str, bytes](), MOST_FIGURES
    for judged in order:
        drawn = _figure(judged)
        if drawn and len(drawn) <= left:
            figures[judged.scenario.path or judged.scenario.name] = drawn
            left -= len(drawn)
    rows = list(suite.outcomes())
    sections = [_section(judged, suite, rows, figures) for judged in suite.judged]
    unread = [_failure("error", path, [problem]) for path, problem in suite.unread]
    counts = " ".join(f'<span class="{status}">{suite.count(status)} {word}</span>' for status, word in WORDS.items())
    page = Template(resources.files("malsim.report").joinpath("suite.html").read_text(encoding="utf-8"))
    links = "".join(
        f"<li>{_mark(judged.status)} <a href='#{_anchor(judged)}'>{text(judged.scenario.name)}</a></li>" for judged in order
    )
    return page.substitute(counts=counts, links=links, unread="\n".join(unread), sections="\n".join(sections))


def _section(judged: Judged, suite: Suite, rows: list[tuple[Judged, Outcome]], figures: dict[str, bytes]) -> str:
    scenario = judged.scenario
    mine = [outcome for owner, outcome in rows if owner is judged]
    table = "".join(_row(outcome) for outcome in mine)
    failures = [
        _failure(
            outcome.status,
            outcome.check.name,
            [outcome.message.partition("\n")[0], *details(judged, outcome, suite.options)],
        )
        for outcome in mine
        if outcome.status != "pass"
    ]
    if judged.error:
        failures.append(_failure("error", scenario.name, [judged.error]))
    drawn = figures.get(scenario.path or scenario.name)
    figure = image(drawn, alt="the values checked over time") if drawn else ""
    last = scenario.first + scenario.replications - 1
    facts = f"seed {scenario.seed}, {scenario.days:g} days, replications {scenario.first} to {last}"
    head = "<tr><th></th><th>check</th><th>asked</th><th>margin</th><th>said</th></tr>"
    return (
        f'<section id="{_anchor(judged)}"><h2>{_mark(judged.status)} {text(scenario.name)}</h2><p>{text(scenario.why)}</p>'
        f'<p class="facts">{text(scenario.path)} · {text(facts)}</p>'
        f"<div class='wide'><table>{head}{table}</table></div>{''.join(failures)}{figure}</section>"
    )


def _row(outcome: Outcome) -> str:
    margin = "" if outcome.margin is None else f"{outcome.margin:.4g}"
    said = outcome.message.partition("\n")[0]
    cells = (
        _mark(outcome.status),
        text(outcome.check.name),
        f"<code>{text(outcome.check.property)}</code>",
        margin,
        text(said),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _failure(status: str, name: str, lines: list[str]) -> str:
    return f'<div class="told {status}"><b>{text(name)}</b><pre>{text(chr(10).join(lines))}</pre></div>'


def _figure(judged: Judged) -> bytes | None:
    seen = picture(judged)
    drawn = seen and checked(seen.lines, seen.regions, seen.tubes, seen.events, seen.witnesses)
    return png(drawn, dpi=RESOLUTION) if drawn else None


def _anchor(judged: Judged) -> str:
    return html.escape(
        "".join(letter if letter.isalnum() else "-" for letter in judged.scenario.path or judged.scenario.name)
    )


def _mark(status: Status) -> str:
    return f'<span class="{status}">{WORDS[status]}</span>'
