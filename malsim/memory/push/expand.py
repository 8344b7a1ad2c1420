"""Page of one cell: its scores term by term, texts, neighbours in both directions, and versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import AddressError
from malsim.base.finite import finite
from malsim.base.plain_text import block, one_line
from malsim.memory.explain import Explanation, explain
from malsim.memory.gate.edit import expanded
from malsim.memory.law_steps import present
from malsim.memory.rules import Rules
from malsim.memory.schema import FLAG_WORDS, SCORE_WORDS
from malsim.memory.tables.write import latest_day

if TYPE_CHECKING:
    from malsim.memory.graph.claim_graph import Memory

_DAYS = ("created", "touched", "read", "valid_from", "valid_to", "rejected", "expires", "reverify")


@dataclass(frozen=True, kw_only=True)
class Expanded:
    """Page of one opened cell.

    `cell` holds the cell's fields and `explanation` the terms of its effective confidence. `neighbours` has one row per
    edge (direction in or out, relation, weight, handle, title, status, effective, writer), `versions` one row per version
    of its chain (version, handle, title, status, created). `memory` is the memory after the read, in which the cell's
    salience is higher. If a `field` was requested, only its value is printed.
    """

    cell: dict[str, Any]
    explanation: Explanation
    neighbours: pl.DataFrame
    versions: pl.DataFrame
    memory: Memory
    field: str = ""

    def __str__(self) -> str:
        cell = self.cell
        if self.field:
            text = str(cell[self.field])
            return block(text) if "\n" in text else one_line(text)
        lines = [str(self.explanation), f"  {self.explanation.why}", ""]
        names = (
            "kind", "writer", "status", "stability", "verification", "origin", "sensitivity", "object", "value",
            "value_text", "summary",
        )  # fmt: skip
        lines += [f"  {name:<12} {one_line(str(cell[name]))}" for name in names if cell[name] not in (None, "")]
        lines += [
            f"  {name:<12} {one_line(', '.join(cell[name]))}" for name in ("topics", "entities", "source_refs") if cell[name]
        ]
        lines += [f"  {name:<12} day {cell[name]:g}" for name in _DAYS
                  if cell[name] is not None]  # fmt: skip
        flags = [name for name in ("annexed", "locked", "pinned", "requires_review", "immutable") if cell[name]]
        lines += [f"  {'flags':<12} {', '.join(flags)}"] * bool(flags)
        lines += [f"  {name:<12} {cell[name]:.4f}" for name in ("currency", "salience") if cell[name] is not None]
        text = " ".join(cell[name] for name in ("title", "summary", "body") if cell[name])
        lines.append(f"  {'footprint':<12} {len(text.split())} words, {len(text.encode())} bytes")
        if cell["body"]:
            lines += ["", block(cell["body"])]
        lines += _table("neighbours", self.neighbours) + _table(
            "versions", self.versions if self.versions.height > 1 else None
        )
        return "\n".join(lines)


def expand(memory: Memory, handle: str, *, now: float | None = None, rep: int = 0, rules: Rules | None = None) -> Expanded:
    """Open one cell by handle, key, `handle@vN` or a prefix of the handle. The given memory is not changed.

    `now` is the day of the read, by default the latest day in the memory. A field may follow, as in `dec_a3ee#scores.eff` or
    `dec_a3ee-scores-eff`. The texts of a secret cell are withheld. Raises `AddressError` if no cell or several cells match.
    """
    rules = rules or Rules()
    row, field = _row_and_field(memory, handle, rep)
    current = present(memory, rules).memory
    cell = current.cells.row(row, named=True)
    now = latest_day(memory) if now is None else finite(now, where="now")
    if cell["sensitivity"] == "secret":
        cell |= {"body": "(withheld: secret)", "summary": None, "topics": [], "entities": [], "source_refs": []}
    return Expanded(
        cell=cell,
        explanation=explain(memory, cell["handle"], t=now, rep=rep, rules=rules),
        neighbours=pl.concat([_edges(current, row, "source", "out"), _edges(current, row, "target", "in")]),
        versions=memory.cells[memory.chain(row)].select("handle", "title", "status", "created").with_row_index("version", 1),
        memory=expanded(memory, np.array([row]), now, rules),
        field=field,
    )


def row_of(memory: Memory, text: str, rep: int) -> int:
    return _row_and_field(memory, text, rep)[0]


def _row_and_field(memory: Memory, text: str, rep: int) -> tuple[int, str]:
    name, sign, path = text.partition("#")
    if not sign:
        try:
            return memory.row(text, rep=rep), ""
        except AddressError:
            name, sign, path = text.partition("-")
            if not sign:
                raise
    group, _, word = path.replace(".", "-").rpartition("-")
    row = memory.row(name, rep=rep)
    words = {"scores": SCORE_WORDS, "flags": FLAG_WORDS}.get(group, {} if group else {**SCORE_WORDS, **FLAG_WORDS})
    column = words.get(word, word)
    if column not in (words.values() if group else memory.cells.columns):
        allowed = " ".join([*(f"scores.{name}" for name in SCORE_WORDS), *(f"flags.{name}" for name in FLAG_WORDS)])
        raise AddressError("no such field", given=text, allowed=f"{allowed}, or a column of the cells")
    return row, column


def _edges(memory: Memory, row: int, end: str, direction: str) -> pl.DataFrame:
    edges = memory.edges.filter(pl.col(end) == row)
    cells = memory.cells.select(
        pl.col("handle", "title", "status", "effective").gather(edges["target" if end == "source" else "source"])
    )
    return edges.select(pl.lit(direction).alias("direction"), "relation", "weight").with_columns(
        *cells.get_columns(), edges["writer"]
    )


def _table(name: str, frame: pl.DataFrame | None) -> list[str]:
    if frame is None or frame.is_empty():
        return []
    rows = [
        frame.columns,
        *([f"{value:.4g}" if isinstance(value, float) else one_line(str(value)) for value in row] for row in frame.rows()),
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(frame.width)]
    return ["", f"  {name}", *("  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)]
