"""Importer of mem0: the history database of the open-source library, and JSON from `get_all` or a payload dump."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import polars as pl

from malsim.importers.reading.put import EDGES
from malsim.importers.reading.records import Options, Records, day_of, lists, null_if_blank, text_of, texts, texts_of
from malsim.importers.reading.source import Source

UNKNOWN = "unknown:mem0"
_COLUMNS: dict[str, tuple[str, ...]] = {  # each column with its names in earlier versions of mem0
    "memory": ("memory_id",), "event": ("event",), "old": ("old_memory", "prev_value"), "new": ("new_memory", "new_value"),
    "created": ("created_at", "timestamp"), "updated": ("updated_at",), "actor": ("actor_id",), "role": ("role",),
}  # fmt: skip
_SCOPES = ("user_id", "agent_id", "run_id", "app_id")
_WHEN = ("created", "updated")
_PAYLOAD = {"their_actor": "actor_id", "attributed": "attributed_to", "their_role": "role", "user": "user_id"}
# Fields that may name the writer, in order of preference.
_VOICES = ("actor", "their_actor", "attributed", "role", "their_role", "user")
_DROPPED = frozenset(
    {"hash", "score", "text_lemmatized", "event", "owner", "organization", "immutable", "structured_attributes"}
)
_DAYS = {"day": "created_at", "last": "updated_at", "expires": "expiration_date"}
_FIELDS = _DROPPED.union(
    ("id", "memory", "data", "payload", "metadata", "categories", *_PAYLOAD.values(), *_DAYS.values(), *_SCOPES)
)
Payloads = dict[str, dict[str, Any]]


def recognises(source: Source) -> bool:
    if source.is_database:
        return source.tables.get("history", frozenset()) >= {"memory_id", "event"}
    return bool(_payloads(source.document))


def read(source: Source, options: Options) -> Records:
    """Import each ADD as a claim and each UPDATE as its next version. A DELETE makes the latest version `annexed`."""
    payloads = _payloads(options.payload if source.is_database else source.document)
    memories = _memories(payloads)
    events = _events(source, memories)
    versions, counts = _chains(events)
    cells = _cells(_versions(events, versions, memories))
    alone = memories.filter(pl.col("title").is_not_null()).join(cells, left_on="memory", right_on="object", how="anti")
    about = ("memory", "version", "title", "writer", "day", "expires", "topics", "entities", "user")
    alone = alone.select(*about, left="last").with_columns(annexed=False, after=False, replaces=False)
    edges = cells.filter("replaces").select(
        source="key", relation=pl.lit("supersedes"), target=_key(pl.col("version") - 1, "object"), weight=pl.lit(0.0)
    )
    edges = edges.select(pl.col(name).cast(kind) for name, kind in EDGES.items())
    contradictions = [edges.with_columns(relation=pl.lit("contradicts"), weight=-1.0)] * options.contradict
    dropped = sorted({name for payload in payloads.values() for name in payload if name in _DROPPED})
    for name in dropped:
        counts[f"left out: {name} of a memory"] = sum(bool(payload.get(name)) for payload in payloads.values())
    whole = pl.concat([part for part in (cells, _cells(alone)) if part.height] or [cells])
    return Records(
        form="a mem0 history database" if source.is_database else "mem0's memories as JSON",
        cells=whole.drop("version", "replaces"),
        edges=pl.concat([edges, *contradictions]),
        extras=_metadata(payloads, whole),
        counts=counts,
    )


def _payloads(document: Any) -> Payloads:
    if isinstance(document, dict):
        names = ("results", "memories", "points")
        document = next((document[name] for name in names if isinstance(document.get(name), list)), [])
    payloads: Payloads = {}
    for item in document if isinstance(document, list) else []:
        payload = item.get("payload") if isinstance(item, dict) else None
        whole = {**item, **payload} if isinstance(payload, dict) else item
        if not isinstance(whole, dict) or not isinstance(whole.get("id"), (str, int)):
            continue
        text = whole.get("memory", whole.get("data"))
        if isinstance(text, str) and ("memory" in whole or "hash" in whole or payload is not None):
            payloads[str(whole["id"])] = {**whole, "memory": text}
    return payloads


def _memories(payloads: Payloads) -> pl.DataFrame:
    values = payloads.values()

    def column(name: str) -> list[Any]:
        return [payload.get(name) for payload in values]

    memories = pl.DataFrame(
        [
            texts("memory", payloads),
            texts("title", map(text_of, column("memory"))),
            *(texts(name, map(text_of, column(field))) for name, field in _PAYLOAD.items()),
            *(_days(name, column(field)) for name, field in _DAYS.items()),
            lists("topics", map(texts_of, column("categories"))),
            lists("entities", (texts_of([payload.get(scope) for scope in _SCOPES]) for payload in values)),
        ]
    )
    return memories.with_columns(writer=pl.coalesce(*_PAYLOAD, pl.lit(UNKNOWN)), version=pl.lit(1, pl.Int64))


def _events(source: Source, memories: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the history table with their writers. Blank strings become null."""
    names = source.tables.get("history", frozenset())
    fields = (next((name for name in aliases if name in names), "NULL") for aliases in _COLUMNS.values())
    rows = source.rows(f"SELECT {', '.join(fields)} FROM history ORDER BY rowid") if names else []  # noqa: S608  # our own names
    columns = {name: [row[index] for row in rows] for index, name in enumerate(_COLUMNS)}
    events = pl.DataFrame([(_days if name in _WHEN else texts)(name, values) for name, values in columns.items()])
    event = pl.col("event").fill_null("").str.to_uppercase()
    events = events.with_columns(event, *map(null_if_blank, ("old", "new", "actor", "role")))
    if memories.is_empty():
        return events.with_columns(writer=pl.coalesce("actor", "role", pl.lit(UNKNOWN)))
    voices = memories.select("memory", *_PAYLOAD, "expires", "topics", "entities")
    events = events.join(voices, on="memory", how="left", maintain_order="left")
    return events.with_columns(writer=pl.coalesce(*_VOICES, pl.lit(UNKNOWN)))


