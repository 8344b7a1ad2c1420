"""Adapter to malsim's own store, held in memory: `plain` with default rules, `governed` with the preset of that name.

A claim's day is the day on which the store learns of the claim; its time is the start of its validity. A writer's new
value for an object supersedes that writer's previous value. A correction by somebody without the right to correct is
refused, and nothing changes.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.base.errors import UsageError
from malsim.memory import Rules
from malsim.memory.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from malsim.adapters.contract import Claim, Query

STATED = 0.7  # confidence assumed for a claim without one


class OwnStore:
    """Memory backed by malsim's own store."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.store = rules, Store(None)

    def write(self, claims: Sequence[Claim], now: float) -> None:
        for claim in claims:
            rep = self.store.rep_of(claim.scope, make=True)
            cells = self.store.memory.cells.filter(rep=rep, status="active")
            self.store.admit([self._row(claim, now, rep, cells)], self.rules)

    def _row(self, claim: Claim, now: float, rep: int, cells: pl.DataFrame) -> dict[str, Any]:
        earlier = pl.coalesce("valid_from", "created") < claim.start
        same = cells.filter(earlier, pl.col("value_text") != claim.value, writer=claim.writer, object=claim.object)
        edges = [{"relation": "supersedes", "target": handle} for handle in same["handle"]]
        for edge in claim.edges:
            edges += [{"relation": edge.relation, "target": name} for name in cells.filter(title=edge.target)["handle"]]
        stated = STATED if claim.stated is None else claim.stated
        return {
            "rep": rep, "t": now, "writer": claim.writer, "kind": "obs", "object": claim.object, "value_text": claim.value,
            "title": claim.text or f"{claim.object} is {claim.value}", "body": f"by {claim.writer}", "confidence": stated,
            "source_refs": [claim.source] if claim.source else [], "edges": edges,
            "valid_from": None if claim.start == now else claim.start, "valid_to": claim.valid_to,
        }  # fmt: skip

    def tick(self, now: float) -> None:
        self.store.tick(now, self.rules)

    settle = tick

    def peek(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        rows = self.store.ask(query.object, now=now, at=query.at, as_of=query.as_of, scope=query.scope, rules=self.rules)
        return [
            {"id": row["handle"], "object": query.object, "rank": row["belief"], "rep": row["rep"], "text": row["title"]}
            | {name: row[name] for name in ("value", "belief", "status", "valid_from", "valid_to")}
            for row in rows.head(limit).to_dicts()
        ]

    def read(self, query: Query, now: float, limit: int) -> list[dict[str, Any]]:
        items = self.peek(query, now, limit)
        for item in items[:1]:
            self.store.expand(item["id"], now=now, rep=item["rep"], rules=self.rules)
        return items

    def correct(self, object: str, value: str, instead: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        right = None if instead is None else {"title": f"{object} is {instead}", "value_text": instead}
        self._try(self.store.correct, object, value, right, now=now, by=by, scope=scope)

    def forget(self, object: str, value: str | None, now: float, by: str, scope: str) -> None:  # noqa: A002
        self._try(self.store.forget, object, value, now=now, by=by, scope=scope)

    def allow(self, object: str, value: str, now: float, by: str, scope: str) -> None:  # noqa: A002
        self._try(self.store.allow, object, value, now=now, by=by, scope=scope)

    def _try(self, call: Callable[..., object], *arguments: object, scope: str, **named: Any) -> None:
        # a call that the store refuses changes nothing
        with suppress(UsageError):
            call(*arguments, rep=self.store.rep_of(scope), rules=self.rules, **named)

    def share(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        self.store.share(object, to, now=now, scope=scope)

    def unshare(self, object: str, to: str, now: float, scope: str) -> None:  # noqa: A002
        self.store.unshare(object, to, now=now, scope=scope)

    def texts(self) -> list[str]:
        """Return every text in the store's tables, and the words in its search index."""
        base = self.store.connection
        base.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab ('main', 'words', 'row')")
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for name in tables for row in base.execute(f'SELECT * FROM "{name}"')]  # noqa: S608  # names of its tables
        rows += base.execute("SELECT term FROM temp.terms").fetchall()
        return [text for row in rows for text in row if isinstance(text, str)]

    def log(self) -> list[dict[str, Any]]:
        deeds = self.store.ticks.select("row", "deed", "writer", "t").rows()
        return [{"event": deed, "id": row, "by": writer or "", "at": t} for row, deed, writer, t in deeds]

    def close(self) -> None:
        self.store.close()


def plain() -> OwnStore:
    return OwnStore(Rules())


def governed() -> OwnStore:
    return OwnStore(Rules.governed())
