"""Mini-index: one line per cell that is relevant to a query, within a budget of words."""

from __future__ import annotations

import weakref
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.finite import finite
from malsim.base.plain_text import quoted
from malsim.memory.law import DEFAULT
from malsim.memory.law_steps import effective_now
from malsim.memory.push.ranking import marked, rank_score, top_k
from malsim.memory.push.sections import NO_SECTIONS, Sections, sections
from malsim.memory.push.ten_cells import MAP
from malsim.memory.schema import FLAG_WORDS, NONE, SCORE_WORDS
from malsim.memory.tables.connect import blank
from malsim.memory.tables.read import last_day
from malsim.memory.tables.search import as_stored, candidate_rows, candidates, disputes, has_cell, writer_outcomes
from malsim.memory.tables.write import latest_day, write

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules
    from malsim.memory.tables.search import WorthNow

BUDGET_WORDS = 900
LIMIT = 10
REFERS = "(how to read this: {})"
MOST_LINES = 1_000_000
ABSENT = "–"  # shown for a score that is unknown, as in some imported cells
POOL = 30  # minimum number of text matches that are ranked


@dataclass(frozen=True)
class Push:
    """Mini-index with its `lines`, the best first. `cells` has one row per line: row, handle, score and marked (`^`).

    `map` is the handle of the cell that explains the lines, None without one; `sections` lists disputes about the cells,
    cells of low trust, and cells to open.
    """

    lines: list[str]
    cells: pl.DataFrame
    map: str | None = None
    sections: Sections = NO_SECTIONS

    @property
    def words(self) -> int:
        return len(str(self).split())

    def __str__(self) -> str:
        refers = [REFERS.format(self.map)] if self.map else []
        below = [str(self.sections)] if self.sections.words else []
        return "\n".join([*self.lines, *below, *refers]) if self.lines or self.sections.signals else ""


def mini_index(
    memory: Memory, query: str = "", *, budget_words: int = BUDGET_WORDS, limit: int = LIMIT, now: float | None = None,
    rep: int = 0, rules: Rules | None = None, surfaced: Sequence[str] = (),
) -> Push:  # fmt: skip
    """Return lines `[^]handle "title" conf(0.7!) eff(0.61) curr(0.9) sal(0.5) …` for the cells relevant to a query.

    Candidates are active cells, and superseded cells that an active cell still supports, depends on or derives from;
    without a query, all of them. They are ordered by `ranking.rank_score` over the 30 best matches (BM25) on day `now`
    (default: the latest day in the memory); effective confidence is that of `law_steps.present`, and `^` is set by
    `ranking.marked`. The rest of the word budget is used for sections: `surfaced`, the lines of firing signals
    (`malsim.netlist.shipped`), cells to open, disputes, cells of low trust, and writers with too few outcomes.
    """
    database = memory.derived.search
    if database is None:
        database = memory.derived.search = _search_database(memory)
        weakref.finalize(memory, database.close)
    moved = effective_now(memory, rules)
    return push(
        database, query, budget_words=budget_words, limit=limit, now=now, rep=rep, rules=rules, surfaced=surfaced,
        worth_now=lambda _: moved,
    )  # fmt: skip


def push(  # noqa: PLR0913  # the options of a reader
    connection: sqlite3.Connection, query: str = "", *, budget_words: int = BUDGET_WORDS, limit: int = LIMIT,
    now: float | None = None, rep: int = 0, rules: Rules | None = None, surfaced: Sequence[str] = (),
    worth_now: WorthNow = as_stored,
) -> Push:  # fmt: skip
    """Return the mini-index of an open store, reading only the full-text index and the rows of the best matches.

    `worth_now` returns the effective confidence of cells that changed since the last tick; see `search.as_stored`.
    """
    rules, now = rules or DEFAULT, None if now is None else finite(now, where="now")
    finite(limit, where="limit", low=0.0, high=MOST_LINES)
    cells, match = candidates(connection, query, rep, max(POOL, 3 * limit), worth_now)
    now = last_day(connection) or 0.0 if now is None else now
    touched = cells["touched"].to_numpy()
    degree = (cells["outgoing"] + cells["incoming"]).to_numpy().astype(np.float64)
    reference = (cells["kind"] == "ref").to_numpy()
    score = rank_score(match, degree, cells["effective"].to_numpy(), now - touched, rules, reference=reference)
    best = top_k(score[None], touched[None], limit=min(limit, cells.height))[0]
    best = best[best != NONE]
    top = _with_lines(cells[best].with_columns(pl.Series("score", score[best])), now, rules)
    words = np.array([len(line.split()) for line in top["line"].to_list()], dtype=np.int64)
    fixed = _fixed_words(connection, rep)
    # If the budget is too small for both, the first line has priority over the reminders.
    budget = budget_words - fixed if words[:1].sum() + fixed <= budget_words else budget_words
    within = int(np.searchsorted(np.cumsum(words), budget, side="right"))
    left = budget_words - int(words[:within].sum())
    return _with_sections(connection, top.head(within), now, rep, rules, left=left, surfaced=surfaced, worth_now=worth_now)


