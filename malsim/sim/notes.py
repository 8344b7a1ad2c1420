"""Events as they happen: each with its kind, what it is about, what there is to say, and its cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.memory.index import NONE
from malsim.memory.wording import worded
from malsim.sim.clock import days

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory import Memory
    from malsim.sim.drafts import Drafts
    from malsim.sim.hooks import Turn
    from malsim.sim.occasion import Bools, Ints
    from malsim.sim.world import Change, Fact

__all__ = ["EVENTS", "Notes"]

EVENTS = {
    "t": pl.Float64, "rep": pl.Int32, "kind": pl.String, "subject": pl.String, "detail": pl.String, "cause": pl.String,
}  # fmt: skip
NOISE_KINDS = {
    "flip": "flipped", "perturb": "perturbed", "drop": "lost", "double": "doubled", "delay": "delayed",
    "reorder": "reordered",
}  # fmt: skip


class Notes:
    """The events of a run, in the order they were noted; with `keeps` off, nothing is kept."""

    def __init__(self, reps: Ints, facts: Sequence[Fact], *, keeps: bool = True) -> None:
        self._reps = pl.Series("rep", reps, dtype=pl.Int32)
        self._facts = facts
        self._names = pl.Series([fact.name for fact in facts], dtype=pl.String)
        self.keeps = keeps
        self.writers = pl.Series("writer", [], dtype=pl.String)
        self.handles = pl.Series("handle", [], dtype=pl.String)  # of the memory as the reader sees it
        self._frames: list[pl.DataFrame] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Keep a frame of events (columns of EVENTS)."""
        if self.keeps and frame.height:
            self._frames.append(frame)

    def note(
        self,
        kind: str,
        t: float | pl.Series,
        rep: Ints,
        *,
        subject: str | pl.Series,
        detail: str | pl.Series,
        cause: str | pl.Series,
    ) -> None:
        """Note one event for each of the replications at places `rep`."""
        if self.keeps and len(rep):
            given = {
                "t": t,
                "rep": self._reps.gather(rep),
                "kind": kind,
                "subject": subject,
                "detail": detail,
                "cause": cause,
            }
            columns = [
                (
                    value.cast(EVENTS[name])
                    if isinstance(value, pl.Series)
                    else pl.Series([value], dtype=EVENTS[name]).new_from_index(0, len(rep))
                ).alias(name)
                for name, value in given.items()
            ]
            self._frames.append(pl.DataFrame(columns))

    def every(self, kind: str, t: float, subject: str, detail: str, cause: str) -> None:
        """Note one event in every replication."""
        self.note(kind, t, np.arange(len(self._reps)), subject=subject, detail=detail, cause=cause)

    def frame(self) -> pl.DataFrame:
        """All events in time order."""
        return pl.concat([pl.DataFrame(schema=EVENTS), *self._frames]).sort("t", "rep", maintain_order=True)

    def pushed(self, turn: Turn) -> None:
        """A mini-index was pushed."""
        if not self.keeps:
            return
        lines, marks = (turn.pushed.row != NONE).sum(axis=1), turn.pushed.marked.sum(axis=1)
        said = (
            pl.DataFrame({"lines": lines, "words": turn.pushed.words, "marks": marks})
            .select(
                worded(
                    "{} lines, {} words, {} marked ^",
                    *(pl.col(name).cast(pl.String) for name in ("lines", "words", "marks")),
                )
            )
            .to_series()
        )
        task = "task: " + self._names.gather(turn.fact)
        self.note("pushed", turn.now, np.arange(len(lines)), subject=turn.name, detail=said, cause=task)
        self._opened, self._turn = np.zeros_like(turn.opened), turn

    def blocked(self, turn: Turn, blocked: Bools) -> None:
        """The stop hook refused turns: one event for each reason."""
        self._expanded(turn, turn.name)
        unopened = np.flatnonzero(blocked & turn.unopened.any(axis=1))
        row = turn.pushed.row[unopened, turn.unopened[unopened].argmax(axis=1)]
        handle = self.handles.gather(row) if self.keeps else ""
        self.note("blocked", turn.now, unopened, subject=turn.name, detail="a row marked ^ was never opened", cause=handle)
        unwritten = np.flatnonzero(blocked & turn.unwritten)
        fact = self._names.gather(turn.fact[unwritten]) if self.keeps else ""
        self.note("blocked", turn.now, unwritten, subject=turn.name, detail="something was learned and nothing written back",
                  cause=fact)  # fmt: skip

    def withheld(self, turn: Turn) -> None:
        """Turns given up; and what was opened since it was last noted."""
        self._expanded(turn, "blocked")
        self.note("withheld", turn.now, np.flatnonzero(~turn.released), subject=turn.name,
                  detail="never released: it stayed blocked", cause="blocked")  # fmt: skip

    def acted(self, turn: Turn, counts: Mapping[str, Bools]) -> None:
        """What came of released turns: an action on a true, false or stale claim, or none."""
        if not self.keeps:
            return
        acts = np.flatnonzero(counts["acted"])
        harm = np.where(counts["acted_false"], "false", np.where(counts["acted_stale"], "stale", "true"))[acts]
        on = turn.acted[acts]
        subject = self.handles.gather(pl.Series(np.where(on == NONE, 0, on)))
        subject = subject.zip_with(pl.Series(on != NONE), pl.Series(["its own context"] * len(acts), dtype=pl.String))
        self.note("acted", turn.now, acts, subject=subject, detail=pl.Series(harm.astype(str)), cause=turn.name)
        self.note("declined", turn.now, np.flatnonzero(counts["declined"]), subject=turn.name,
                  detail="nothing that it trusts enough", cause="act_above")  # fmt: skip

    def written(self, drafts: Drafts, handles: pl.Series, row: Ints) -> None:
        """The reader's lessons became cells."""
        if self.keeps and len(drafts):
            said = [
                f"{self._facts[f].name} is {self._facts[f].label(int(v))}"
                for f, v in zip(drafts.fact, drafts.value, strict=True)
            ]
            cause = "turn " + pl.Series(drafts.turn).cast(pl.String)
            self.note("written_back", days(int(drafts.t[0])), drafts.rep, subject=handles.gather(row),
                      detail=pl.Series(said, dtype=pl.String), cause=cause)  # fmt: skip

    def noise(self, name: str, drafts: Drafts, hit: Bools, population: str) -> None:
        """Noise hit claims on their way."""
        rows = np.flatnonzero(hit)
        if self.keeps and rows.size:
            claim = self.writers.gather(drafts.who[rows]) + " #" + pl.Series(drafts.turn[rows]).cast(pl.String)
            t = pl.Series([days(int(at)) for at in drafts.t[rows]])
            self.note(
                NOISE_KINDS[name],
                t,
                drafts.rep[rows],
                subject=claim,
                detail="on its way to the gate",
                cause=f"noise on {population}",
            )

    def changed(self, changes: Change) -> None:
        """The truth of facts changed."""
        if self.keeps and len(changes.rep):
            said = pl.Series(
                [self._facts[f].label(int(v)) for f, v in zip(changes.fact, changes.value, strict=True)], dtype=pl.String
            )
            t = pl.Series([days(int(at)) for at in changes.t])
            self.note(
                "changed",
                t,
                changes.rep,
                subject=self._names.gather(changes.fact),
                detail="it is now " + said,
                cause="the world",
            )

    def seen(self, memory: Memory) -> None:
        """Take note of how the memory's cells are called."""
        self.handles = memory.cells["handle"]

    def _expanded(self, turn: Turn, cause: str) -> None:
        """Note the rows opened since this was last asked."""
        if not self.keeps:
            return
        rep, line = np.nonzero(turn.opened & ~self._opened)
        self._opened = turn.opened.copy()
        detail = pl.Series(np.where(turn.pushed.marked[rep, line], "marked ^", "wanted").astype(str))
        self.note(
            "expanded", turn.now, rep, subject=self.handles.gather(turn.pushed.row[rep, line]), detail=detail, cause=cause
        )
