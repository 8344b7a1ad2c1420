"""What a run keeps: a row a cell and tick, a row a writer and tick, and every event with its cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from malsim.memory import schema

if TYPE_CHECKING:
    from malsim.memory import Memory
    from malsim.sim.script import Scenario

__all__ = ["CELLS", "EVENTS", "SIGNALS", "WRITERS", "Recorder"]

_KEPT = (
    "stated", "calibration", "support_mass", "challenge_mass", "worth", "effective", "currency", "salience", "status",
    *schema.FLAGS,
)  # fmt: skip
CELLS = {
    "t": pl.Float64, "rep": pl.Int32, "cell": pl.String, **{name: schema.CELLS[name] for name in _KEPT}, "truth": pl.Boolean,
}  # fmt: skip
SIGNALS = {"t": pl.Float64, "rep": pl.Int32, "row": pl.String, "signal": pl.String, "value": pl.Float64}
EVENTS = {
    "t": pl.Float64, "rep": pl.Int32, "kind": pl.String, "subject": pl.String, "detail": pl.String, "cause": pl.String,
}  # fmt: skip
WRITERS = {"t": pl.Float64, **schema.WRITERS}


class Recorder:
    """Collects frames tick by tick and joins them once."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._cells: list[pl.DataFrame] = []
        self._writers: list[pl.DataFrame] = []
        self._events: list[pl.DataFrame] = []
        self._ticks = 0

    def tick(self, memory: Memory, t: float, *, last: bool) -> None:
        """Record the state after a tick at `t` days."""
        self._ticks += 1
        if not last and self._ticks % self.scenario.record_every:
            return
        cells = memory.cells.select("rep", pl.col("handle").alias("cell"), *_KEPT)
        if not isinstance(self.scenario.record, str):
            cells = cells.filter(pl.col("cell").is_in(self.scenario.record))
        stamp = pl.lit(t).alias("t")
        self._cells.append(cells.with_columns(stamp))
        self._writers.append(memory.writers.with_columns(stamp))

    def admitted(self, verdicts: pl.DataFrame, before: Memory, after: Memory) -> None:
        """Record what the gate said of a batch, and which cells it replaced."""
        if verdicts.height:
            self._events.append(_verdict_events(verdicts))
            self._events.append(_replacements(before, after))

    def events(self) -> pl.DataFrame:
        """All events in time order."""
        return pl.concat([pl.DataFrame(schema=EVENTS), *self._events]).sort("t", "rep", maintain_order=True)

    def cells(self) -> pl.DataFrame:
        """All recorded cells."""
        empty = pl.DataFrame(schema=CELLS)
        kept = [frame.with_columns(pl.lit(None, pl.Boolean).alias("truth")).select(empty.columns) for frame in self._cells]
        return pl.concat([empty, *kept]).rechunk()

    def writers(self) -> pl.DataFrame:
        """All recorded writers."""
        empty = pl.DataFrame(schema=WRITERS)
        return pl.concat([empty, *(frame.select(empty.columns) for frame in self._writers)]).rechunk()


def _verdict_events(verdicts: pl.DataFrame) -> pl.DataFrame:
    """One event a claim: admitted, deduplicated or rejected; and one more for each that was attenuated."""
    said = (
        pl.col("issues")
        .list.eval(pl.format("{}: {}", pl.element().struct["path"], pl.element().struct["message"]))
        .list.join("; ")
    )
    by = pl.format("by {}", pl.col("writer").fill_null("?"))
    claim = pl.format("claim {} of {}", "sequence", pl.col("writer").fill_null("?"))
    words = {"admitted": "admitted", "deduplicated": "deduplicated", "refused": "rejected"}
    events = verdicts.select(
        "t",
        "rep",
        pl.col("verdict").cast(pl.String).replace_strict(words, return_dtype=pl.String).alias("kind"),
        pl.col("handle").alias("subject"),
        pl.when(pl.col("issues").list.len() > 0).then(said).otherwise(by).alias("detail"),
        claim.alias("cause"),
    )
    noted = verdicts.filter((pl.col("notes").list.len() > 0) | (pl.col("calibration") < 1.0)).select(
        "t",
        "rep",
        pl.lit("attenuated").alias("kind"),
        pl.col("handle").alias("subject"),
        pl.concat_list(
            "notes", pl.when(pl.col("calibration") < 1.0).then(pl.format("calibration × {}", pl.col("calibration").round(3)))
        ).list.drop_nulls().list.join("; ").alias("detail"),
        claim.alias("cause"),
    )  # fmt: skip
    return pl.concat([events, noted]) if noted.height else events


def _replacements(before: Memory, after: Memory) -> pl.DataFrame:
    """One event a cell that a batch superseded."""
    cells = after.cells
    old = before.cells["successor"].is_null()
    fresh = pl.concat([old, pl.Series([True] * (cells.height - before.cells.height), dtype=pl.Boolean)])
    gone = cells.with_row_index("row").filter(fresh & cells["successor"].is_not_null())
    if gone.is_empty():
        return pl.DataFrame(schema=EVENTS)
    heir = gone["successor"]
    return pl.DataFrame(
        [
            cells["created"].gather(heir).alias("t"),
            gone["rep"],
            pl.Series("kind", ["superseded"] * gone.height),
            gone["handle"].alias("subject"),
            pl.select(pl.format("by {} of {}", cells["handle"].gather(heir), cells["writer"].gather(heir)))
            .to_series()
            .alias("detail"),
            cells["handle"].gather(heir).alias("cause"),
        ]
    )
