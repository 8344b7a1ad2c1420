"""Chains of versions from events that add, replace or delete; built from small columns, without the texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from malsim.importers.reading.columns import RowGroups


@dataclass(frozen=True)
class EventChains:
    """Frame with one row per version, in the order of the events, and counts for the report.

    `rows` has `event` (the row of the event that states it), `version` (its place in its chain, from 1), `implied` (stated
    only by what replaced it), `replaces` (the version before it), `after` (another replaced it), `annexed`, and the day it
    `left`.
    """

    rows: pl.DataFrame
    counts: dict[str, int]


def chains_of(marks: pl.DataFrame) -> EventChains:
    """Return the versions that result from events.

    `marks` has a row an event: `one` and `other`, numbers that tell apart what it is about; whether it `says` a new version,
    `replaces` the former, `undoes` one that it names, `deletes` the latest; the `day` of that. An event that undoes what no
    event stated before implies that version too.
    """
    groups = RowGroups(marks["one"].to_numpy(), marks["other"].to_numpy())
    says, undoes = marks["says"].to_numpy(), marks["undoes"].to_numpy()
    implies = undoes & (groups.sums(says | undoes) == 1)
    version = groups.sums(says + implies.astype(np.int64))
    event = np.repeat(np.arange(len(says)), says + implies.astype(np.int64))
    first = np.append(np.ones(len(event[:1]), dtype=bool), event[1:] != event[:-1])
    implied = implies[event] & first  # the version before the one that replaced it
    place = np.where(implied, 1, version[event])
    replaces = marks["replaces"].to_numpy()[event] & ~implied & (place > 1)
    chain = groups.number[event]
    after = RowGroups(chain, chain).following(replaces)
    rows = pl.DataFrame({"event": event, "version": place, "implied": implied, "replaces": replaces, "after": after})
    deletes = marks["deletes"].to_numpy() & (version > 0)
    endings = pl.DataFrame({"chain": groups.number, "version": version, "left": marks["day"]}).filter(deletes)
    endings = endings.group_by("chain", "version").agg(pl.col("left").drop_nulls().last(), annexed=True)
    rows = rows.with_columns(chain=chain).join(endings, on=["chain", "version"], how="left", maintain_order="left")
    deletions = int(deletes.sum())
    counts = {
        "versions known only from the row that replaced them": int(implies.sum()),
        "deleted, with no successor on record: annexed": deletions,
        "events left out: no text, or of an unknown kind": len(says) - int(says.sum()) - deletions,
    }
    return EventChains(rows.drop("chain").with_columns(pl.col("annexed").fill_null(value=False)), counts)
