"""Changes to admitted cells: edges added without a claim, flags, and rewritten fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import DataError, UsageError
from malsim.base.finite import finite
from malsim.memory import schema
from malsim.memory.gate.admit import Admission
from malsim.memory.gate.batch import look_up
from malsim.memory.gate.checks import edge_issues
from malsim.memory.gate.edge_rows import new_edges, refreshed, supported
from malsim.memory.gate.screen import in_texts
from malsim.memory.graph.frames import LazyRows, stack_rows
from malsim.memory.graph.texts import content_of, folded
from malsim.memory.rules import Rules
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory

_COLUMNS: dict[str, tuple[pl.DataType | type[pl.DataType], object]] = {
    "rep": (pl.Int32, 0),
    "t": (pl.Float64, 0.0),
    "writer": (pl.String, None),
    "source": (pl.String, None),
    "relation": (pl.String, None),
    "target": (pl.String, None),
    "weight": (pl.Float64, None),
    "mutual": (pl.Boolean, False),
}


def connect(memory: Memory, edges: pl.DataFrame | Sequence[Mapping[str, Any]], rules: Rules | None = None) -> Admission:
    """Add edges (rep, t, writer, source, relation, target, weight, mutual) between cells named by handle or key.

    The default weight is that of the relation; `mutual` also adds the reverse edge. An edge is refused if an end names no
    cell, if both ends name the same cell, if its weight has the wrong sign or size, or if it exists already. These edges
    never supersede a cell. The verdicts are the edges with `verdict` and `issues`. Raises `DataError` for unknown columns.
    """
    rules = rules or Rules()
    frame = edges if isinstance(edges, pl.DataFrame) else pl.DataFrame(list(edges), infer_schema_length=None)
    frame = _with_types(frame, rules)
    code = frame["relation"].replace_strict(schema.RELATIONS, range(len(schema.RELATIONS)), default=NONE)
    issues = edge_issues(LazyRows.of(frame.with_columns(code=code)), rules)
    rows = {end: look_up(memory, frame["rep"], frame[end]) for end in ("source", "target")}
    problems = {
        "source": ("no such cell", rows["source"] == NONE),
        "target": ("no such cell", rows["target"] == NONE),
        "relation": ("exists already, or connects a cell with itself", _redundant(memory, frame, rows, rules)),
        "t": ("must be a finite number", ~frame["t"].is_finite().to_numpy()),
        "writer": ("must be text that is not blank", (frame["writer"].fill_null("").str.strip_chars() == "").to_numpy()),
    }
    for path, (message, wrong) in problems.items():
        issues += [(claim, path, message) for claim in np.flatnonzero(wrong).tolist()]
    lists: list[dict[str, str]] = [{} for _ in range(frame.height)]
    for claim, path, message in issues:
        lists[claim].setdefault(path, message)
    columns = [[{"path": path, "message": message} for path, message in fields.items()] for fields in lists]
    verdicts = frame.with_columns(pl.Series("issues", columns, dtype=schema.ISSUES))
    accepted = verdicts["issues"].list.len() == 0
    verdict = pl.when(accepted).then(pl.lit("admitted")).otherwise(pl.lit("refused")).alias("verdict")
    verdicts = verdicts.with_columns(verdict).drop("claim", "place")
    by_row = frame.with_columns(pl.Series(end, ids) for end, ids in rows.items()).filter(accepted)
    return Admission(connect_rows(memory, by_row, rules), lambda: verdicts)


def connect_rows(memory: Memory, edges: pl.DataFrame, rules: Rules) -> Memory:
    """Add edges that do not exist yet. The source and the target of each edge are row numbers of cells."""
    frame = edges.select(pl.col(name).cast(kind) for name, kind in (schema.EDGES | {"mutual": pl.Boolean}).items())
    fresh = new_edges(memory, frame, last_weight=rules.duplicate_edges == "last_weight")[list(schema.EDGES)]
    if fresh.is_empty():
        return memory
    return supported(memory, LazyRows.of(fresh), rules).with_edges(stack_rows(memory.edges, fresh))


def _with_types(edges: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    if unknown := set(edges.columns) - set(_COLUMNS):
        raise DataError("unknown column", where="edges", given=min(unknown), allowed=", ".join(_COLUMNS))
    columns = []
    for name, (kind, default) in _COLUMNS.items():
        column = pl.col(name).cast(kind) if name in edges.columns else pl.lit(None, kind)
        columns.append((column.fill_null(pl.lit(default, kind)) if default is not None else column).alias(name))
    try:
        frame = edges.select(columns)
    except pl.exceptions.PolarsError as error:
        allowed = ", ".join(f"{name} ({kind})" for name, (kind, _) in _COLUMNS.items())
        raise DataError("a column has the wrong type", where="edges", given=str(edges.schema), allowed=allowed) from error
    default_weight = pl.col("relation").replace_strict(rules.weights(), default=None, return_dtype=pl.Float64)
    frame = frame.with_columns(pl.col("weight").fill_null(default_weight)).sort("t", "writer", maintain_order=True)
    return frame.with_row_index("claim").with_columns(pl.lit(0).alias("place"))


def _redundant(memory: Memory, frame: pl.DataFrame, rows: dict[str, Ints], rules: Rules) -> Bools:
    redundant = np.zeros(frame.height, dtype=bool)
    if rules.self_edges == "refused":
        redundant |= (rows["source"] == rows["target"]) & (rows["source"] != NONE)
    if rules.duplicate_edges == "refused":
        keys = frame.select(pl.Series("source", rows["source"]), "relation", pl.Series("target", rows["target"]))
        present = memory.edges.select("source", pl.col("relation").cast(pl.String), "target")
        redundant[keys.with_row_index("index").join(present, on=keys.columns, how="semi")["index"].to_numpy()] = True
        both = (rows["source"] != NONE) & (rows["target"] != NONE)
        redundant |= ~keys.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy() & both
    return redundant


_MAY_CHANGE = ("body", "summary", "topics", "entities", "source_refs", "verification", "stability", "expires", "reverify")
_ACTIVE, _SUPERSEDED, _ANNEXED = range(len(schema.STATUS))


def annex(memory: Memory, handle: str, *, rep: int = 0, rules: Rules | None = None) -> Memory:
    """Annex a cell. It keeps its scores but has no effect on other cells until it is reinstated.

    Raises `UsageError` for a locked or immutable cell under enforced locks.
    """
    return set_flag(memory, _mask_of(memory, handle, rep, rules or Rules()), "annexed", value=True)


def reinstate(memory: Memory, handle: str, *, rep: int = 0, rules: Rules | None = None) -> Memory:
    """Undo `annex`: the cell becomes active again, or superseded if another cell has replaced it."""
    return set_flag(memory, _mask_of(memory, handle, rep, rules or Rules()), "annexed", value=False)


def set_flag(memory: Memory, rows: Bools, flag: str, *, value: bool) -> Memory:
    """Set or clear a flag on the masked cells without checking locks. The flag `annexed` also changes a cell's status.

    Cells that a person rejected or erased stay annexed.
    """
    cells = np.flatnonzero(rows)
    if flag == "annexed" and not value:
        cells = cells[np.isnan(memory.values("rejected", cells))]
    memory = memory.changed(cells, {flag: value})
    if flag != "annexed":
        return memory
    moved = cells[(memory.values("status", cells) == _ANNEXED) != value]
    reinstated = np.where(memory.values("successor", moved) == NONE, _ACTIVE, _SUPERSEDED)
    return memory.changed(moved, {"status": _ANNEXED if value else reinstated})


def update(
    memory: Memory, handle: str, *, now: float, writer: str | None = None, rep: int = 0, rules: Rules | None = None,
    **fields: object,
) -> Memory:  # fmt: skip
    """Rewrite stored fields of a cell that are not part of the claim itself.

    The fields are body, summary, topics, entities, source_refs, verification, stability, expires and reverify. A change
    reinforces the cell unless `reinforced_by` is "nothing": `touched` becomes `now` (days), and currency becomes c0. To
    change the kind, writer, title or confidence, supersede the cell. Texts are screened like those of claims, and
    `verification` needs a `writer`. Raises `UsageError` for any other field, for a finding of the screen (naming its kind
    and the field, never the text), for an immutable cell, and for a `now` that is not a finite number.
    """
    rules, now, memory = rules or Rules(), finite(now, where="now"), memory.recorded
    mask = _mask_of(memory, handle, rep, rules, immutable_only=True)
    for name, value in fields.items():
        if name not in _MAY_CHANGE:
            raise UsageError("this field cannot be rewritten", where=handle, given=name, allowed=", ".join(_MAY_CHANGE))
        _check_value(handle, name, value)
    if writer is not None:
        check_author(writer, rules, where=handle)
    cell = memory.cells.row(int(np.flatnonzero(mask)[0]), named=True)
    _check_verifier(cell, fields.get("verification"), writer, rules)
    _screen(fields | ({"writer": writer} if writer else {}), rules, public=cell["sensitivity"] == "public")
    changes = {name: value for name, value in fields.items() if cell[name] != value}
    cells = memory.cells.with_columns(
        pl.when(pl.Series(mask)).then(pl.lit(value, schema.CELLS[name])).otherwise(name).alias(name)
        for name, value in changes.items()
    )
    after = memory.with_cells(cells)
    if "body" in changes:
        content = content_of(pl.col("kind").cast(pl.String), folded(pl.col("title"))).alias("content")
        after = memory.with_texts(cells.with_columns(content))
    if not changes or rules.reinforced_by == "nothing":
        return after
    return refreshed(after, np.flatnonzero(mask), np.array([now]), rules)


def _check_verifier(cell: Mapping[str, Any], verification: object, writer: str | None, rules: Rules) -> None:
    """Raise `UsageError` if a verification has no writer, or if the writer may not verify other writers' cells."""
    if verification is not None and writer is None:
        raise UsageError("the verifier is missing", where=cell["handle"], hint="pass writer=NAME")
    names = rules.verifiers.split()
    if verification == "external" and writer not in (cell["writer"], *names) and "*" not in names:
        allowed = ", ".join([*names, f"{cell['writer']}, its writer"])
        problem, hint = "this writer may not verify another writer's cell externally", "add the name to rules.verifiers"
        raise UsageError(problem, where=cell["handle"], given=writer, allowed=allowed, hint=hint)


