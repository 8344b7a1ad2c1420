"""Write a board: pages, pictures, board.json, board.csv."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.files.outputs import save_files
from malsim.board.chances import LOOP
from malsim.board.families import FAMILIES
from malsim.board.figures import Figure
from malsim.board.pages.board_page import index_page, page_name, row_page
from malsim.board.pages.pictures import places_picture, shares_picture
from malsim.board.places import noise_grid, standing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from malsim.board.bundle import Bundle

SMALL = ("row", "metric", "value", "low", "high", "n", "text", "place", "hash", "command", "fails", "by condition")
REBUILT = ("equation", "adapter")  # of a row, which its law or adapter says again
COLUMNS = ("row", "metric", "value", "low", "high", "n", "text", "seed", "hash")


def board_text(data: Mapping[str, Any]) -> str:
    """The board as JSON, a row, metric or cell a line, so that two boards can be laid side by side."""
    parts = []
    for key, value in data.items():
        if isinstance(value, list) and value:
            lines = ",\n ".join(json.dumps(each, ensure_ascii=False) for each in value)
            parts.append(f"{json.dumps(key)}: [\n {lines}\n]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def small_board(data: Mapping[str, Any]) -> dict[str, Any]:
    """The board small enough to be committed: no run by run figures, no streams, nothing that is said twice.

    `cells` are rows under `columns`; `fails` names what a cell's witnesses show, and `by condition` are means over the runs
    of each of its metric's `conditions`. `command` shows a cell by another command; `commands` is the board's for all.
    """
    ranked = {one["name"] for one in data["metrics"] if one["ranked"]}
    conditions = {
        cell["metric"]: list(cell["parts"]) for cell in data["cells"] if cell["metric"] in ranked and cell["parts"]
    }
    metrics = [one | {"conditions": conditions.get(one["name"], [])} for one in data["metrics"]]
    rows = [{name: value for name, value in row.items() if name not in REBUILT} for row in data["rows"]]
    size = data["size"]
    command = f"malsim board --rows ROW --families FAMILY --seed {size['seed']} --replications {size['replications']}"
    cells = [[_short(data, cell, ranked)[name] for name in SMALL] for cell in data["cells"]]
    return {**data, "board": "small", "commands": command, "metrics": metrics, "rows": rows, "columns": SMALL,
            "cells": cells, "standing": {name: one["groups"] for name, one in data["standing"].items()}}  # fmt: skip


def _short(data: Mapping[str, Any], cell: Mapping[str, Any], ranked: set[str]) -> dict[str, Any]:
    """A cell without its runs and streams."""
    place = data["standing"].get(cell["metric"], {}).get("rows", {}).get(cell["row"])
    runs = [[each for each in values if each is not None] for values in cell["parts"].values()]
    return {
        **cell, "place": place and [place["first"], place["last"]],
        "command": cell["commands"][0] if len(cell["commands"]) > 1 else "",
        "fails": [one["name"] for one in cell["witnesses"]],
        "by condition": [round(sum(each) / len(each), 6) if each else None for each in runs if cell["metric"] in ranked],
    }  # fmt: skip


def write_board(data: Mapping[str, Any], folder: Path) -> list[str]:
    """Write all of it into the folder; returns the names of what was written."""
    (folder / "rows").mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame([{name: cell[name] for name in COLUMNS} for cell in data["cells"]], infer_schema_length=None)
    drafts = {"places.png": places_picture(data), "shares.png": shares_picture(data)}
    pictures = {name: picture for name, picture in drafts.items() if picture is not None}
    texts = {"board.json": board_text(data), "small.json": board_text(small_board(data)), "board.csv": frame.write_csv()}
    save_files(folder, {**texts, "index.html": index_page(data), **pictures})
    save_files(folder / "rows", {page_name(row["name"]): row_page(data, row) for row in data["rows"]})
    return ["index.html", "board.json", "small.json", "board.csv", *pictures, "rows"]


def with_bundle(data: Mapping[str, Any], bundle: Bundle, report: Mapping[str, str]) -> dict[str, Any]:
    """The board with the row of a bundle that was checked, in place of a row of that name; places are found anew."""
    name, size = bundle.row.name, bundle.size
    row = {"name": name, "kind": bundle.row.kind, "memory": bundle.row.memory, "version": "", "missing": "", **bundle.sheet}
    names = {one["name"] for one in data["metrics"]}
    cells = [
        {"row": name, **figure.json(), "hash": bundle.keys.get(kind, ""), "seed": size.seed,
         "commands": FAMILIES[kind].shown_by(bundle.row, size)}
        for kind, several in bundle.figures.items() for figure in several if figure.metric in names
    ]  # fmt: skip
    board = dict(data) | {
        "rows": [*(one for one in data["rows"] if one["name"] != name), row],
        "cells": [*(one for one in data["cells"] if one["row"] != name), *cells],
        "bundles": [*(one for one in data.get("bundles", []) if one["row"] != name), dict(report)],
    }
    figures: dict[str, dict[str, Figure]] = {each: {} for each in names}
    fields = Figure.__dataclass_fields__
    for cell in board["cells"]:
        figures[cell["metric"]][cell["row"]] = Figure.read({key: cell[key] for key in fields})
    metrics = [one for family in FAMILIES.values() for one in family.metrics if one.name in names]
    board["standing"] = standing(metrics, figures)
    board["noise"] = noise_grid(LOOP[0], figures[LOOP[0].name]) if LOOP[0].name in names else {}
    return board
