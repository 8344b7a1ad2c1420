"""Events as they happen: each with its kind, what it is about, what there is to say, and its cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from malsim.base.screen.frames import without_credentials
from malsim.memory.schema import NONE
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory.graph.arrays import Bools, Ints
    from malsim.memory.port import View
    from malsim.sim.context.turn import Turn
    from malsim.sim.world import Fact, TruthChanges
    from malsim.sim.writers.engine.claim_batch import ClaimBatch

EVENTS = {
    "t": pl.Float64, "rep": pl.Int32, "kind": pl.String, "subject": pl.String, "detail": pl.String, "cause": pl.String,
}  # fmt: skip
TEXTS = ("subject", "detail", "cause")
WAITING = 100  # times that something was counted, before it is added up

Text: TypeAlias = str | pl.Series | Callable[[], pl.Series]


class EventLog:
    """The events of a run, in the order they were noted; with `keeps` off they are counted by kind and replication."""

    def __init__(self, reps: Ints, facts: Sequence[Fact], *, keeps: bool = True) -> None:
        self._reps = pl.Series("rep", reps, dtype=pl.Int32)
        self._everyone = np.arange(len(reps))
        titles = [f"{fact.name} is {fact.label(v)}" for fact in facts for v in range(len(fact.values))]
        self._statements = pl.Series(titles, dtype=pl.String)
        self._starts = np.cumsum([0, *(len(fact.values) for fact in facts)])
        self._names = pl.Series([fact.name for fact in facts], dtype=pl.String)
        self.keeps = keeps
        self.writers = pl.Series("writer", [], dtype=pl.String)
        self.handles = pl.Series("handle", [], dtype=pl.String)  # of the memory as the reader sees it
        self._frames: list[pl.DataFrame] = []
        self._kinds: dict[str, int] = {}  # that were counted so far, each with its row in a table of kinds and replications
        self._counts = np.zeros((0, len(reps)), dtype=np.int64)  # that table
        self._cells: list[Ints] = []  # of the table: one an event that waits to be counted

    def take_counts(self) -> tuple[tuple[str, ...], Ints]:
        """The kinds that ever came, and how many events of each came since this was last asked, in each replication."""
        self._add_up()
        counts, self._counts = self._counts, self._counts[:0]
        return tuple(self._kinds), counts

    def _add_up(self) -> None:
        cells, self._cells, shape = self._cells, [], (len(self._kinds), len(self._everyone))
        counts = np.bincount(np.concatenate([np.zeros(0, dtype=np.int64), *cells]), minlength=shape[0] * shape[1])
        before, self._counts = self._counts, counts.reshape(shape)
        self._counts[: len(before)] += before

    def count(self, kind: str, rep: Ints) -> None:
        """Count an event for each of the replications at places `rep`."""
        if len(rep):
            self._cells.append(rep + self._kinds.setdefault(kind, len(self._kinds)) * len(self._everyone))
            if len(self._cells) > WAITING:
                self._add_up()

    def add(self, frame: pl.DataFrame) -> None:
        """Keep a frame of events (columns of EVENTS)."""
        if self.keeps and frame.height:
            self._frames.append(frame)

    def record(self, kind: str, t: float | Text, rep: Ints, *, subject: Text, detail: Text, cause: Text) -> None:
        """Note one event for each of the replications at places `rep`; a function makes a column where one is kept."""
        if not self.keeps:
            self.count(kind, rep)
        elif len(rep):
            values = (t, self._reps.gather(rep), kind, subject, detail, cause)
            columns = [_column(name, value, len(rep)) for name, value in zip(EVENTS, values, strict=True)]
            self._frames.append(pl.DataFrame(columns))

    def every(self, kind: str, t: float, subject: str, detail: str, cause: str) -> None:
        """Note one event in every replication."""
        self.record(kind, t, self._everyone, subject=subject, detail=detail, cause=cause)

    def frame(self) -> pl.DataFrame:
        """All events in time order; a credential in one, whatever path it came by, is withheld."""
        events = pl.concat([pl.DataFrame(schema=EVENTS), *self._frames]).sort("t", "rep", maintain_order=True)
        return without_credentials(events, TEXTS)

    def pushed(self, turn: Turn) -> None:
        """A mini-index was pushed."""
        if self.keeps:
            self._opened = np.zeros_like(turn.opened)
        self.record("pushed", turn.now, self._everyone, subject=turn.name, detail=lambda: _lines(turn),
                  cause=lambda: "task: " + self._names.gather(turn.fact))  # fmt: skip
        if lines := turn.surfaced:
            self.record("surfaced", turn.now, lines.rep, subject=lambda: lines.subject, detail=lambda: lines.text,
                        cause=lambda: lines.cause)  # fmt: skip

    def opened(self, turn: Turn, cause: str) -> None:
        """The rows opened since this was last asked."""
        if not self.keeps:
            return
        rep, line = np.nonzero(turn.opened & ~self._opened)
        self._opened = turn.opened.copy()
        detail = pl.Series(np.where(turn.pushed.marked[rep, line], "marked ^", "wanted").astype(str))
        subject = self.handles.gather(turn.pushed.row[rep, line])
        self.record("expanded", turn.now, rep, subject=subject, detail=detail, cause=cause)

    def blocked(self, turn: Turn, closed: Bools, unwritten: Bools) -> None:
        """The stop hook refused turns: one event for each reason."""
        self.opened(turn, f"{turn.name} was blocked")
        row, unopened, missing = turn.pushed.row, np.flatnonzero(closed), np.flatnonzero(unwritten)
        self._refused(turn, unopened, "a row marked ^ was never opened",
                      lambda: self.handles.gather(row[unopened, turn.unopened[unopened].argmax(axis=1)]))  # fmt: skip
        self._refused(turn, missing, "something was learned and nothing written back",
                      lambda: self._names.gather(turn.fact[missing]))  # fmt: skip
        for reason, where in (turn.check.reasons(turn) if turn.check else {}).items():
            refused = np.flatnonzero(where)
            self._refused(turn, refused, reason, self._names.gather(turn.fact[refused]))

    def broken(self, turn: Turn) -> None:
        """The reader's work broke off, in whichever replication: none is released."""
        self._refused(turn, self._everyone, "its work broke off", turn.name)

    def unheard(self, turn: Turn, refused: Bools) -> None:
        """The gate refused lessons."""
        cause = f"claim {turn.number} of {self.writers[0]}"
        self._refused(turn, np.flatnonzero(refused), "the gate refused what was to be written back", cause)

    def withheld(self, turn: Turn, withheld: Bools) -> None:
        """Turns given up."""
        self.record("withheld", turn.now, np.flatnonzero(withheld), subject=turn.name,
                  detail="never released: it stayed blocked", cause=f"{turn.name} was blocked")  # fmt: skip

    def _refused(self, turn: Turn, rep: Ints, reason: str, cause: Text) -> None:
        self.record("blocked", turn.now, rep, subject=turn.name, detail=reason, cause=cause)

    def acted(self, turn: Turn, counts: Mapping[str, Bools]) -> None:
        """What came of released turns: an action on a true, false or stale claim, or none."""
        acts = np.flatnonzero(counts["acted"])
        self.record("acted", turn.now, acts, subject=lambda: self._trusted(turn.acted[acts]),
                  detail=lambda: _harm(counts).gather(acts), cause=turn.name)  # fmt: skip
        self.record("declined", turn.now, np.flatnonzero(counts["declined"]), subject=turn.name,
                  detail="nothing that it trusts enough", cause=turn.name)  # fmt: skip

    def nudged(self, turn: Turn, rep: Ints, rows: Ints, reads: int) -> None:
        """Cells that the reader has opened often enough for an op to be worth its while."""
        detail = f"opened {reads} times: a recurring read is worth an op of its own"
        self.record("nudged", turn.now, rep, subject=lambda: self.handles.gather(rows), detail=detail, cause=turn.name)

    def wired(self, turn: Turn, rep: Ints, rows: Ints, op: pl.Series) -> None:
        """The reader wired an op to cells."""
        self.record("wired", turn.now, rep, subject=lambda: self.handles.gather(rows), detail=op, cause=turn.name)

    def unwired(self, turn: Turn, rep: Ints, rows: Ints, reason: str) -> None:
        """The reader might not wire an op to cells."""
        detail = f"no op: {reason}"
        self.record("refused", turn.now, rep, subject=lambda: self.handles.gather(rows), detail=detail, cause=turn.name)

    def written_back(self, drafts: ClaimBatch, own: Ints, name: Callable[[], pl.Series], row: Ints) -> None:
        """Some drafts, the reader's lessons, became cells of a memory; `name` gives what its cells are called."""
        self.record("written_back", lambda: _in_days(drafts.t[own]), drafts.rep[own],
                  subject=lambda: name().gather(row),
                  detail=lambda: self._titles(drafts.fact[own], drafts.value[own]),
                  cause=lambda: "turn " + pl.Series(drafts.turn[own]).cast(pl.String))  # fmt: skip

    def updated(self, turn: Turn, rep: Ints, row: Ints) -> None:
        """The reader found cells right that it had acted on, and wrote that into them."""
        self.record("updated", turn.now, rep, subject=lambda: self.handles.gather(row), detail="verification: tested",
                  cause=turn.name)  # fmt: skip

    def faulty(self, kind: str, drafts: ClaimBatch, hit: Bools, *, detail: str, cause: str) -> None:
        """A fault befell claims."""
        rows = np.flatnonzero(hit)
        self.record(
            kind, lambda: _in_days(drafts.t[rows]), drafts.rep[rows], detail=detail, cause=cause,
            subject=lambda: self.writers.gather(drafts.who[rows]) + " #" + pl.Series(drafts.turn[rows]).cast(pl.String),
        )  # fmt: skip

    def changed(self, changes: TruthChanges) -> None:
        """The truth of facts changed."""
        self.record("changed", lambda: _in_days(changes.t), changes.rep, subject=lambda: self._names.gather(changes.fact),
                  detail=lambda: self._titles(changes.fact, changes.value), cause="the world")  # fmt: skip

    def take_names(self, view: View) -> None:
        """Take note of how the memory's cells are called."""
        if self.keeps:
            self.handles = view.name

    def _titles(self, fact: Ints, value: Ints) -> pl.Series:
        return self._statements.gather(self._starts[fact] + value)

    def _trusted(self, cell: Ints) -> pl.Series:
        return self.handles.gather(np.maximum(cell, 0)).set(pl.Series(cell == NONE), "its own context")


def _column(name: str, value: float | Text, length: int) -> pl.Series:
    content = value() if callable(value) else value
    if isinstance(content, pl.Series):
        return content.cast(EVENTS[name]).alias(name)
    return pl.Series(name, [content], dtype=EVENTS[name]).new_from_index(0, length)


def _lines(turn: Turn) -> pl.Series:
    counts = ((turn.pushed.row != NONE).sum(axis=1), turn.pushed.words, turn.pushed.marked.sum(axis=1))
    lines, words, marks = (pl.Series(count).cast(pl.String) for count in counts)
    return lines + " lines, " + words + " words, " + marks + " marked ^"


def _harm(counts: Mapping[str, Bools]) -> pl.Series:
    harm = np.where(counts["acted_false"], "false", np.where(counts["acted_stale"], "stale", "true"))
    return pl.Series(harm.astype(str))


def _in_days(t: Ints) -> pl.Series:
    return pl.Series(t / DAY)
