"""Edges between the claims of a recorded stream (supports, contradicts, supersedes), computed in one pass.

The first claim of an (object, value) pair is the head of the pair. When its writer revises the head, the pair's next active
claim becomes the head. Heads therefore depend only on the stream.
"""

from __future__ import annotations

import polars as pl

from malsim.base.limits import within

_PAIR = ["object", "value"]
PAIR = 250  # measured memory per row of the join between claims and heads, in bytes


def disputes(stream: pl.DataFrame, *, mutual: bool) -> pl.DataFrame:
    """Return the edges between claims: source and target (arrival numbers), relation, and `at` (arrival of the edge).

    `stream` has arrival (0, 1, …), writer, object, value, in order of arrival. Every claim contradicts the current heads of
    rival values and, with `mutual`, later heads too. Every claim other than the head supports the head of its pair. A
    writer's later claim about an object supersedes that writer's earlier claim.
    """
    claims = _lives(stream)
    heads = _heads(claims)
    counts = [frame.group_by("object").agg(pl.len().cast(pl.Int64)) for frame in (claims, heads)]
    rows = counts[0].join(counts[1], on="object").select((pl.col("len") * pl.col("len_right")).sum()).item()
    within({"memory": PAIR * rows}, where="claims that contradict each other")
    pairs = claims.join(heads, on="object").filter(pl.col("arrival") != pl.col("head"))
    at = pl.max_horizontal("arrival", "from")
    pairs = pairs.with_columns(at=at).filter((pl.col("at") < pl.col("end")) & (pl.col("at") < pl.col("until")))
    ally = pl.col("value") == pl.col("head_value")
    is_later = pl.col("arrival") > pl.col("first")
    relation = pl.when(ally).then(pl.lit("supports")).otherwise(pl.lit("contradicts"))
    ends = pl.col("arrival").alias("source"), pl.col("head").alias("target")
    evidence = pairs.filter(ally | is_later | pl.lit(mutual)).select(*ends, relation.alias("relation"), "at")
    revised = claims.filter(pl.col("next").is_not_null())
    supersedes = revised.select(source="next", target="arrival", relation=pl.lit("supersedes"), at="next")
    return pl.concat([evidence, supersedes]).sort("at", "source", "target", "relation")


def _lives(stream: pl.DataFrame) -> pl.DataFrame:
    following = pl.col("arrival").shift(-1).over("writer", "object")
    return (
        stream.select("arrival", "writer", *_PAIR)
        .with_columns(next=following)
        .with_columns(end=pl.col("next").fill_null(stream.height + 1))
    )


def _heads(claims: pl.DataFrame) -> pl.DataFrame:
    ended_before = pl.col("end").shift(1).cum_max().over(_PAIR)
    spells = claims.with_columns(first=pl.col("arrival").first().over(_PAIR), ended_before=ended_before)
    starts = pl.max_horizontal("arrival", pl.col("ended_before").fill_null(0))
    return (
        spells.with_columns(starts.alias("from"))
        .filter(pl.col("from") < pl.col("end"))
        .select("object", "from", "first", head="arrival", head_value="value", until="end")
    )
