"""Self-contained HTML page for a judged suite: verdicts, margins, seeds and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.scenario.judge.suite_summary import details
from malsim.scenario.picture import picture
from malsim.showing.pages.page_parts import filled, image, page, png, text
from malsim.showing.plots.runs.checked import checked

if TYPE_CHECKING:
    from malsim.scenario.judge.judge import Judged, Outcome, Status
    from malsim.scenario.judge.suite_summary import Suite

RESOLUTION = 80
MOST_FIGURES = 5 * 2**20 * 3 // 4 - 2**19  # number of PNG bytes that fit into a page of 5 MiB after base64 encoding
WORDS: dict[Status, str] = {"pass": "passed", "fail": "failed", "error": "error"}


def report(suite: Suite) -> str:
    """Return the HTML page for a suite. At most 3.4 MB of figures are embedded, those of failing scenarios first."""
    order = sorted(suite.judged, key=lambda entry: ("error", "fail", "pass").index(entry.status))
    figures, budget = dict[str, bytes](), MOST_FIGURES
    for entry in order:
        data = picture(entry)
        figure = data and checked(data.lines, data.regions, data.bands, data.events, data.witnesses)
        if figure and len(image_bytes := png(figure, dpi=RESOLUTION)) <= budget:
            figures[entry.scenario.path or entry.scenario.name] = image_bytes
            budget -= len(image_bytes)
    rows = list(suite.outcomes())
    sections = [_section(entry, suite, rows, figures) for entry in suite.judged]
    unread = [_failure("error", path, [problem]) for path, problem in suite.unread]
    counts = " ".join(f'<span class="{status}">{suite.count(status)} {word}</span>' for status, word in WORDS.items())
    links = "".join(
        f"<li>{_mark(entry.status)} <a href='#{_anchor(entry)}'>{text(entry.scenario.name)}</a></li>" for entry in order
    )
    body = filled("suite", counts=counts, links=links, unread="\n".join(unread), sections="\n".join(sections))
    return page("malsim: verdicts", body)


def _section(judged: Judged, suite: Suite, rows: list[tuple[Judged, Outcome]], figures: dict[str, bytes]) -> str:
    scenario = judged.scenario
    outcomes = [outcome for owner, outcome in rows if owner is judged]
    table = "".join(_row(outcome) for outcome in outcomes)
    failures = []
    for outcome in outcomes:
        if outcome.status != "pass":
            lines = [outcome.message.partition("\n")[0], *details(judged, outcome, suite.options)]
            failures.append(_failure(outcome.status, outcome.check.name, lines))
    if judged.error:
        failures.append(_failure("error", scenario.name, [judged.error]))
    figure = figures.get(scenario.path or scenario.name)
    tag = image(figure, alt="checked values over time") if figure else ""
    last = scenario.first + scenario.replications - 1
    facts = f"seed {scenario.seed}, {scenario.days:g} days, replications {scenario.first} to {last}"
    head = "<tr><th></th><th>check</th><th>property</th><th>margin</th><th>message</th></tr>"
    return (
        f'<section id="{_anchor(judged)}"><h2>{_mark(judged.status)} {text(scenario.name)}</h2><p>{text(scenario.why)}</p>'
        f'<p class="facts">{text(scenario.path)} · {text(facts)}</p>'
        f"<div class='wide'><table>{head}{table}</table></div>{''.join(failures)}{tag}</section>"
    )


def _row(outcome: Outcome) -> str:
    cells = (
        _mark(outcome.status),
        text(outcome.check.name),
        f"<code>{text(outcome.check.property)}</code>",
        "" if outcome.margin is None else f"{outcome.margin:.4g}",
        text(outcome.message.partition("\n")[0]),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _failure(status: str, name: str, lines: list[str]) -> str:
    return f'<div class="told {status}"><b>{text(name)}</b><pre>{text(chr(10).join(lines))}</pre></div>'


def _anchor(judged: Judged) -> str:
    name = judged.scenario.path or judged.scenario.name
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _mark(status: Status) -> str:
    return f'<span class="{status}">{WORDS[status]}</span>'
