"""What a run keeps: cells and writers at each tick, signals or their bands over replications, events with their causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory import schema
from malsim.memory.frames import framed, places
from malsim.memory.wording import worded
from malsim.sim import gauges
from malsim.sim.bands import Bands
from malsim.sim.notes import EVENTS, Notes
from malsim.sim.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from malsim.memory import Memory
    from malsim.memory.verdicts import Judgement
    from malsim.sim.occasion import Array
    from malsim.sim.script import Scenario
    from malsim.sim.stage import Scene

__all__ = ["CELLS", "EVENTS", "SIGNALS", "WRITERS", "Recorder"]

_KEPT = (
    "stated", "calibration", "support_mass", "challenge_mass", "worth", "effective", "currency", "salience", "status",
    *schema.FLAGS,
)  # fmt: skip
CELLS = {
    "t": pl.Float64, "rep": pl.Int32, "cell": pl.String, **{name: schema.CELLS[name] for name in _KEPT}, "truth": pl.Boolean,
}  # fmt: skip
SIGNALS = {"t": pl.Float64, "rep": pl.Int32, "row": pl.String, "signal": pl.String, "value": pl.Float64}
VERDICTS = dict(zip(schema.VERDICT, ("admitted", "deduplicated", "rejected"), strict=True))
WRITERS = {"t": pl.Float64, **schema.WRITERS}


class Recorder:
    """Collects frames tick by tick and joins them once.

    Under `record = "bands"` it keeps quantiles over replications instead of cells, writers, signals and events; of events
    how many came of each kind (signal `events`, row the kind, from the first of its kind on). Under a list of addresses it
    keeps every event, but only those cells (by handle), signals (`right(pump)`, `words`) and writers (`writer(ann)`).
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.reps = pl.arange(scenario.first, scenario.first + scenario.replications, dtype=pl.Int32, eager=True).alias(
            "rep"
        )
        self.notes = Notes(self.reps.to_numpy(), scenario.facts, keeps=scenario.record != "bands")
        self.bands = Bands()
        self.tally = Tally(scenario.replications)
        self._wanted = None if isinstance(scenario.record, str) else frozenset(scenario.record)
        self._names = tuple(fact.name for fact in scenario.facts)
        self._cells: list[pl.DataFrame] = []
        self._writers: list[pl.DataFrame] = []
        self._signals: list[pl.DataFrame] = []
        self._ticks = 0
        self._named = pl.lit(value=True)
        if self._wanted is not None:
            address = pl.when(pl.col("row").is_null()).then("signal").otherwise(worded("{}({})", "signal", "row"))
            self._named = pl.col("signal").is_in(self._wanted) | address.is_in(self._wanted)

    def tick(self, memory: Memory, t: float, *, last: bool, scene: Scene | None = None) -> None:
        """Record the state after a tick at `t` days, and of a scene with facts what is made of them."""
        self._ticks += 1
        bands, about_facts = self.scenario.record == "bands", scene is not None and len(self._names) > 0
        answers = gauges.answers(scene.stand, scene.truth, full=not bands) if scene and about_facts else {}
        if answers:
            self.tally.add(answers)
        if not last and self._ticks % self.scenario.record_every:
            return
        turn = gauges.of_turn(scene.ledger, scene.desk) if scene else {}
        thread = scene.thread if scene else None
        if bands:
            wired, (kinds, counts) = thread.of_runs() if thread else {}, self.notes.counted()
            self.bands.add(t, answers, self._names, whole=("right",))
            self.bands.add(t, turn | wired, (None,), whole=turn.keys() - wired.keys())
            self.bands.add(t, {"events": counts}, kinds, whole=("events",))
            return
        self._signals += [frame.filter(self._named) for frame in thread.recorded(t)] if thread else []
        self._signals += self._listed(t, answers, self._names) + self._listed(t, turn, (None,))
        self._keep(memory, t, gauges.truth_of_cells(scene.stand, scene.truth) if scene and about_facts else None)

    def _keep(self, memory: Memory, t: float, truth: pl.Series | None) -> None:
        """Keep the wanted cells and writers."""
        cells = memory.cells.select("rep", pl.col("handle").alias("cell"), *_KEPT)
        cells = cells.with_columns(t=pl.lit(t), truth=pl.lit(None, pl.Boolean) if truth is None else truth)
        writers = memory.writers.with_columns(t=pl.lit(t))
        if self._wanted is not None:
            cells = cells.filter(pl.col("cell").is_in(self._wanted))
            writers = writers.filter((pl.lit("writer(") + pl.col("writer") + ")").is_in(self._wanted))
        self._cells.append(cells)
        self._writers.append(writers)

    def admitted(self, said: Judgement) -> None:
        """Record what the gate said of a batch, and which cells it superseded."""
        if self.notes.keeps:
            self.notes.add(_verdict_events(said.verdicts))
            self.notes.add(_replacements(np.sort(said.superseded), said.memory))
            return
        rep = said.rep - self.scenario.first
        for place, kind in enumerate(VERDICTS.values()):
            self.notes.count(kind, rep[said.verdict == place])
        self.notes.count("attenuated", rep[said.attenuated])
        self.notes.count("superseded", said.memory.column("rep")[said.superseded] - self.scenario.first)

    def events(self) -> pl.DataFrame:
        """All events in time order."""
        return self.notes.frame()

    def cells(self) -> pl.DataFrame:
        """All recorded cells."""
        return _joined(CELLS, self._cells)

    def signals(self) -> pl.DataFrame:
        """All recorded signals."""
        return _joined(SIGNALS, self._signals)

    def writers(self) -> pl.DataFrame:
        """All recorded writers."""
        return _joined(WRITERS, self._writers)

    def _listed(self, t: float, signals: dict[str, Array], rows: tuple[str | None, ...]) -> list[pl.DataFrame]:
        """Signals of shape (rows, replications) as rows of the frame, those without a value left out."""
        kept: list[tuple[str | None, str, Array]] = []
        for name, values in signals.items():
            numbers = gauges.numbers(self.scenario.facts, values) if name in ("truth", "answer") else values
            for row, line in zip(rows, np.atleast_2d(numbers), strict=True):
                address = name if row is None else f"{name}({row})"
                if self._wanted is None or name in self._wanted or address in self._wanted:
                    kept.append((row, name, line))
        if not kept:
            return []
        of_rows, names, lines = zip(*kept, strict=True)
        value = np.concatenate(lines)
        told = np.flatnonzero(~np.isnan(value))
        nth, rep = (places(part) for part in np.divmod(told, len(self.reps)))
        words = {name: pl.Series(held, dtype=pl.String)[nth] for name, held in (("row", of_rows), ("signal", names))}
        return [framed({"t": np.full(len(told), t), "rep": self.reps[rep], **words, "value": value[told]})]