def push_of(
    memory: Memory, rows: Sequence[int], *, now: float, rep: int, rules: Rules, left: int, surfaced: Sequence[str] = ()
) -> Push:
    """Return a push with the given cells as its lines, and with sections of at most `left` words."""
    with closing(_search_database(memory)) as database:
        moved = effective_now(memory, rules)
        cells = candidate_rows(database, list(rows), rep, lambda _: moved).with_columns(score=pl.lit(None, pl.Float64))
        lines = _with_lines(cells, now, rules)
        return _with_sections(database, lines, now, rep, rules, left=left, surfaced=surfaced, worth_now=lambda _: moved)


def _with_lines(cells: pl.DataFrame, now: float, rules: Rules) -> pl.DataFrame:
    names = ("stated", "effective", "currency", "contradicted", "requires_review")
    overdue = (cells["reverify"] < now).fill_null(value=False).to_numpy()
    superseded = (cells["status"] == "superseded").to_numpy()
    columns = {name: cells[name].to_numpy() for name in names}
    marks = marked(rules, superseded=superseded, overdue=overdue, **columns)
    cells = cells.with_columns(pl.Series("marked", marks))
    return cells.with_columns(pl.Series("line", [_line(row) for row in cells.to_dicts()], dtype=pl.String))


def _with_sections(
    connection: sqlite3.Connection, cells: pl.DataFrame, now: float, rep: int, rules: Rules, *, left: int,
    surfaced: Sequence[str], worth_now: WorthNow,
) -> Push:  # fmt: skip
    rows, indices = cells.to_dicts(), cells["row"].to_list()
    against, writers = disputes(connection, indices, worth_now), writer_outcomes(connection, indices)
    fixed = _fixed_words(connection, rep)
    reminds = fixed <= left
    below = sections(rows, against, writers, now, rules, budget=left - fixed * reminds, surfaced=surfaced, reminds=reminds)
    refers = MAP if reminds and has_cell(connection, MAP, rep) else None
    return Push(cells["line"].to_list(), cells.select("row", "handle", "score", "marked"), refers, below)


def _fixed_words(connection: sqlite3.Connection, rep: int) -> int:
    """Return the number of words that the reminders and the reference to the map need."""
    return NO_SECTIONS.words + (len(REFERS.split()) if has_cell(connection, MAP, rep) else 0)


def _search_database(memory: Memory) -> sqlite3.Connection:
    connection = blank()
    write(connection, memory.empty(), memory, t=latest_day(memory), deed="shelve")
    return connection


def _line(cell: dict[str, object]) -> str:
    numbers = {}
    for word in ("conf", "eff", "curr", "sal"):
        score = cell[SCORE_WORDS[word]]
        numbers[word] = ABSENT if score is None else f"{float(str(score)):.6f}".rstrip("0").rstrip(".")
    # The mark `!` means that the stated confidence never changes.
    numbers["conf"] += "!" if cell["stated"] is not None else ""
    numbers |= {name: str(int(bool(cell[column]))) for name, column in FLAG_WORDS.items()}
    values = " ".join(f"{name}({value})" for name, value in numbers.items())
    return f"{'^' if cell['marked'] else ''}{cell['handle']} {quoted(str(cell['title']))} {values} [out:{cell['outgoing']}]"
