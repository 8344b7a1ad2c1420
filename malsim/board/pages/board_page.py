"""The board as a folder of pages that open offline: one table, a page a row, and every cell's witness or run."""

from __future__ import annotations

import re
import zlib
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

from malsim.board.pages.page_sections import noise_section, odds_section, plan_section, ranking_section
from malsim.board.pages.pictures import LEADING
from malsim.board.pages.shown_columns import columns_of
from malsim.showing.pages.page_parts import text

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = {"law": "laws", "preset": "presets", "package": "packages", "own": "own memories"}


def page_name(row: str) -> str:
    """The file of a row's page.

    >>> page_name("majority"), page_name("my memory:A")
    ('majority.html', 'my-memory-A-fb66f8a5.html')
    """
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", row)
    return f"{plain}.html" if plain == row else f"{plain}-{zlib.crc32(row.encode()):08x}.html"


def _page(title: str, body: str) -> str:
    folder = resources.files("malsim.board.pages")
    template, script = (folder.joinpath(f"board.{ending}").read_text(encoding="utf-8") for ending in ("html", "js"))
    return Template(template).substitute(title=text(title), body=body, script=script)


ABOUT = (
    "Nothing here is to be taken on trust: each cell opens its command line, seed, hash and versions, and where a memory "
    "fails the smallest stream that shows it. Laws of other people are minimal models; packages run as they ship. A bar at "
    "the left marks who may be the best of a column, grey who may be the worst; a place such as <b>2 to 5</b> is as far as "
    "paired replications tell memories apart."
)
PICTURES = {
    "places.png": "The places that each memory may hold, by accuracy in the loop; memories that are not told apart stand "
    "beside one bar. The same numbers stand in the table.",
    "shares.png": "Memories by columns, darker is better within a column; the numbers stand in the table.",
}
NONE_HERE = {"error": "error", "not installed": "not installed", "not asked": "not asked"}


def index_page(data: Mapping[str, Any]) -> str:
    """The page of all rows."""
    size, versions = data["size"], ", ".join(f"{name} {one}" for name, one in data["versions"].items())
    facts = (
        f"{len(data['rows'])} memories, {len(data['metrics'])} columns; seed {size['seed']}, {size['replications']} "
        "replications of what is drawn, half as many of each attack. Intervals are 95 %."
    )
    facts += f" Real claims: {', '.join(size['claims'])}." if size["claims"] else ""
    pictures = ("shares.png", *(("places.png",) if LEADING in data["standing"] else ()))
    options = "".join(f"<option value='{kind}'>{name}</option>" for kind, name in KINDS.items())
    images = "".join(f"<p><img src='{name}' alt='{words}'></p>" for name, words in PICTURES.items() if name in pictures)
    body = (
        f"<h1>How each memory does</h1><p>{text(facts)}</p><p>{ABOUT}</p>"
        "<div class='bar'><label>find <input type='search' id='find'></label><label>show <select id='kind'>"
        f"<option value=''>all</option>{options}</select></label><output id='said' aria-live='polite'></output>"
        f"<span>tick two rows to compare them</span></div><table id='pair' hidden></table>{_table(data)}"
        f"{plan_section(data)}<h2>At a glance</h2>{images}"
        f"{ranking_section(data)}{noise_section(data)}{odds_section(data)}<h2>Made with</h2><p>{text(versions)}. The same "
        "figures: <a href='board.json'>board.json</a>, <a href='board.csv'>board.csv</a>.</p>"
    )
    return _page("malsim board", body)


