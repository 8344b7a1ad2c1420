"""A badge and a job summary of one row, for one's own CI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.showing.pages.page_parts import text

if TYPE_CHECKING:
    from collections.abc import Mapping

LETTER, PADDING, HEIGHT = 6.6, 8, 20


def badge(label: str, words: str) -> str:
    """An SVG of two fields, dark and light, that is read out as one sentence.

    >>> "malsim: 22 of 22 axioms" in badge("malsim", "22 of 22 axioms")
    True
    """
    left, right = (round(len(each) * LETTER + 2 * PADDING) for each in (label, words))
    title, size = text(f"{label}: {words}"), f"width='{left + right}' height='{HEIGHT}'"
    font = "font-family='Verdana,DejaVu Sans,sans-serif' font-size='11' text-anchor='middle'"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' {size} role='img' aria-label='{title}'><title>{title}</title>"
        f"<rect width='{left}' height='{HEIGHT}' fill='#333'/>"
        f"<rect x='{left}' width='{right}' height='{HEIGHT}' fill='#e4e4e4'/>"
        f"<g {font}><text x='{left / 2}' y='14' fill='#fff'>{text(label)}</text>"
        f"<text x='{left + right / 2}' y='14' fill='#111'>{text(words)}</text></g></svg>\n"
    )


def job_summary(data: Mapping[str, Any], row: str) -> str:
    """A row as a Markdown table, in the form that GitHub shows as a job's summary."""
    units = {one["name"]: one["unit"] for one in data["metrics"]}
    lines = [f"### malsim board: {_plain(row)}", "", "| column | value | fails |", "|---|---|---|"]
    for cell in data["cells"]:
        if cell["row"] == row and cell["text"]:
            ends = "" if cell["low"] is None else f" [{cell['low']:.3g}, {cell['high']:.3g}]"
            fails = ", ".join(one["name"] for one in cell["witnesses"] if cell["metric"] != "price of the lie")
            lines.append(f"| {cell['metric']} | {_plain(cell['text'])}{ends} {units[cell['metric']]} | {_plain(fails)} |")
    return "\n".join([*lines, ""])


def _plain(words: str) -> str:
    """Words of others in a cell of a Markdown table."""
    return text(words).replace("|", "\\|").replace("\n", " ").replace("`", "'")
