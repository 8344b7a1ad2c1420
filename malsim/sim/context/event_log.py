"""Event log of a run. Each event has a kind, a subject, a detail and a cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from malsim.base.screen.credentials import without_credentials
from malsim.memory.schema import NONE
from malsim.sim.context.recorded_rows import TextCodes
from malsim.sim.world.clock import DAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.port import View
    from malsim.sim.context.recorded_rows import Texts
    from malsim.sim.context.turn import Turn
    from malsim.sim.world import Fact, TruthChanges, World
    from malsim.sim.writers.engine.claim_batch import ClaimBatch

EVENTS = {
    "t": pl.Float64, "rep": pl.Int32, "kind": pl.String, "subject": pl.String, "detail": pl.String, "cause": pl.String,
}  # fmt: skip
TEXTS = ("subject", "detail", "cause")
CODED = ("kind", *TEXTS)
WAITING = 100  # number of buffered counts after which they are summed

Text: TypeAlias = "Texts | Callable[[], Texts]"


class EventLog:
    """Event log of a run, in recording order. With `keeps=False`, events are only counted, per kind and replication.

    Each distinct text is stored once. An event consists of its time, its replication and the codes of its four texts.
    """

    def __init__(self, reps: NDArray[Any], facts: Sequence[Fact], *, keeps: bool = True) -> None:
        self._reps = np.asarray(reps, dtype=np.int32)
        self._all = np.arange(len(reps))
        self._titles = [[f"{fact.name} is {fact.label(v)}" for v in range(len(fact.values))] for fact in facts]
        self._names = [fact.name for fact in facts]
        self.keeps = keeps
        self.writers: Sequence[str] = ()
        self._view: View | None = None  # view from which events take the names of cells
        self._codes = TextCodes()
        self._parts: list[tuple[NDArray[Any], ...]] = []  # (times, replications, text codes), one tuple per call
        self._kinds: dict[str, int] = {}  # row of each event kind in `_counts`
        self._counts = np.zeros((0, len(reps)), dtype=np.int64)  # number of events per kind and replication
        self._cells: list[Ints] = []  # flat index into `_counts` for each buffered event

    def take_counts(self) -> tuple[tuple[str, ...], Ints]:
        self._add_up()
        counts, self._counts = self._counts, self._counts[:0]
        return tuple(self._kinds), counts

    def _add_up(self) -> None:
        cells, self._cells, shape = self._cells, [], (len(self._kinds), len(self._all))
        counts = np.bincount(np.concatenate([np.zeros(0, dtype=np.int64), *cells]), minlength=shape[0] * shape[1])
        before, self._counts = self._counts, counts.reshape(shape)
        self._counts[: len(before)] += before

    def count(self, kind: str, rep: Ints) -> None:
        if len(rep):
            self._cells.append(rep + self._kinds.setdefault(kind, len(self._kinds)) * len(self._all))
            if len(self._cells) > WAITING:
                self._add_up()

    def add(self, events: pl.DataFrame | Mapping[str, Any]) -> None:
        if self.keeps and (events.height if isinstance(events, pl.DataFrame) else len(events["t"])):
            self._keep(np.asarray(events["t"]), np.asarray(events["rep"]), [events[name] for name in CODED])

    def record(
        self, kind: str, t: float | Callable[[], Array], rep: Ints, *, subject: Text, detail: Text, cause: Text
    ) -> None:
        """Record one event per replication index in `rep`. Texts given as functions are computed only if events are kept."""
        if not self.keeps:
            self.count(kind, rep)
        elif len(rep):
            texts = [text() if callable(text) else text for text in (kind, subject, detail, cause)]
            self._keep(np.full(len(rep), t() if callable(t) else t), self._reps[rep], texts)

    def _keep(self, t: NDArray[Any], rep: NDArray[Any], texts: Sequence[Texts]) -> None:
        self._parts.append((t, rep, np.stack([self._codes.of(text, len(rep)) for text in texts])))

    def every(self, kind: str, t: float, subject: str, detail: str, cause: str) -> None:
        self.record(kind, t, self._all, subject=subject, detail=detail, cause=cause)

    def frame(self) -> pl.DataFrame:
        if not self._parts:
            return pl.DataFrame(schema=EVENTS)
        t, rep, codes = (np.concatenate(column, axis=-1) for column in zip(*self._parts, strict=True))
        order = np.lexsort((rep, t))
        texts = self._codes.texts
        safe = without_credentials(texts.to_frame(), ["text"])["text"]
        kind, *others = (pl.Series(row[order].astype(np.uint32)) for row in codes)
        columns = [texts[kind], *(safe[other] for other in others)]
        frame = pl.DataFrame([column.alias(name) for name, column in zip(CODED, columns, strict=True)])
        return frame.select(pl.Series("t", t[order], dtype=pl.Float64), pl.Series("rep", rep[order], dtype=pl.Int32), *CODED)

    def pushed(self, turn: Turn) -> None:
        if self.keeps:
            self._opened = np.zeros_like(turn.opened)
        self.record("pushed", turn.now, self._all, subject=turn.name, detail=lambda: _push_sizes(turn),
                  cause=lambda: [f"task: {name}" for name in self._facts(turn.fact)])  # fmt: skip
        if lines := turn.surfaced:
            self.record("surfaced", turn.now, lines.rep, subject=lambda: lines.subject, detail=lambda: lines.text,
                        cause=lambda: lines.cause)  # fmt: skip

    def opened(self, turn: Turn, cause: str) -> None:
        if not self.keeps:
            return
        rep, line = np.nonzero(turn.opened & ~self._opened)
        self._opened = turn.opened.copy()
        self.record("expanded", turn.now, rep, subject=lambda: self.names(turn.pushed.row[rep, line]),
                    detail=lambda: np.where(turn.pushed.marked[rep, line], "marked ^", "wanted"), cause=cause)  # fmt: skip

    def blocked(self, turn: Turn, closed: Bools, unwritten: Bools) -> None:
        self.opened(turn, f"{turn.name} was blocked")
        row, unopened, missing = turn.pushed.row, np.flatnonzero(closed), np.flatnonzero(unwritten)
        self.refused(turn, unopened, "a row marked ^ was never opened",
                      lambda: self.names(row[unopened, turn.unopened[unopened].argmax(axis=1)]))  # fmt: skip
        self.refused(turn, missing, "something was learned and nothing written back",
                      lambda: self._facts(turn.fact[missing]))  # fmt: skip
        for reason, where in (turn.check.reasons(turn) if turn.check else {}).items():
            refused = np.flatnonzero(where)
            self.refused(turn, refused, reason, self._facts(turn.fact[refused]))

    def withheld(self, turn: Turn, withheld: Bools) -> None:
        self.record("withheld", turn.now, np.flatnonzero(withheld), subject=turn.name,
                  detail="never released: it stayed blocked", cause=f"{turn.name} was blocked")  # fmt: skip

    def refused(self, turn: Turn, rep: Ints, reason: str, cause: Text) -> None:
        self.record("blocked", turn.now, rep, subject=turn.name, detail=reason, cause=cause)

    def acted(self, turn: Turn, counts: Mapping[str, Bools]) -> None:
        acts = np.flatnonzero(counts["acted"])
        outcome = np.where(counts["acted_false"], "false", np.where(counts["acted_stale"], "stale", "true"))
        self.record("acted", turn.now, acts, subject=lambda: self._acted_on(turn.acted[acts]),
                  detail=lambda: outcome[acts], cause=turn.name)  # fmt: skip
        self.record("declined", turn.now, np.flatnonzero(counts["declined"]), subject=turn.name,
                  detail="nothing that it trusts enough", cause=turn.name)  # fmt: skip

    def of_cells(self, kind: str, turn: Turn, rep: Ints, rows: Ints, detail: Texts) -> None:
        self.record(kind, turn.now, rep, subject=lambda: self.names(rows), detail=detail, cause=turn.name)

    def written_back(self, drafts: ClaimBatch, lessons: Ints, view: View, row: Ints) -> None:
        self.record("written_back", lambda: drafts.t[lessons] / DAY, drafts.rep[lessons],
                  subject=lambda: view.names_of(row),
                  detail=lambda: self._statements(drafts.fact[lessons], drafts.value[lessons]),
                  cause=lambda: [f"turn {turn}" for turn in drafts.turn[lessons].tolist()])  # fmt: skip

    def faulty(self, kind: str, drafts: ClaimBatch, hit: Bools, *, detail: str, cause: str) -> None:
        rows = np.flatnonzero(hit)
        claims = zip(drafts.who[rows].tolist(), drafts.turn[rows].tolist(), strict=True)
        self.record(kind, lambda: drafts.t[rows] / DAY, drafts.rep[rows], detail=detail, cause=cause,
                    subject=lambda: [f"{self.writers[who]} #{turn}" for who, turn in claims])  # fmt: skip

    def changed(self, changes: TruthChanges) -> None:
        self.record("changed", lambda: changes.t / DAY, changes.rep, subject=lambda: self._facts(changes.fact),
                  detail=lambda: self._statements(changes.fact, changes.value), cause="the world")  # fmt: skip

    def take_names(self, view: View) -> None:
        if self.keeps:
            self._view = view

    def names(self, rows: Ints) -> Texts:
        return self._view.names_of(rows) if self._view else ()

    def _facts(self, fact: Ints) -> list[str]:
        return [self._names[index] for index in fact.tolist()]

    def _statements(self, fact: Ints, value: Ints) -> list[str]:
        return [self._titles[index][number] for index, number in zip(fact.tolist(), value.tolist(), strict=True)]

    def _acted_on(self, cell: Ints) -> Texts:
        names = np.asarray(self.names(np.maximum(cell, 0)), dtype=object)
        return np.where(cell == NONE, "its own context", names)


def _push_sizes(turn: Turn) -> list[str]:
    counts = ((turn.pushed.row != NONE).sum(axis=1), turn.pushed.words, turn.pushed.marked.sum(axis=1))
    rows = zip(*(count.tolist() for count in counts), strict=True)
    return [f"{lines} lines, {words} words, {marks} marked ^" for lines, words, marks in rows]


CLAIM = "claim N of WRITER, where N is the writer's own count"
TURN = "turn N"
PROGRAM = "handle of the prg cell that caused it"
SIGNAL = "signal that caused it, with its row if it has rows: low(dec_a3ee)"
LATCH = f"pin of the latch, with its row if it has rows; operation of a standing program; or {PROGRAM}"

# kinds of events that a signal causes
_WIRED = "webhook annexed reinstated locked unlocked pinned unpinned flagged unflagged conflict"
KINDS = {
    **dict.fromkeys(("admitted", "rejected", "deduplicated", "attenuated"), CLAIM),
    "superseded": "handle of the cell that replaced it",
    "bootstrapped": "the graph was empty",
    "oriented": "a session begins",
    "caught_up": "a gap of N turns",
    "pushed": "task: FACT",
    "surfaced": SIGNAL,
    "expanded": "turn N, or turn N was blocked",
    "nudged": TURN,
    "wired": TURN,
    "blocked": "handle of a row never opened; FACT of a lesson never written; turn N, if the work failed; claim N of"
    " reader, if the gate refused the lesson",
    "withheld": "turn N was blocked",
    **dict.fromkeys(("acted", "declined", "written_back"), TURN),
    "updated": f"{TURN}; in a store, who rewrote it",
    "compacted": "compact_every N",
    "reanchored": "reanchor_every N",
    "changed": "the world",
    **dict.fromkeys(("flipped", "perturbed", "lost", "doubled", "delayed", "reordered"), "noise on POPULATION"),
    "misled": "bad on POPULATION",
    "escalated": "handle of the cell that disputes it, or the signal that rose",
    "tripped": LATCH,
    "cleared": LATCH,
    **dict.fromkeys(_WIRED.split(), SIGNAL),
    "refused": f"{SIGNAL}; {PROGRAM}; turn N, if a reader may not write the op; or who asked for a refused correction",
    "scheduled": PROGRAM,
    "corrected": "who corrected it",
    "forgotten": "who erased it",
    "shared": "who shared it",
    "unshared": "who ended the sharing",
}


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """State shared by all parts of a run. `reps` lists replication numbers; all other code uses indexes into `reps`."""

    world: World
    reps: Ints
    seed: int
    log: EventLog
