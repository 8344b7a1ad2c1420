"""Corrections by people: reject a wrong value, erase one, or allow one again.

A correction takes claims back; a change of the world is a later claim. Whoever made one of them may, and whoever the rules
name (`verifiers`) or let supersede it (`supersede_by`). For anybody else: a `UsageError`, and the memory is as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.base.errors import UsageError
from malsim.base.finite import finite
from malsim.memory.gate.admit import Admission, admit
from malsim.memory.gate.verdicts import issues_as_text
from malsim.memory.graph.tombstones import (
    derived,
    digest,
    digests_of,
    erase,
    lift,
    may_take_back,
    reject,
    rows_barred,
    text_of,
)
from malsim.memory.schema import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from malsim.memory.graph.arrays import Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.rules import Rules

_NONE = np.zeros(0, dtype=np.int64)


class NotTheirsError(UsageError):
    """Correction by somebody to whom the rules do not grant it."""


def correct(
    memory: Memory, rows: Ints, instead: Mapping[str, Any] | None, *, now: float, by: str, rules: Rules
) -> Admission:
    """Reject what some rows claim about an object, and admit the right claim.

    Under `corrections = "supersede"` the right claim supersedes them, under `"reject"` they have no effect any more and what
    they said is refused from now on; under `derived = "fall"` what was derived from them falls too.

    Parameters
    ----------
    rows
        Cells that say one thing of one object.
    instead
        Fields of the claim that is right (title, value, confidence …), of the same kind, object and beginning; None where
        nobody knows what is.
    """
    rows = rows[np.isnan(memory.values("rejected", rows))]
    _may_take_back(memory, rows, by, rules, now)
    verdicts = pl.DataFrame(schema=VERDICTS)
    rejects = rules.corrections == "reject" or instead is None
    facts = rows if rules.corrections == "reject" else _NONE
    fallen = derived(memory, rows) if rules.derived == "fall" else rows
    if instead is not None:
        memory, verdicts = _put_instead(memory, rows, instead, now, by, rules)
    taken_back = fallen if rejects else np.setdiff1d(fallen, rows)
    return Admission(reject(memory, taken_back, now=now, facts=facts) if taken_back.size else memory, verdicts)


def _put_instead(
    memory: Memory, rows: Ints, instead: Mapping[str, Any], now: float, by: str, rules: Rules
) -> tuple[Memory, pl.DataFrame]:
    wrong = memory.cells[rows]
    start = wrong.select(pl.coalesce("valid_from", "created").min()).item()
    first = wrong.row(0, named=True)
    usual = {"kind": first["kind"], "object": first["object"], "confidence": wrong["stated"].max() or rules.confidence_cap}
    edges = [{"relation": "supersedes", "target": name} for name in wrong.filter(pl.col("status") == "active")["handle"]]
    own = {"rep": first["rep"], "t": now, "writer": by, "valid_from": start, "edges": edges}
    claim = usual | {name: value for name, value in instead.items() if value is not None} | own
    value = claim.get("value_text") if claim.get("value") is None else claim["value"]
    fact = digest(first["rep"], first["object"], text_of(claim["title"] if value is None else value))
    if fact in wrong.select(digests_of()).to_series():
        raise UsageError(
            "repeats the corrected value",
            where="correct",
            given=first["handle"],
            hint="say what is right, or nothing",
        )
    rules = rules.replace(supersede_by="any")  # who may take them back was asked before
    after, verdicts = admit(lift(memory, rows_barred(memory, fact)), [claim], rules)
    if verdicts["verdict"][0] == "refused":
        raise UsageError("the gate refused what is right", where="correct", given=verdicts.select(issues_as_text()).item())
    return after, verdicts


def forget(memory: Memory, rows: Ints, *, now: float, by: str, rules: Rules) -> Memory:
    """Erase the content of some rows and of everything derived from them; the gate refuses it by the digests that remain.

    Nothing brings it back, so only who said it or a verifier may, whatever `supersede_by` says.
    """
    _may_take_back(memory, rows, by, rules.replace(supersede_by="own"), now)
    return erase(memory, derived(memory, rows), now=now, facts=rows)


def allow(memory: Memory, rep: int, object_: str, value: str | float, *, by: str, rules: Rules) -> Memory:
    rows = rows_barred(memory, digest(rep, object_, text_of(value)))
    _may_take_back(memory, rows, by, rules)
    return lift(memory, rows)


def _may_take_back(memory: Memory, rows: Ints, by: str, rules: Rules, now: float = 0.0) -> None:
    """Raise if there are no rows, if one is locked, or if `by` has no right to correct them."""
    finite(now, where="now")
    if not rows.size:
        raise UsageError(
            "no cell states this value", where=by, hint="it was taken back before, or name object and value as claimed"
        )
    cells = memory.cells[rows]
    if rules.locks == "enforced" and (cells["locked"] | cells["immutable"]).any():
        raise UsageError("the cell is locked or immutable", where=cells["handle"][0], hint="unlock it")
    if not may_take_back(memory, rows, np.zeros(len(rows), dtype=np.int64), by, rules).all():
        authors = memory.writers[np.unique(memory.column("author")[rows])]["writer"]
        allowed = ", ".join(dict.fromkeys([*authors, *rules.verifiers.split()]))
        raise NotTheirsError("it is not theirs to take back", where=cells["handle"][0], given=by, allowed=allowed)
