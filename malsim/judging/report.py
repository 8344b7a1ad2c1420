"""Display of verdicts as text, as JUnit XML, and as a section of an HTML page."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from malsim.base.plain_text import one_line, plain_text
from malsim.judging.axioms.engine.events import event_table
from malsim.judging.prices.prices import price_cells
from malsim.judging.verdict_table import BROKEN, ERROR, FAILS, HOLDS, N_A, NOT_OFFERED, RECORDED, VACUOUS
from malsim.showing.pages.page_parts import table as html_table
from malsim.showing.pages.page_parts import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.judging.prices.prices import PriceTable
    from malsim.judging.verdict_table import QuestionVerdict, VerdictTable

SIGNS = {HOLDS: "+", BROKEN: "X", FAILS: "X", VACUOUS: "~", N_A: ".", NOT_OFFERED: ".", RECORDED: "r", ERROR: "!"}
CLASSES = {HOLDS: "good", BROKEN: "bad", FAILS: "bad", ERROR: "error"}
SKIPPED = (VACUOUS, NOT_OFFERED, N_A, RECORDED)
TAGS = {BROKEN: "failure", FAILS: "failure", ERROR: "error"} | dict.fromkeys(SKIPPED, "skipped")
COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}
KINDS = {"axiom": " ", "obligation": "O", "prohibition": "P"}
STYLE = """<style>
:root { --wide: none; }
.verdicts td { text-align: center; } .verdicts th { font-weight: normal; white-space: nowrap; }
.verdicts tr:first-child th { height: 9rem; vertical-align: bottom; }
.verdicts tr:first-child span { writing-mode: vertical-rl; transform: rotate(180deg); }
.prices td, .prices th { text-align: right; } .prices th:first-child { text-align: left; }
pre { background: var(--card); padding: .7rem; } figure { margin: 0; } svg { max-width: 100%; height: auto; }
</style>
"""


def verdict_text(table: VerdictTable[Any]) -> str:
    """Return a table with one row per question and one column per memory.

    For a single memory, include reasons and witnesses.
    """
    names, alone = table.memories, len(table.memories) == 1
    lines = [] if alone else [f"{number:>3}  {name}" for number, name in enumerate(names, 1)]
    wide = max((len(name) for name in table.names), default=0)
    if not alone:
        lines.append(" " * (wide + 2) + "".join(f"{number:>3}" for number in range(1, len(names) + 1)))
    for name in table.names:
        row = [table.at(memory, name) for memory in names]
        why = f" [{row[0].verdict}: {one_line(row[0].why)}]" if alone and row[0].why else ""
        signs = "".join(f"{SIGNS[entry.verdict]:>3}" for entry in row)
        lines.append(f"{name:<{wide}} {KINDS[row[0].kind]}{signs}  {row[0].sentence}{why}")
    lines += ["", legend(table), *(f"{name}: {table.counts(name)}" for name in names), *table.notes]
    if not alone:
        lines += [one_line(f"{entry.memory}, {entry.name}: {entry.why}") for entry in table.errors]
    for entry in table.having(table.FAILING) if alone else ():
        lines += ["", f"{entry.name}, the calls:", entry.calls]
    return plain_text("\n".join(lines))


def legend(table: VerdictTable[Any]) -> str:
    """Return a legend of the verdict signs that occur. Signs for holding, failing and errors are always included."""
    occurring = {HOLDS, table.FAILING, ERROR, *(entry.verdict for entry in table.verdicts)}
    return "   ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items() if verdict in occurring)


def junit(tables: Sequence[VerdictTable[Any]]) -> str:
    """Return JUnit XML with one suite per memory and one case per question.

    Vacuous and inapplicable questions are skipped.
    """
    root = ET.Element("testsuites")
    for table in tables:
        for name in table.memories:
            entries = [entry for entry in table.verdicts if entry.memory == name]
            counts = {count: str(sum(TAGS.get(entry.verdict) == tag for entry in entries)) for count, tag in COUNTED.items()}
            suite = ET.SubElement(root, "testsuite", {"name": plain_text(name), "tests": str(len(entries)), **counts})
            for entry in entries:
                case = ET.SubElement(suite, "testcase", {"classname": plain_text(name), "name": entry.name})
                if tag := TAGS.get(entry.verdict):
                    message = plain_text(f"{entry.verdict}: {entry.why}")
                    ET.SubElement(case, tag, {"message": message}).text = plain_text(entry.calls)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def verdict_section(table: VerdictTable[Any], title: str) -> str:
    """Return an HTML section with the verdict table and the witnesses, linked from the failures."""
    heads = "".join(f"<th><span>{text(name)}</span></th>" for name in table.memories)
    rows = ""
    for name in table.names:
        row = [table.at(memory, name) for memory in table.memories]
        head = f"<th title='{text(row[0].sentence)}'>{text(name)} {KINDS[row[0].kind]}</th>"
        rows += f"<tr>{head}{''.join(map(_cell, row))}</tr>"
    counts = "".join(f"<li>{text(f'{name}: {table.counts(name)}')}</li>" for name in table.memories)
    witnesses = ""
    for entry in (*table.having(table.FAILING), *table.errors):
        witnesses += f"<section id='{_anchor(entry)}'><h2>{text(f'{entry.memory}: {entry.name}')}</h2>"
        witnesses += f"<p>{text(entry.sentence)}</p><p><b>{text(entry.why)}</b></p>"
        witnesses += f"<pre>{text(entry.calls)}</pre></section>" if entry.calls else "</section>"
    return (
        f"<h1>{text(title)}</h1><ul>{counts}</ul><p>{text(legend(table))}. Failures link to their witness.</p>"
        f"<div class='wide'><table class='verdicts'><tr><th></th>{heads}</tr>{rows}</table></div>{witnesses}"
    )


def _cell(verdict: QuestionVerdict) -> str:
    sign = SIGNS[verdict.verdict]
    if verdict.verdict in {BROKEN, FAILS, ERROR}:
        sign = f"<a href='#{_anchor(verdict)}'>{sign}</a>"
    title = f"{verdict.memory}, {verdict.name}: {verdict.verdict}. {verdict.why}"
    return f"<td class='{CLASSES.get(verdict.verdict, 'facts')}' title='{text(title)}'>{sign}</td>"


def _anchor(verdict: QuestionVerdict) -> str:
    return text(f"{verdict.memory}--{verdict.name}".replace(":", "-").replace(".", "-").replace("'", "-again"))


def price_section(prices: PriceTable, title: str) -> str:
    picture = io.StringIO()
    prices.figure().savefig(picture, format="svg")
    svg, first = picture.getvalue(), prices.prices[0]
    head = ["memory", *first.lie, *(f"truth: {way}" for way in first.truth), "lie", "identities", "truth", "gap"]
    rows, lies = [], ""
    for price in prices.prices:
        name, cells = text(price.memory), "".join(f"<td>{cell.replace('-', '–')}</td>" for cell in price_cells(price))
        rows.append(f"<tr><th>{name}</th>{cells}</tr>")
        events = event_table(price.witness) if price.witness else "none was found"
        lies += f"<h2>{name}</h2><p>The shortest lie that it believes:</p><pre>{text(events)}</pre>"
    return (
        f"<h1>{text(title)}</h1><p>Steps until a memory doubts / changes its answer; – is more than were tried.</p>"
        f"<figure>{svg[svg.index('<svg') :]}</figure><div class='prices'>{html_table(head, rows)}</div>{lies}"
    )
