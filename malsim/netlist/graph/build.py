"""Conversion of parsed rows to a memory with cells, edges, successors and writer records. Every row is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from malsim.memory import Memory, schema
from malsim.memory.gate import screen
from malsim.memory.gate.checks import idle_programs
from malsim.memory.schema import NONE
from malsim.netlist.graph.stored_fields import GIVEN, complete
from malsim.netlist.language.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.memory import Rules
    from malsim.memory.graph.arrays import Ints
    from malsim.netlist.graph.gather import GraphRows


RING = "remove an edge of the ring"
DECLARE = "declare it, or load into a memory that has it"

_SHARES = (
    "uncertainty", "concern", "source_quality", "calibration", "effective", "c0", "currency", "salience_seed", "salience",
)  # fmt: skip


_MASSES = ("support_mass", "challenge_mass", "worth")


def cell_faults(cells: pl.DataFrame, graph: GraphRows, memory: Memory, rules: Rules) -> list[Fault]:
    """Return all faults of the cells: missing or repeated names, values out of bounds, and text that the screen refuses."""
    standing = memory.cells.select("rep", "key", "handle").filter(pl.col("rep").is_in(cells["rep"].unique().implode()))
    handle_stands = pl.col("handle").is_in(standing["handle"].implode())
    if rules.reused_keys != "refused":
        handle_stands = pl.lit(value=False)
    key_stands = pl.col("key").is_in(standing["key"].implode()) & ~handle_stands
    elsewhere, confidence = "choose another name, or another memory", "a confidence must be above 0 and at most 1"
    checks = [
        ("handle", pl.col("kind").is_null(), "the handle has no kind", "add: prop kind dec"),
        ("handle", pl.col("title").str.strip_chars() == "", "the title is missing", "write it between the quotes"),
        ("handle", ~pl.col("key").is_first_distinct(), "a cell above has this key", "choose another handle or key"),
        ("handle", handle_stands, "the memory already has a cell with this handle", elsewhere),
        ("handle", key_stands, "the memory already has a cell with this key", elsewhere),
        ("writer", pl.col("writer").str.strip_chars() == "", "the writer is missing", "name one"),
        *((name, ~pl.col(name).is_between(0.0, 1.0, closed="right"), confidence, "") for name in ("stated", "claimed")),
        *((name, ~pl.col(name).is_between(0.0, 1.0), f"{name} must be from 0 to 1", "") for name in _SHARES),
        *((name, pl.col(name) < 0.0, f"{name} must not be negative", "") for name in _MASSES),
        ("version", pl.col("version") < 1, "versions count from 1", ""),
    ]
    faults = []
    for name, wrong, problem, hint in checks:
        for row in np.flatnonzero(cells.select(wrong.fill_null(value=False)).to_series().to_numpy()):
            if name in graph.rows[row]:  # only values that were written in the text are reported
                word = graph.statements[row].handle if name == "handle" else str(graph.rows[row][name])
                faults.append(Fault.at(graph.statements[row], word, problem, hint=hint))
    idle = idle_programs(cells, rules)
    faults += [
        Fault.at(statement, statement.handle, idle[statement.handle][1])
        for statement in graph.statements
        if statement.handle in idle
    ]
    return [*faults, *_screen_faults(cells, graph, rules)]


def _screen_faults(cells: pl.DataFrame, graph: GraphRows, rules: Rules) -> Iterator[Fault]:
    if rules.screen != "reject":
        return
    claims = cells.with_row_index("claim")
    no_edges = pl.DataFrame(schema={"claim": pl.UInt32, "place": pl.Int64, "target": pl.String})
    for findings in (screen.secrets(claims, no_edges, rules), screen.personal(claims, rules)):
        for row, path, finding in findings.rows():
            problem = f"the screen refuses this cell: its {path} contains what looks like a {finding}"
            yield Fault.at(graph.statements[row], "", problem, hint="remove it; nothing was stored")


def edge_faults(frame: pl.DataFrame, graph: GraphRows, memory: Memory, rules: Rules) -> Iterator[Fault]:
    """Yield the faults of the edges: unknown ends, wrong signs, excessive weights and repeated edges.

    In `frame`, source and target are cell rows, or −1 if unknown.
    """
    default = pl.col("relation").replace_strict(schema.WEIGHTS, return_dtype=pl.Float64)
    both = (pl.col("source") >= 0) & (pl.col("target") >= 0)
    standing = memory.edges.select(
        "source", pl.col("relation").cast(pl.String), "target", pl.lit(value=True).alias("stands")
    )
    frame = frame.join(standing.unique(), on=["source", "relation", "target"], how="left", maintain_order="left")
    repeat = ~pl.struct("source", "relation", "target").is_first_distinct() | pl.col("stands").fill_null(value=False)
    most = f"at most {rules.edge_weight_max:g}"
    sign = "above 0 for supports, below 0 for contradicts and concerns, 0 for the others"
    checks = [
        ("source", pl.col("source") < 0, "no such cell", DECLARE),
        ("target", pl.col("target") < 0, "no such cell", DECLARE),
        ("target", default.sign() != pl.col("weight").sign(), "this weight has the wrong sign for its relation", sign),
        ("target", pl.col("weight").abs() > rules.edge_weight_max, "this weight is too large", most),
    ]
    if rules.self_edges == "refused":
        checks.append(
            ("target", both & (pl.col("source") == pl.col("target")), "an edge must join two cells", "name another cell")
        )
    if rules.duplicate_edges == "refused":
        checks.append(("target", both & repeat, "this edge already exists", "keep one"))
    for end, wrong, problem, hint in checks:
        for row in np.flatnonzero(frame.select(wrong).to_series().to_numpy()):
            arc = graph.arcs[row]
            name = getattr(arc, end)
            yield Fault.at(arc.statement, name if isinstance(name, str) else arc.word, problem, hint=hint)


def cycle_faults(pairs: pl.DataFrame, height: int, graph: GraphRows, base: int) -> Iterator[Fault]:
    """Yield a fault for every new cell that supersedes itself, directly or through others.

    `pairs` holds the (new, old) rows of each replacement.
    """
    new, old = pairs["new"].to_numpy(), pairs["old"].to_numpy()
    replaces = coo_array((np.ones(len(new)), (new, old)), shape=(height, height))
    _, label = connected_components(replaces, connection="strong")
    size = np.bincount(label, minlength=1)
    on_ring = np.unique(np.concatenate([np.flatnonzero(size[label] > 1), new[new == old]]))
    for row in on_ring[on_ring >= base]:
        statement = graph.statements[row - base]
        yield Fault.at(statement, statement.handle, "this cell supersedes itself, directly or through others", hint=RING)


def build(graph: GraphRows, memory: Memory, rules: Rules, *, now: float, rep: int) -> tuple[Memory, list[Fault]]:
    """Add the cells and edges of a netlist to a memory, exactly as written.

    Return the new memory, or the original memory and all faults.
    """
    cells = complete(pl.DataFrame(graph.rows, schema=dict(GIVEN)).with_columns(pl.lit(rep, pl.Int32).alias("rep")), now=now)
    names = _Names(memory, cells, rep)
    edges = _edges(graph, names, memory, cells)
    heirs = names.rows(cells["successor"].to_list())
    absent = np.flatnonzero((heirs == NONE) & cells["successor"].is_not_null().to_numpy()).tolist()
    old = np.flatnonzero(heirs != NONE)
    late = pl.DataFrame({"new": heirs[old], "old": old + names.base}, schema={"new": pl.Int64, "old": pl.Int64})
    supersedes = edges.filter((pl.col("relation") == "supersedes") & (pl.col("source") >= 0) & (pl.col("target") >= 0))
    pairs = pl.concat([supersedes.select(pl.col("source").alias("new"), pl.col("target").alias("old")), late])
    faults = [
        *graph.faults,
        *cell_faults(cells, graph, memory, rules),
        *edge_faults(edges, graph, memory, rules),
        *(Fault.at(graph.statements[row], cells["successor"][row], "no such successor", hint=DECLARE) for row in absent),
        *cycle_faults(pairs, names.base + cells.height, graph, names.base),
    ]
    if faults:
        return memory, faults
    author, writers = _authors(memory, cells, graph, rep)
    successor = pl.Series("successor", heirs, dtype=pl.Int64).replace(NONE, None)
    new_cells = cells.with_columns(author, successor).select(pl.col(name).cast(kind) for name, kind in schema.CELLS.items())
    new_edges = edges.sort("place").select(pl.col(name).cast(kind) for name, kind in schema.EDGES.items())
    scanned = memory.scanned + sum(graph.scanned[:1])
    return Memory(pl.concat([memory.cells, new_cells]), pl.concat([memory.edges, new_edges]), writers, scanned), []


class _Names:
    """Lookup table from key or handle to row. The cells of the memory come first, then the cells of the netlist."""

    def __init__(self, memory: Memory, cells: pl.DataFrame, rep: int) -> None:
        self.memory, self.rep, self.base = memory, rep, memory.cells.height
        self.rows_by_name: dict[str, int] = {}
        for column in ("key", "handle"):
            for row, name in enumerate(cells[column].to_list(), self.base):
                self.rows_by_name.setdefault(name, row)

    def rows(self, names: list[str | None]) -> Ints:
        outside = self.memory.index.rows([self.rep] * len(names), names, height=self.base)
        return np.array(
            [self.rows_by_name.get(name or "", row) for name, row in zip(names, outside.tolist(), strict=True)],
            dtype=np.int64,
        )


def _edges(graph: GraphRows, lookup: _Names, memory: Memory, cells: pl.DataFrame) -> pl.DataFrame:
    arcs = graph.arcs
    ends = {}
    for end in ("source", "target"):
        values = [getattr(arc, end) for arc in arcs]
        rows = lookup.rows([None if isinstance(value, int) else str(value) for value in values]).tolist()
        ends[end] = [lookup.base + value if isinstance(value, int) else row for value, row in zip(values, rows, strict=True)]
    frame = pl.DataFrame(
        {
            **ends,
            "relation": [arc.relation for arc in arcs],
            "weight": [arc.weight for arc in arcs],
            "writer": [arc.writer for arc in arcs],
            "t": [arc.t for arc in arcs],
            "place": [index if arc.place is None else arc.place for index, arc in enumerate(arcs)],
        },
        schema={**schema.EDGES, "relation": pl.String, "place": pl.Int64},
    )
    whole = pl.concat([memory.cells.select("writer", "created"), cells.select("writer", "created")])
    source = frame["source"].replace(NONE, None)
    return frame.with_columns(
        pl.col("writer").fill_null(whole["writer"].gather(source)), pl.col("t").fill_null(whole["created"].gather(source))
    )


def _authors(memory: Memory, cells: pl.DataFrame, graph: GraphRows, rep: int) -> tuple[pl.Series, pl.DataFrame]:
    names = set(memory.writers.filter(pl.col("rep") == rep)["writer"].to_list())
    fresh = [name for name in cells["writer"].unique(maintain_order=True).to_list() if name not in names]
    fresh.sort(key=lambda name: graph.records.get(name, {}).get("writer-row", 0))
    records = [graph.records.get(name, {}) for name in fresh]
    new = pl.DataFrame(
        {
            "rep": [rep] * len(fresh),
            "writer": fresh,
            "claims": [record.get("writer-claims", 0) for record in records],
            "contradicted": [record.get("writer-contradicted", 0) for record in records],
            "calibration": [record.get("writer-calibration", 1.0) for record in records],
        },
        schema=schema.WRITERS,
    )
    writers = pl.concat([memory.writers, new])
    rows = writers.with_row_index("author").filter(pl.col("rep") == rep).select("writer", "author")
    return cells.select("writer").join(rows, on="writer", how="left", maintain_order="left")["author"], writers
