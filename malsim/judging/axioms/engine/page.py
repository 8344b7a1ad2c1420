"""A page that opens offline: laws × axioms, each red cell with its witness, its events and a picture of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from malsim.base.files.outputs import save_text
from malsim.judging.axioms.engine.axiom import BROKEN, ERROR, HOLDS, N_A, find_axiom
from malsim.judging.axioms.engine.events import event_table
from malsim.judging.axioms.engine.show import replay_code
from malsim.judging.axioms.engine.witness_svg import picture
from malsim.showing.pages.page_parts import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from malsim.judging.axioms.engine.axiom import AxiomVerdict
    from malsim.judging.axioms.engine.matrix import Matrix
    from malsim.judging.axioms.engine.subject import Subject

    Figures: TypeAlias = Mapping[str, Mapping[str, str]]

NOTHING = "–"
MARKS = {HOLDS: ("good", "✓"), BROKEN: ("bad", "✗"), N_A: ("none", "·"), ERROR: ("error", "!")}
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: clamp(.7rem, 3vw, 2rem); color: #222 }
.wide { overflow-x: auto }
table { border-collapse: collapse } td { width: 1.7rem; height: 1.7rem; text-align: center; border: 1px solid #fff }
th.law { text-align: right; padding-right: .6rem; font-weight: normal; white-space: nowrap;
  position: sticky; left: 0; background: #fff }
th.axiom { height: 11rem; vertical-align: bottom; font-weight: normal }
th.axiom span { writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap }
.good { background: #d8ecd9; color: #2a6b30 } .bad { background: #c0392b }
.bad a { color: #fff; text-decoration: none; display: block }
.none { color: #aaa } .error { background: #6c3483; color: #fff }
h2 { overflow-wrap: anywhere }
section { margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: .5rem }
pre { background: #f6f6f6; padding: .7rem; white-space: pre-wrap; overflow-x: auto }
"""


def write_page(
    verdicts: Matrix,
    subjects: Sequence[Subject],
    path: str | Path,
    *,
    figures: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Write the page; it asks no server for anything.

    `figures` are columns beside the axioms: by their heading, a text by law.
    """
    by_name = {subject.name: subject for subject in subjects}
    sections = "".join(_section(one, by_name[one.law]) for one in verdicts.broken)
    counts = f"{len(verdicts.laws)} memories, {len(verdicts.axioms)} axioms, {len(verdicts.broken)} broken."
    legend = f"{counts} A red cell opens its witness; ✓ holds, ✗ broken, · does not apply, ! error."
    save_text(
        path,
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>malsim axioms</title><style>{STYLE}</style>"
        f"<h1 id='top'>What any sound memory keeps</h1><p>{legend}</p>{_table(verdicts, figures or {})}{sections}</html>",
    )


def _table(verdicts: Matrix, figures: Figures) -> str:
    heads = "".join(
        f"<th class='axiom' title='{text(find_axiom(axiom).sentence)}'><span>{axiom}</span></th>"
        for axiom in verdicts.axioms
    ) + "".join(f"<th class='axiom'><span>{text(head)}</span></th>" for head in figures)
    rows = "".join(
        f"<tr><th class='law'>{text(law)}</th>{''.join(_cell(verdicts.at(law, axiom)) for axiom in verdicts.axioms)}"
        f"{''.join(f'<td>{text(one.get(law, NOTHING))}</td>' for one in figures.values())}</tr>"
        for law in verdicts.laws
    )
    return f"<div class='wide'><table><tr><th class='law'></th>{heads}</tr>{rows}</table></div>"


def _cell(one: AxiomVerdict) -> str:
    kind, mark = MARKS[one.verdict]
    sign = f"<a href='#{_anchor(one)}'>{mark}</a>" if one.verdict == BROKEN else mark
    title = f"{one.law}, {one.axiom}: {one.verdict}. {one.why}"
    return f"<td class='{kind}' title='{text(title)}'>{sign}</td>"


def _section(one: AxiomVerdict, subject: Subject) -> str:
    return (
        f"<section id='{_anchor(one)}'><h2>{text(one.law)}: {one.axiom}</h2>"
        f"<p>{text(find_axiom(one.axiom).sentence)}</p>"
        f"<p><b>{text(one.why)}.</b></p><div class='wide'>{picture(subject, one.witness)}</div>"
        f"<pre>{text(event_table(one.witness))}</pre>"
        f"<details><summary>show it again</summary><pre>{text(replay_code(one))}</pre></details>"
        "<p><a href='#top'>back to the table</a></p></section>"
    )


def _anchor(one: AxiomVerdict) -> str:
    return text(f"{one.law}--{one.axiom}".replace(":", "-").replace(".", "-"))