def _table(data: Mapping[str, Any]) -> str:
    cells, (differ, same) = {(cell["row"], cell["metric"]): cell for cell in data["cells"]}, columns_of(data)
    metrics = [*differ, *(one for one in data["metrics"] if one["name"] in same)]
    heads = "".join(map(_head, metrics))
    rows = "".join(
        _row(data, row, [(one, cells.get((row["name"], one["name"]))) for one in metrics]) for row in data["rows"]
    )
    words = "; the column {} stands last, as it is {:g} for all that have a number"
    last = "".join(words.format(*each) for each in same.items())
    return (
        "<div class='wide'><table class='board' role='table'><caption>A heading sorts, a cell opens how it was found"
        f"{text(last)}</caption><thead><tr><th scope='col'><button type='button'>memory</button></th>"
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _head(metric: Mapping[str, Any]) -> str:
    better = "more" if metric["better"] == "higher" else "less"
    return (
        f"<th scope='col' data-name='{text(metric['name'])}' title='{text(metric['sentence'])}'><button type='button'>"
        f"{text(metric['name'])}</button><small>{text(metric['unit'])}, {better} is better</small></th>"
    )


def _row(
    data: Mapping[str, Any], row: Mapping[str, Any], cells: list[tuple[Mapping[str, Any], Mapping[str, Any] | None]]
) -> str:
    name, page = text(row["name"]), f"rows/{page_name(row['name'])}"
    several = "".join("<td role='cell'></td>" if cell is None else _cell(data, metric, cell, page) for metric, cell in cells)
    return (
        f"<tr role='row' data-name='{name}' data-kind='{row['kind']}'><th scope='row' role='rowheader'>"
        f"<input class='pick' type='checkbox' value='{name}' aria-label='compare {name}'> <a href='{page}'>{name}</a></th>"
        f"{several}</tr>"
    )


def _cell(data: Mapping[str, Any], metric: Mapping[str, Any], cell: Mapping[str, Any], page: str) -> str:
    name, value, words = metric["name"], cell["value"], cell["text"]
    if name in data["times"] and (timed := data["times"][name].get(cell["row"])) is not None:
        value, words = timed, f"{timed:.3g}"
    if value is None:
        words = next((short for start, short in NONE_HERE.items() if words.startswith(start)), words)
    ends = "" if cell["low"] is None else f"{cell['low']:.3g} to {cell['high']:.3g}"
    stand = data["standing"].get(name, {}).get("rows", {}).get(cell["row"])
    place, above, mark = "", "", "" if value is not None else " class='none'"
    if stand is not None:
        names = list(data["standing"][name]["rows"])
        place = f"<small>place {_place(stand)}</small>"
        above = f" data-above='{text('|'.join(names[each] for each in stand['above']))}'"
        ends_of = (stand["first"] == 1) - (stand["last"] == len(names))  # who may be both is neither
        mark = {1: " class='best'", 0: "", -1: " class='worst'"}[ends_of]
    plain = text(f"{words} ({ends})" if ends else words)
    number = "" if value is None else value
    return (
        f"<td role='cell'{mark} data-label='{text(name)}' data-value='{number}' data-text='{plain}'{above}><span>"
        f"<a href='{page}#{_anchor(name)}' aria-label='{text(cell['row'])}, {text(name)}: {plain}'>{text(words) or '–'}</a>"
        f"{f'<small>{ends}</small>' if ends else ''}{place}</span></td>"
    )


def _place(stand: Mapping[str, Any]) -> str:
    return f"{stand['first']}" if stand["first"] == stand["last"] else f"{stand['first']} to {stand['last']}"


def _anchor(metric: str) -> str:
    return metric.replace(" ", "-")


def row_page(data: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """The page of a row: its data sheet, and of each cell what shows it again."""
    settings = ", ".join(f"{name} = {value}" for name, value in row["configuration"].items()) or "as it ships"
    facts = {"kind": row["kind"], "source": row["source"], "version": row["version"],
             "configuration": settings, "switched off": row["switched_off"], "missing": row["missing"]}  # fmt: skip
    sheet = "".join(f"<dt>{name}</dt><dd>{text(str(value))}</dd>" for name, value in facts.items() if value)
    lines = "".join(
        f"<h3>{head}</h3><pre>{text(row[key])}</pre>"
        for key, head in (("equation", "Equation"), ("adapter", "Adapter's first lines"))
        if row[key]
    )
    metrics = {one["name"]: one for one in data["metrics"]}
    cells = "".join(_section(data, metrics[cell["metric"]], cell) for cell in data["cells"] if cell["row"] == row["name"])
    return _page(
        f"{row['name']}: malsim board",
        f"<nav><a href='../index.html'>all memories</a></nav><h1>{text(row['name'])}</h1><p>{text(row['sentence'])}</p>"
        f"<dl>{sheet}</dl>{lines}<h2>Its cells</h2>{cells}",
    )


def _section(data: Mapping[str, Any], metric: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    timed = data["times"].get(cell["metric"], {}).get(cell["row"])
    ends = "" if cell["low"] is None else f" [{cell['low']:.4g}, {cell['high']:.4g}]"
    value = f"{timed:.3g} (of this machine)" if timed is not None else f"{cell['text']}{ends}"
    versions = ", ".join(f"{name} {one}" for name, one in data["versions"].items())
    facts = {"value": f"{value} {metric['unit']}", "counted over": cell["n"], "seed": cell["seed"], "hash": cell["hash"],
             "versions": versions}  # fmt: skip
    runs = {
        name: [each for each in values if each is not None] for name, values in cell["parts"].items() if metric["ranked"]
    }
    facts |= {f"in {name}": f"{sum(values) / len(values):.3g}" for name, values in runs.items() if values}
    listed = "".join(f"<dt>{text(name)}</dt><dd>{text(str(one))}</dd>" for name, one in facts.items() if one != "")
    commands = "\n".join(cell["commands"])
    witnesses = "".join(
        f"<details><summary>{text(one['name'])}: {text(one['why'])}</summary><pre>{text(one['stream'])}</pre></details>"
        for one in cell["witnesses"]
    )
    return (
        f"<section id='{_anchor(metric['name'])}'><h3>{text(metric['name'])}</h3><p>{text(metric['sentence'])}</p>"
        f"<dl>{listed}</dl><pre>{text(commands)}</pre>{witnesses}</section>"
    )
