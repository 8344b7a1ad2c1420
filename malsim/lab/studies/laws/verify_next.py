"""What to verify next: the facts whose two best values are closest to each other under `records`."""

from __future__ import annotations

import polars as pl

from malsim.lab.studies.laws.stream import Stream, arrived
from malsim.laws import plant_of

SCHEMA = {"object": pl.String, "leads": pl.String, "belief": pl.Float64, "against": pl.String, "rival": pl.Float64}


def closest_facts(claims: pl.DataFrame, count: int, *, law: str = "records", at: float | None = None) -> pl.DataFrame:
    """The disputed facts that nobody verified, the two best values closest to each other first; `count` of them at most.

    `claims` are as `importers.building.claim_stream` or `read_claims` gives them, up to day `at`, by default the last.

    Returns
    -------
    pl.DataFrame
        object, leads, belief, against, rival: the best value and what is believed of it, the second and what of that.

    >>> rows = [("u", "x", "A"), ("v", "x", "B"), ("w", "x", "A"), ("u", "y", "A"), ("v", "y", "B"), ("w", "z", "A")]
    >>> claims = pl.DataFrame(rows, schema=["writer", "object", "value"], orient="row").with_row_index("line")
    >>> claims = claims.with_columns(time=pl.lit(None, pl.Float64), confidence=pl.lit(None, pl.Float64))
    >>> closest_facts(claims, 5)["object"].to_list()
    ['y', 'x']
    """
    in_order = arrived(claims)
    in_order = in_order if at is None else in_order.filter(pl.col("t") <= at)
    if in_order.is_empty():
        return pl.DataFrame(schema=SCHEMA)
    plant, stream = plant_of(law), Stream.of(in_order)
    now = float(stream.claims.t.max()) if at is None else at
    state, _ = plant.admit(plant.init([0], stream.vocabulary), stream.claims)
    view = plant.view(plant.tick(state, now), now)
    words, objects = stream.vocabulary.values, stream.vocabulary.objects
    rows = zip(view.object.tolist(), view.value.tolist(), strict=True)
    believed = pl.DataFrame({
        "object": [objects[about] for about in view.object.tolist()],
        "value": [str(words[about][value]) for about, value in rows],
        "belief": view.belief if view.belief is not None else view.rank,
    }).filter(pl.Series(view.active))  # fmt: skip
    verified = in_order.filter("verified")["object"] if "verified" in in_order.columns else pl.Series([], dtype=pl.String)
    best = (
        believed.filter(~pl.col("object").is_in(verified.implode()))
        .group_by("object", "value", maintain_order=True)
        .agg(pl.col("belief").max())
        .sort("belief", descending=True, maintain_order=True)
        .group_by("object", maintain_order=True)
        .agg(leads=pl.col("value").first(), belief=pl.col("belief").first(),
             against=pl.col("value").get(1, null_on_oob=True), rival=pl.col("belief").get(1, null_on_oob=True))
        .drop_nulls("rival")
    )  # fmt: skip
    return best.sort(pl.col("belief") - pl.col("rival"), "object").head(count).select(*SCHEMA)