def check_author(writer: str, rules: Rules | None = None, *, where: str | None = None) -> None:
    """Raise `UsageError` if the writer's name is blank or contains a credential."""
    if not _is_text(writer):
        raise UsageError("the writer's name is not text", where=where, given=writer)
    if not writer.strip():
        raise UsageError("the writer is missing", where=where, given=writer, hint="pass writer=NAME")
    _screen({"writer": writer}, rules or Rules())


def _check_value(handle: str, name: str, value: object) -> None:
    """Raise `UsageError` if a field cannot hold the value: a word that is not allowed, or a value of the wrong type."""
    kind = schema.CELLS[name]
    if isinstance(kind, pl.Enum):
        valid, allowed = value in kind.categories.to_list(), ", ".join(kind.categories)
    elif isinstance(kind, pl.List):
        valid, allowed = isinstance(value, list | tuple) and all(map(_is_text, value)), "a list of strings"
    elif kind == pl.Float64:
        valid, allowed = value is None or finite(value, where=f"{handle}.{name}") is not None, ""
    else:
        valid, allowed = value is None or _is_text(value), "text"
    if not valid:
        raise UsageError("not one of the allowed values", where=f"{handle}.{name}", given=value, allowed=allowed)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def verified(memory: Memory, rows: Ints, now: float, rules: Rules, *, verification: str = "tested") -> Memory:
    """Mark cells that a reader found to be correct as verified, and reinforce them as `update` does.

    The rows must be distinct. Immutable cells are not changed under enforced locks.
    """
    if rules.locks == "enforced":
        rows = rows[~memory.values("immutable", rows)]
    after = memory.changed(rows, {"verification": verification})
    return after if rules.reinforced_by == "nothing" else refreshed(after, rows, np.full(len(rows), now), rules)


