"""Features of claims (folded title, content hash, word codes, flags) and their edges as rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.graph.frames import LazyRows, lists
from malsim.memory.graph.texts import contents, fold_titles, kind_in
from malsim.memory.schema import NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.rules import Rules

WORD_CODES: dict[str, dict[str | None, int]] = {
    name: {word: code for code, word in enumerate(words)} for name, words in schema.WORDS.items()
}
_FEATURES: dict[str, Any] = {
    "claim": pl.UInt32,
    **{name: kind for name, kind in schema.CLAIMS.items() if name not in ("edges", "issues")},
    "stated": pl.Float64, "folded": pl.String, "content": pl.UInt64, "marked": pl.Boolean, "backed": pl.Boolean,
    **{f"{name}_word": schema.CELLS[name] for name in schema.WORDS},
}  # fmt: skip
_CAPITAL = re.compile("[A-Z]")


def with_features(claims: LazyRows) -> LazyRows:
    """Return the claims with their features, each of which is computed on demand; see `Validated`."""

    def make(name: str) -> NDArray[Any]:
        if name in _COMPUTED:
            return _COMPUTED[name](claims, rows)
        word = name.removesuffix("_word")
        if word != name:
            return np.array([WORD_CODES[word].get(text, NONE) for text in rows.column(word).tolist()])
        return claims.column(name)

    def series(name: str) -> pl.Series | None:
        return claims.as_series(name) if name in schema.CLAIMS and name != "kind" else None

    rows = LazyRows(claims.height, None, {}, claims.blank - {"kind"}, make, _FEATURES, series)
    return rows


def _marked(claims: LazyRows, _: LazyRows) -> Bools:
    locked: Bools = claims.column("locked")
    if "handle" in claims.blank:
        return locked
    handles = claims.column("handle").tolist()
    marked: Bools = locked | np.array([handle is not None and _CAPITAL.search(handle) is not None for handle in handles])
    return marked


def _backed(claims: LazyRows, rows: LazyRows) -> Bools:
    verified: Bools = rows.column("verification_word") > 0
    return verified if "source_refs" in claims.blank else verified | ~is_unsourced(claims.column("source_refs"))


def _kinds(claims: LazyRows, _: LazyRows) -> NDArray[Any]:
    """Return the kind of each claim, taken from its handle if the claim states none."""
    if "handle" in claims.blank:
        return claims.column("kind")
    pairs = zip(claims.column("kind").tolist(), claims.column("handle").tolist(), strict=True)
    return lists([handle and kind_in(handle) if kind is None else kind for kind, handle in pairs])


def is_unsourced(refs: NDArray[Any]) -> Bools:
    return np.array([not items for items in refs.tolist()])


_COMPUTED: dict[str, Callable[[LazyRows, LazyRows], NDArray[Any]]] = {
    "claim": lambda claims, _: np.arange(claims.height),
    "stated": lambda claims, _: claims.column("confidence"),
    "folded": lambda claims, _: lists(fold_titles(claims.column("title").tolist())),
    "content": lambda claims, rows: contents(
        claims.column("rep"), *(rows.column(name).tolist() for name in ("kind", "folded", "body"))
    ),
    "marked": _marked,
    "backed": _backed,
    "kind": _kinds,
}


PROGRAMS = ("watch", "drift", "quorum", "trend", "score", "reflex", "emit_witness", "tag_projection", "allocate")
"""The operations that a program cell can run."""
_NAMES = "|".join(PROGRAMS)
# Body of the cell that represents a netlist's program in the memory; the program itself is in the netlist.
_OF_NETLIST = re.compile(rf"^stands on the tick and does (?:{_NAMES})\Z")
_SCHEDULES = re.compile(rf"(?m)^\s*addf\s+(?:{_NAMES})\s+\S+\s+.*\[|\[as: \S+\]")
_OPERATION = re.compile(rf"(?i)\b({_NAMES})\b")
_CELL = re.compile(r"\b([A-Za-z]{3}_[0-9a-zA-Z_]+)\b")
PROGRAM, _BY_PROGRAM = schema.KINDS.index("prg"), schema.ORIGIN.index("program")


def runs_nothing(kinds: Ints, bodies: NDArray[Any], origins: Ints) -> Bools:
    """Return a mask of the program cells whose body schedules no operation."""
    wrong: Bools = kinds == PROGRAM
    for row in np.flatnonzero(wrong).tolist():
        body = bodies[row]
        by_netlist = origins[row] == _BY_PROGRAM and body is not None and _OF_NETLIST.search(body)
        wrong[row] = body is not None and not (_SCHEDULES.search(body) or by_netlist)
    return wrong


def idle_sentence(body: str | None) -> str:
    """Return an error message for a program that runs nothing, with the valid program closest to its body."""
    operation, cell = _OPERATION.search(body or ""), _CELL.search(body or "")
    names = operation[1].lower() if operation else "watch", cell[1] if cell else "HANDLE"
    return "this program runs nothing; the nearest valid line is: addf {} tick [keys: {}]".format(*names)


EDGES: dict[str, pl.DataType | type[pl.DataType]] = {
    "claim": pl.UInt32, "place": pl.Int64, "target": pl.String, "row": pl.Int64, "weight": pl.Float64,
    "mutual": pl.Boolean, "code": pl.Int8,
}  # fmt: skip
_CODES: dict[str | None, int] = {name: code for code, name in enumerate(schema.RELATIONS)}


def explode_edges(claims: LazyRows, rules: Rules) -> LazyRows:
    """Return the edges of the claims, one row per edge. A missing weight is replaced by the default of the relation."""
    if not claims.has_values("edges"):
        return NO_EDGES
    rows = [
        (claim, index, edge)
        for claim, edges in enumerate(claims.column("edges").tolist())
        for index, edge in enumerate(edges or ())
    ]
    if not rows:
        return NO_EDGES
    claim, index, edges = zip(*rows, strict=True)
    weights = rules.weights()
    columns = {
        "claim": np.array(claim),
        "place": np.array(index),
        "target": lists(edge["target"] for edge in edges),
        "row": np.full(len(edges), NONE),
        "weight": np.array(
            [weights.get(edge["relation"]) if edge["weight"] is None else edge["weight"] for edge in edges], dtype=np.float64
        ),
        "mutual": np.array([bool(edge["mutual"]) for edge in edges]),
        "code": np.array([_CODES.get(edge["relation"], NONE) for edge in edges]),
    }
    return LazyRows(len(edges), None, columns, kinds=EDGES)


NO_EDGES = LazyRows.of(pl.DataFrame(schema=EDGES))
