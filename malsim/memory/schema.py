"""Columns of cells, edges, writers, claims and verdicts, and the words allowed in each column."""

from __future__ import annotations

import polars as pl

NONE = -1  # represents a missing row number or index
INIT = "_init"  # name of the writer of the ten initial cells and of cells lent by a global memory
KINDS = ("dec", "obs", "bel", "tsk", "obj", "rsk", "ref", "ver", "hyp", "prg")
STABILITY = ("stable", "volatile", "ephemeral")
STATUS = ("active", "superseded", "annexed")
VERIFICATION = ("unverified", "checked", "tested", "external")
ORIGIN = ("llm", "human", "daemon", "connector", "program", "external")
SENSITIVITY = ("private", "public", "secret")
FLAGS = ("annexed", "locked", "pinned", "requires_review", "allow_background_use")
SCORE_WORDS = {
    "conf": "stated", "eff": "effective", "curr": "currency", "sal": "salience", "unc": "uncertainty", "concern": "concern",
    "calib": "calibration",
}  # fmt: skip
FLAG_WORDS = {
    "annexed": "annexed", "locked": "locked", "pinned": "pinned", "review": "requires_review", "bg": "allow_background_use",
}  # fmt: skip
VERDICT = ("admitted", "deduplicated", "refused")

WEIGHTS = {
    "supports": 1.0, "contradicts": -1.0, "concerns": -0.5, "depends_on": 0.0, "derived_from": 0.0, "supersedes": 0.0,
}  # fmt: skip
RELATIONS = tuple(WEIGHTS)

_TEXTS = pl.List(pl.String)
_RELATION = pl.Enum(RELATIONS)
_EDGE = pl.Struct({"relation": pl.String, "target": pl.String, "weight": pl.Float64, "mutual": pl.Boolean})
ISSUES = pl.List(pl.Struct({"path": pl.String, "message": pl.String}))

WORDS: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "stability": STABILITY,
    "verification": VERIFICATION,
    "origin": ORIGIN,
    "sensitivity": SENSITIVITY,
}

CELLS: dict[str, pl.DataType | type[pl.DataType]] = {
    "rep": pl.Int32,
    "key": pl.String,
    "handle": pl.String,
    "kind": pl.Enum(KINDS),
    "writer": pl.String,
    "author": pl.UInt32,  # row number of the writer in the writers frame
    "object": pl.String,
    "title": pl.String,
    "body": pl.String,
    "summary": pl.String,
    "value": pl.Float64,
    "value_text": pl.String,  # value stated about the object, if it is not a number
    "valid_from": pl.Float64,  # first day of validity; null means `created`
    "valid_to": pl.Float64,  # day on which validity ends; null if it does not end
    "claimed": pl.Float64,
    "stated": pl.Float64,
    "uncertainty": pl.Float64,
    "concern": pl.Float64,
    "source_quality": pl.Float64,
    "calibration": pl.Float64,
    "support_mass": pl.Float64,
    "challenge_mass": pl.Float64,
    "worth": pl.Float64,  # confidence with which the cell counted as a source in the last tick; null before
    "effective": pl.Float64,
    "c0": pl.Float64,
    "currency": pl.Float64,
    "salience_seed": pl.Float64,
    "salience": pl.Float64,
    "stability": pl.Enum(STABILITY),
    **dict.fromkeys(FLAGS, pl.Boolean),
    "immutable": pl.Boolean,
    "status": pl.Enum(STATUS),
    "version": pl.Int32,
    "successor": pl.Int64,  # row number of the cell that replaced this one; null if there is none
    "created": pl.Float64,
    "touched": pl.Float64,
    "read": pl.Float64,  # day on which the cell was last expanded; null if never
    "topics": _TEXTS,
    "entities": _TEXTS,
    "source_refs": _TEXTS,
    "verification": pl.Enum(VERIFICATION),
    "origin": pl.Enum(ORIGIN),
    "sensitivity": pl.Enum(SENSITIVITY),
    "expires": pl.Float64,
    "reverify": pl.Float64,
    "rejected": pl.Float64,  # day on which a person rejected or erased the cell; null if never
    "tombstone": pl.String,  # digests of the facts that the gate refuses because of this cell; null if none
    "content": pl.UInt64,  # hash of rep, kind, title and body; these are compared only if hashes are equal
}

EDGES: dict[str, pl.DataType | type[pl.DataType]] = {
    "source": pl.Int64,
    "relation": _RELATION,
    "target": pl.Int64,
    "weight": pl.Float64,
    "writer": pl.String,
    "t": pl.Float64,
}

WRITERS: dict[str, pl.DataType | type[pl.DataType]] = {
    "rep": pl.Int32,
    "writer": pl.String,
    "claims": pl.Int64,
    "contradicted": pl.Int64,
    "calibration": pl.Float64,
}

CLAIMS: dict[str, pl.DataType | type[pl.DataType]] = {
    "rep": pl.Int32,
    "t": pl.Float64,
    "writer": pl.String,
    "sequence": pl.Int64,
    "key": pl.String,
    "handle": pl.String,
    "kind": pl.String,
    "object": pl.String,
    "title": pl.String,
    "body": pl.String,
    "summary": pl.String,
    "value": pl.Float64,
    "value_text": pl.String,
    "valid_from": pl.Float64,
    "valid_to": pl.Float64,
    "confidence": pl.Float64,
    "uncertainty": pl.Float64,
    "concern": pl.Float64,
    "stability": pl.String,
    **dict.fromkeys(FLAGS, pl.Boolean),
    "topics": _TEXTS,
    "entities": _TEXTS,
    "source_refs": _TEXTS,
    "verification": pl.String,
    "origin": pl.String,
    "sensitivity": pl.String,
    "expires": pl.Float64,
    "reverify": pl.Float64,
    "edges": pl.List(_EDGE),
    "issues": ISSUES,  # errors about values of the wrong type; see claims.from_mappings
}

VERDICTS: dict[str, pl.DataType | type[pl.DataType]] = {
    "rep": pl.Int32,
    "t": pl.Float64,
    "writer": pl.String,
    "sequence": pl.Int64,
    "verdict": pl.Enum(VERDICT),
    "handle": pl.String,
    "cell": pl.Int64,
    "claimed": pl.Float64,
    "stated": pl.Float64,
    "calibration": pl.Float64,
    "effective": pl.Float64,
    "issues": ISSUES,
    "notes": pl.List(pl.String),
}