def _screen(fields: Mapping[str, object], rules: Rules, *, public: bool = False) -> None:
    """Raise `UsageError` if a text contains a credential or, in a public cell, personal data."""
    if rules.screen != "reject":
        return
    rows = [
        {"path": f"{name}[{number}]" if isinstance(value, list | tuple) else name, "text": text}
        for name, value in fields.items()
        for number, text in enumerate(value if isinstance(value, list | tuple) else [value])
        if isinstance(text, str)
    ]
    texts = pl.DataFrame(rows, schema={"path": pl.String, "text": pl.String})
    findings = in_texts(texts, rules).rows(named=True)
    if public:
        findings += in_texts(texts, rules, public=True).rows(named=True)
    if findings:
        problem = f"screen: possible {findings[0]['finding']}"
        raise UsageError(problem, where=findings[0]["path"], hint="remove it; nothing was stored")


def expanded(memory: Memory, rows: Ints, now: float, rules: Rules) -> Memory:
    """Return the memory after a reader opened the given cells, which raises only their salience. The rows must be distinct.

    s' = s + (1 − s) · salience_bump, and salience = s'. A read does not reinforce.
    """
    seed = bumped_salience(memory.values("salience_seed", rows), bump=rules.salience_bump)
    return memory.changed(rows, {"salience_seed": seed, "salience": seed, "read": now})


def _mask_of(memory: Memory, handle: str, rep: int, rules: Rules, *, immutable_only: bool = False) -> Bools:
    """Return a mask that selects one cell.

    Raise `UsageError` if the cell is immutable or, unless `immutable_only`, locked.
    """
    row = memory.row(handle, rep=rep, whole=True)
    locked = memory.cells["immutable"][row] or (memory.cells["locked"][row] and not immutable_only)
    if rules.locks == "enforced" and locked:
        raise UsageError(
            "the cell is locked or immutable", where=handle, hint="unlock the cell, or contradict it in a new claim"
        )
    mask = np.zeros(memory.height, dtype=bool)
    mask[row] = True
    return mask


def bumped_salience(seed: Array, *, bump: float = 0.2) -> Array:
    """Compute a cell's salience seed after a read.

    seed' = clamp01(seed + (1 − seed) · bump)

    >>> bumped_salience(np.array([0.5])).tolist()
    [0.6]
    """
    return np.clip(seed + (1.0 - seed) * bump, 0.0, 1.0)
