"""Verdicts as a table on a terminal, as JUnit XML, and as a page that opens offline."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from malsim.base.plain_text import plain_text
from malsim.judging.axioms.engine.page import STYLE
from malsim.judging.duties.engine.assessment import ERROR, FAILS, HOLDS, NOT_OFFERED, VACUOUS
from malsim.judging.duties.engine.duty import OBLIGATION, find_duty
from malsim.showing.pages.page_parts import text as safe

if TYPE_CHECKING:
    from malsim.judging.duties.engine.assessment import CellVerdict, Conformance

SIGNS = {HOLDS: "+", FAILS: "X", VACUOUS: "~", NOT_OFFERED: ".", ERROR: "!"}
MARKS = {HOLDS: "good", FAILS: "bad", VACUOUS: "none", NOT_OFFERED: "none", ERROR: "error"}
TAGS = {FAILS: "failure", ERROR: "error", VACUOUS: "skipped", NOT_OFFERED: "skipped"}
LEGEND = "   ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())


def text(table: Conformance) -> str:
    """A line a cell, a column a memory; of one memory why, and every witness."""
    alone = len(table.memories) == 1
    heads = [] if alone else [f"{place:>3}  {name}" for place, name in enumerate(table.memories, 1)]
    numbers = "".join(f"{place:>3}" for place in range(1, len(table.memories) + 1))
    lines = [*heads, "" if alone else f"{'':<14} {numbers}"]
    for name in dict.fromkeys(one.cell for one in table.verdicts):
        cell, own = find_duty(name), [table.at(memory, name) for memory in table.memories]
        kind = "O" if cell.kind == OBLIGATION else "P"
        why = f" [{own[0].verdict}: {own[0].why}]" if alone and own[0].verdict != HOLDS else ""
        lines.append(f"{name:<12} {kind} {''.join(f'{SIGNS[one.verdict]:>3}' for one in own)}  {cell.sentence}{why}")
    lines += ["", LEGEND, *(f"{name}: {table.counts(name)}" for name in table.memories)]
    if not alone:
        lines += [f"{one.memory}, {one.cell}: {one.why}" for one in table.having(ERROR)]
    for one in table.having(FAILS) if alone else ():
        lines += ["", f"{one.cell}, the calls:", one.witness]
    return plain_text("\n".join(lines).lstrip("\n"))


def junit(table: Conformance) -> str:
    """A suite a memory, a case a cell; what is vacuous or not offered is skipped."""
    root = ET.Element("testsuites")
    for name in table.memories:
        own = [one for one in table.verdicts if one.memory == name]
        counts = {each: str(sum(TAGS.get(one.verdict) == tag for one in own)) for each, tag in COUNTED.items()}
        suite = ET.SubElement(root, "testsuite", {"name": plain_text(name), "tests": str(len(own)), **counts})
        for one in own:
            case = ET.SubElement(suite, "testcase", {"classname": plain_text(name), "name": one.cell})
            if tag := TAGS.get(one.verdict):
                ET.SubElement(case, tag, {"message": plain_text(f"{one.verdict}: {one.why}")}).text = plain_text(one.witness)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def page(table: Conformance) -> str:
    """The page: obligations and prohibitions counted apart; a red cell opens its witness."""
    heads = "".join(f"<th class='axiom'><span>{safe(name)}</span></th>" for name in table.memories)
    rows = "".join(_row(table, name) for name in dict.fromkeys(one.cell for one in table.verdicts))
    counts = "".join(f"<li>{safe(f'{name}: {table.counts(name)}')}</li>" for name in table.memories)
    sections = "".join(_section(one) for one in table.verdicts if one.verdict in (FAILS, ERROR))
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>malsim conformance</title><style>{STYLE}</style><h1 id='top'>What a memory owes</h1><ul>{counts}</ul>"
        f"<p>{safe(LEGEND)}. O: an obligation; P: a prohibition, which counts only where its twin held.</p>"
        f"<div class='wide'><table><tr><th class='law'></th>{heads}</tr>{rows}</table></div>{sections}</html>"
    )


def _row(table: Conformance, name: str) -> str:
    cell = find_duty(name)
    marks = "".join(_mark(table.at(memory, name)) for memory in table.memories)
    kind = "O" if cell.kind == OBLIGATION else "P"
    return f"<tr><th class='law' title='{safe(cell.sentence)}'>{safe(name)} {kind}</th>{marks}</tr>"


def _mark(one: CellVerdict) -> str:
    sign = SIGNS[one.verdict]
    opened = f"<a href='#{_anchor(one)}'>{sign}</a>" if one.verdict in (FAILS, ERROR) else sign
    title = f"{one.memory}, {one.cell}: {one.verdict}. {one.why}"
    return f"<td class='{MARKS[one.verdict]}' title='{safe(title)}'>{opened}</td>"


def _section(one: CellVerdict) -> str:
    return (
        f"<section id='{_anchor(one)}'><h2>{safe(one.memory)}: {safe(one.cell)}</h2>"
        f"<p>{safe(find_duty(one.cell).sentence)} ({one.kind})</p><p><b>{safe(one.why)}</b></p>"
        f"<pre>{safe(one.witness)}</pre><p><a href='#top'>back to the table</a></p></section>"
    )


def _anchor(one: CellVerdict) -> str:
    return safe(f"{one.memory}--{one.cell}".replace(":", "-").replace(".", "-").replace("'", "-again"))
