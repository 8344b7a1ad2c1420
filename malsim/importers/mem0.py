"""mem0: the history database of its open-source library, and the JSON that `get_all` or a dump of payloads gives."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim.importers.reading.columns import filled, followed, lists, running, texts
from malsim.importers.reading.put import EDGES
from malsim.importers.reading.records import Records, days_of, text_of

if TYPE_CHECKING:
    from malsim.importers.reading.records import Options
    from malsim.importers.reading.source import Source

__all__ = ["read", "recognises"]

UNKNOWN = "unknown:mem0"
_COLUMNS: dict[str, tuple[str, ...]] = {  # each by the names it has borne
    "memory": ("memory_id",), "event": ("event",), "old": ("old_memory", "prev_value"), "new": ("new_memory", "new_value"),
    "created": ("created_at", "timestamp"), "updated": ("updated_at",), "actor": ("actor_id",), "role": ("role",),
}  # fmt: skip
_SCOPES = ("user_id", "agent_id", "run_id", "app_id")
_WHEN = ("created", "updated")
_THEIRS = {"their_actor": "actor_id", "attributed": "attributed_to", "their_role": "role", "user": "user_id"}  # of a payload
_VOICES = ("actor", "their_actor", "attributed", "role", "their_role", "user")  # who wrote: the first that is told
_DAYS = {"day": "created_at", "last": "updated_at", "expires": "expiration_date"}
_VERSION = ("memory", "version", "title", "writer", "day", "replaces", "expires", "topics", "entities", "chain", "place")
Payloads = dict[str, dict[str, Any]]


def recognises(source: Source) -> bool:
    """A database with the table `history` of mem0, or its memories as JSON."""
    if source.is_database:
        return source.tables.get("history", frozenset()) >= {"memory_id", "event"}
    return bool(_payloads(source.document))


def read(source: Source, options: Options) -> Records:
    """ADD is a claim, UPDATE one that supersedes the former, DELETE annexes; payloads say who wrote."""
    payloads = _payloads(options.payload if source.is_database else source.document)
    told = _told(payloads)
    events = _counted(_events(source, told))
    cells = _cells(events, told)
    replaced = cells.filter("replaces").select(
        source="key", relation=pl.lit("supersedes"), target=_key(pl.col("version") - 1), weight=0.0
    )
    accused = replaced.with_columns(relation=pl.lit("contradicts"), weight=-1.0).head(replaced.height * options.contradict)
    deleted = int(events["deletes"].sum())
    return Records(
        form="a mem0 history database" if source.is_database else "mem0's memories as JSON",
        cells=cells.drop("memory", "version", "replaces"),
        edges=pl.concat([replaced, accused]).select(pl.col(name).cast(kind) for name, kind in EDGES.items()),
        extras=_metadata(payloads, cells),
        counts={
            "versions known only from the row that replaced them": int(events["lost"].sum()),
            "deleted, with no successor on record: annexed": deleted,
            "events left out: no text, or of an unknown kind": events.height - int(events["says"].sum()) - deleted,
        },
    )


def _payloads(held: Any) -> Payloads:
    """Memories by id, of any of the shapes in which mem0 hands them out; empty where it is none of them."""
    if isinstance(held, dict):
        held = next((held[name] for name in ("results", "memories", "points") if isinstance(held.get(name), list)), [])
    found: Payloads = {}
    for item in held if isinstance(held, list) else []:
        payload = item.get("payload") if isinstance(item, dict) else None
        whole = {**item, **payload} if isinstance(payload, dict) else item
        if not isinstance(whole, dict) or not isinstance(whole.get("id"), (str, int)):
            continue
        text = whole.get("memory", whole.get("data"))
        if isinstance(text, str) and ("memory" in whole or "hash" in whole or payload is not None):
            found[str(whole["id"])] = {**whole, "memory": text}
    return found


def _told(payloads: Payloads) -> pl.DataFrame:
    """What payloads say of each memory: a version of it, who wrote it, its topics and entities."""
    held = payloads.values()

    def each(name: str) -> list[Any]:
        return [payload.get(name) for payload in held]

    told = pl.DataFrame(
        [
            texts("memory", payloads),
            texts("title", map(text_of, each("memory"))),
            *(texts(name, map(text_of, each(field))) for name, field in _THEIRS.items()),
            *(days_of(name, each(field)) for name, field in _DAYS.items()),
            lists("topics", map(_texts, each("categories"))),
            lists("entities", (_texts([payload.get(scope) for scope in _SCOPES]) for payload in held)),
        ]
    )
    writer = pl.coalesce(*_THEIRS, pl.lit(UNKNOWN))
    return told.with_columns(writer=writer, version=pl.lit(1, pl.Int64), replaces=pl.lit(value=False))


def _events(source: Source, told: pl.DataFrame) -> pl.DataFrame:
    """The rows of the history with their writers; what is blank is null."""
    names = source.tables.get("history", frozenset())
    taken = (next((name for name in found if name in names), "NULL") for found in _COLUMNS.values())
    rows = source.rows(f"SELECT {', '.join(taken)} FROM history ORDER BY rowid") if names else []  # noqa: S608  # our names
    held = {name: map(itemgetter(place), rows) for place, name in enumerate(_COLUMNS)}
    events = pl.DataFrame([days_of(name, told) if name in _WHEN else texts(name, told) for name, told in held.items()])
    event = pl.col("event").fill_null("").str.to_uppercase()
    events = events.with_columns(event, *map(filled, ("old", "new", "actor", "role")))
    told = told.select("memory", *_THEIRS, "expires", "topics", "entities")
    events = events.join(told, on="memory", how="left", maintain_order="left")
    chain = pl.col("memory").cast(pl.Categorical).to_physical()  # numbers are grouped faster than texts
    return events.with_columns(chain=chain, writer=pl.coalesce(*_VOICES, pl.lit(UNKNOWN)))


def _counted(events: pl.DataFrame) -> pl.DataFrame:
    """What each event comes to, and `version`, that of its memory after it.

    It `says` a version; it `deletes` the latest; one is `lost` where a memory's first event tells only what it replaced.
    """
    event, known = pl.col("event"), pl.col("memory").is_not_null()
    events = events.with_columns(
        says=known & event.is_in(["ADD", "UPDATE"]) & pl.col("new").is_not_null(),
        lost=known & event.is_in(["UPDATE", "DELETE"]) & pl.col("old").is_not_null(),
    )
    first = running(events["chain"], events["says"] | events["lost"]) == 1
    events = events.with_columns(lost=pl.col("lost") & first)
    events = events.with_columns(version=running(events["chain"], events["says"].cast(pl.Int64) + events["lost"]))
    return events.with_columns(deletes=known & (event == "DELETE") & (pl.col("version") > 0))


def _versions(events: pl.DataFrame) -> pl.DataFrame:
    """A row a version, in the order of the events."""
    updates = pl.col("event") == "UPDATE"
    place = pl.int_range(pl.len()) * 2
    says = events.select(
        *("says", "memory", "version", "writer", "expires", "topics", "entities", "chain"),
        place=place + 1,
        title=pl.col("new"),
        day=pl.when(updates).then("updated").otherwise("created"),
        replaces=updates & (pl.col("version") > 1),
    ).filter("says")
    lost = events.select(
        *("lost", "memory", "writer", "expires", "topics", "entities", "chain"),
        place=place,
        title=pl.col("old"),
        day=pl.col("created"),
        version=pl.lit(1, pl.Int64),
        replaces=pl.lit(value=False),
    ).filter("lost")
    return says.select(_VERSION).merge_sorted(lost.select(_VERSION), "place")


def _cells(events: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Every version with its status, those of memories that stand in payloads alone last."""
    cells = _versions(events)
    gone = events.filter("deletes").group_by("chain", "version").agg(left=pl.col("updated").drop_nulls().last())
    cells = cells.join(gone.with_columns(annexed=True), on=["chain", "version"], how="left", maintain_order="left")
    cells = cells.with_columns(after=followed(cells["chain"], cells["replaces"]))
    alone = told.filter(pl.col("title").is_not_null()).join(cells, on="memory", how="anti")
    cells = pl.concat([cells.with_columns(last=pl.lit(None, pl.Float64)), alone.drop(*_THEIRS)], how="diagonal")
    annexed = pl.col("annexed").fill_null(value=False)
    ended = pl.when(annexed).then(pl.lit("annexed")).when("after").then(pl.lit("superseded"))
    about = ("expires", "topics", "entities") if told.height else ()
    return cells.select(
        _key(pl.col("version")).alias("key"),
        pl.col("memory").alias("object"),
        "title",
        "writer",
        pl.col("day").alias("created"),
        pl.coalesce("left", "last", "day").alias("touched"),
        ended.otherwise(pl.lit("active")).alias("status"),
        annexed.alias("annexed"),
        *(*about, "memory", "version", "replaces"),
    )


def _key(version: pl.Expr) -> pl.Expr:
    return pl.concat_str("memory", pl.lit("@"), version.cast(pl.String))


def _metadata(payloads: Payloads, cells: pl.DataFrame) -> pl.DataFrame:
    """The metadata of each version's memory, as JSON."""
    held = {memory: json.dumps(payload["metadata"]) for memory, payload in payloads.items() if payload.get("metadata")}
    known = pl.DataFrame([texts("memory", held), texts("value", held.values())])
    found = cells.select("memory", cell="key").join(known, on="memory", maintain_order="left")
    return found.select("cell", pl.lit("metadata").alias("name"), "value")


def _texts(values: Any) -> list[str]:
    return [text for value in values if (text := text_of(value))] if isinstance(values, list) else []