def _joined(columns: Mapping[str, pl.DataType | type[pl.DataType]], frames: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=columns), *(frame.select(*columns) for frame in frames)]).rechunk()


def _verdict_events(verdicts: pl.DataFrame) -> pl.DataFrame:
    """One event a claim: admitted, deduplicated or rejected; and one more for each that was attenuated."""
    said = (
        pl.col("issues")
        .list.eval(worded("{}: {}", pl.element().struct["path"], pl.element().struct["message"]))
        .list.join("; ")
    )
    by = worded("by {}", pl.col("writer").fill_null("?"))
    claim = worded("claim {} of {}", "sequence", pl.col("writer").fill_null("?"))
    events = verdicts.select(
        "t",
        "rep",
        pl.col("verdict").cast(pl.String).replace_strict(VERDICTS, return_dtype=pl.String).alias("kind"),
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
            "notes", pl.when(pl.col("calibration") < 1.0).then(worded("calibration × {}", pl.col("calibration").round(3)))
        ).list.drop_nulls().list.join("; ").alias("detail"),
        claim.alias("cause"),
    )  # fmt: skip
    return pl.concat([events, noted]) if noted.height else events


def _replacements(rows: NDArray[np.int64], after: Memory) -> pl.DataFrame:
    """One event a cell that a batch superseded."""
    if not rows.size:
        return pl.DataFrame(schema=EVENTS)
    cells = after.cells
    gone = cells.select("rep", pl.col("handle").alias("subject"), "successor")[rows]
    heir = cells.select(
        pl.col("created").alias("t"),
        worded("by {} of {}", "handle", "writer").alias("detail"),
        pl.col("handle").alias("cause"),
    )[gone["successor"]]
    return pl.concat([gone, heir], how="horizontal").with_columns(kind=pl.lit("superseded")).select(list(EVENTS))