def _chains(events: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return one row per version of each memory, in event order, and counts for the report.

    The columns are `event` (row of the event that states the version), `version` (from 1), `implied` (known only from the
    event that replaced it), `replaces` (a version precedes it), `after` (another version replaced it), `annexed`, and the
    day on which it `left`. An event that undoes a text that no earlier event stated implies a version with that text.
    """
    event, says, undoes, implies = pl.col("event"), pl.col("says"), pl.col("undoes"), pl.col("implies")
    has_id = pl.col("memory").is_not_null()
    marks = events.select(
        "memory",
        says=has_id & event.is_in(["ADD", "UPDATE"]) & pl.col("new").is_not_null(),
        replaces=event == "UPDATE",
        undoes=has_id & event.is_in(["UPDATE", "DELETE"]) & pl.col("old").is_not_null(),
        deletes=has_id & (event == "DELETE"),
        day="updated",
    ).with_row_index("event")
    marks = marks.with_columns(implies=undoes & ((says | undoes).cum_sum().over("memory") == 1))
    marks = marks.with_columns(version=(says.cast(pl.Int64) + implies.cast(pl.Int64)).cum_sum().over("memory"))
    deletions = marks.filter(pl.col("deletes") & (pl.col("version") > 0))
    endings = deletions.group_by("memory", "version").agg(pl.col("day").drop_nulls().last().alias("left"), annexed=True)
    stated = marks.filter("says").with_columns(implied=False)
    implied = marks.filter("implies").with_columns(implied=True, replaces=False, version=pl.lit(1, pl.Int64))
    rows = pl.concat([implied, stated]).sort("event", pl.col("implied").not_())
    rows = rows.with_columns(replaces=pl.col("replaces") & (pl.col("version") > 1))
    rows = rows.with_columns(after=pl.col("replaces").shift(-1, fill_value=False).over("memory"))
    rows = rows.join(endings, on=["memory", "version"], how="left", maintain_order="left")
    counts = {
        "versions known only from the row that replaced them": implied.height,
        "claims annexed because they were deleted": deletions.height,
        "left out: events without text or of an unknown kind": marks.height - stated.height - deletions.height,
    }
    rows = rows.select("event", "version", "implied", "replaces", "after", "left", "annexed")
    return rows.with_columns(pl.col("annexed").fill_null(value=False)), counts


def _versions(events: pl.DataFrame, rows: pl.DataFrame, memories: pl.DataFrame) -> pl.DataFrame:
    about = ("expires", "topics", "entities", "user") if memories.height else ()
    fields = events.select("memory", "writer", "old", "new", "created", "updated", "event", *about)[rows["event"]]
    created = rows["implied"] | (fields["event"] != "UPDATE")
    both = fields.drop("event").hstack(rows.drop("event"))
    return both.with_columns(
        title=pl.when("implied").then("old").otherwise("new"), day=pl.when(created).then("created").otherwise("updated")
    )


def _cells(versions: pl.DataFrame) -> pl.DataFrame:
    status = pl.when("annexed").then(pl.lit("annexed")).when("after").then(pl.lit("superseded"))
    return versions.select(
        _key(pl.col("version")).alias("key"),
        pl.col("memory").alias("object"),
        "title",
        "writer",
        pl.col("day").alias("created"),
        pl.coalesce("left", "day").alias("touched"),
        status.otherwise(pl.lit("active")).alias("status"),
        "annexed",
        *(name for name in ("expires", "topics", "entities") if name in versions.columns),
        *(pl.col(name).alias("scope") for name in ("user",) if name in versions.columns),
        "version",
        "replaces",
    )


def _key(version: pl.Expr, memory: str = "memory") -> pl.Expr:
    return pl.concat_str(memory, pl.lit("@"), version.cast(pl.String))


def _metadata(payloads: Payloads, cells: pl.DataFrame) -> pl.DataFrame:
    """Return each memory version's metadata as JSON, without the mem0 fields that vector-store dumps mix into it."""
    by_memory = dict[str, str]()
    for memory, payload in payloads.items():
        unknown = {name: value for name, value in payload.items() if name not in _FIELDS and value not in (None, "", [], {})}
        if details := payload.get("metadata") or unknown:
            by_memory[memory] = json.dumps(details)
    metadata = pl.DataFrame([texts("memory", by_memory), texts("value", by_memory.values())])
    rows = cells.select(memory="object", cell="key").join(metadata, on="memory", maintain_order="left")
    return rows.select("cell", pl.lit("metadata").alias("name"), "value")


def _days(name: str, dates: Iterable[object]) -> pl.Series:
    return pl.Series(name, map(day_of, dates), pl.Float64)
