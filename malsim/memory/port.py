"""Interface between the simulator and the memory under test, which is a graph of claims, a law or an adapter.

The memory under test (`Plant`) holds the settings; its state is passed to each call and returned by it. Claims go in,
verdicts come out, and a view shows the items.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import polars as pl

from malsim.memory.gate.verdicts import account

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.explain import LawExplanation
    from malsim.memory.gate.verdicts import GateResult
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.graph.claim_graph import Memory
    from malsim.memory.graph.tombstones import Retraction


@dataclass(frozen=True)
class Vocabulary:
    """Names of a run's writers, objects and values. Claims refer to these names by index.

    `values` has one row per object; the index of a value is its position in that row. `lineages` names the model, vendor or
    prompt of which each writer is an instance ("" for none); empty if unknown. `scopes` names the scope of each object (""
    for all scopes); empty without scopes.
    """

    writers: Sequence[str]
    objects: Sequence[str]
    values: Sequence[Sequence[float | str]]
    lineages: Sequence[str] = ()
    scopes: Sequence[str] = ()

    @property
    def pairs(self) -> Mapping[tuple[int, float], int]:
        """Map from (object index, claimed number) to the index of the value.

        For a text value, the number is the index.
        """
        rows = ((index, value, word) for index, words in enumerate(self.values) for value, word in enumerate(words))
        return {(index, float(value if isinstance(word, str) else word)): value for index, value, word in rows}

    @property
    def voices(self) -> Ints:
        """Array that maps the index of each writer to the index of the first writer of the same lineage.

        >>> Vocabulary(["u", "v", "w"], [], [], ["gpt", "", "gpt"]).voices.tolist()
        [0, 1, 0]
        """
        first: dict[str, int] = {}
        lineages = enumerate(self.lineages or [""] * len(self.writers))
        return np.array([first.setdefault(name, index) if name else index for index, name in lineages], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Edges:
    """Edges from claims to items: the row of the claim, the index into `schema.RELATIONS`, and the row of the target."""

    claim: Ints
    relation: Ints
    target: Ints
    mutual: Bools


@dataclass(frozen=True, kw_only=True)
class Claims:
    """Batch of claims, one row each, in gate order (time, writer, sequence number).

    `rep` is the index of the replication in the memory; `t` is in days; `writer`, `object` and `value` are indices into the
    vocabulary, NONE if absent; `stated` is the confidence, NaN if absent; `verified` marks externally verified claims
    (None: no claims). A claim without an object judges another claim; a memory without edges refuses it. `words` builds the
    complete scripted claims (columns of `schema.CLAIMS`); `scripted` is each claim's row there, NONE for a drawn claim.
    `checked` returns the claims as a graph's gate has checked them before.
    """

    rep: Ints
    t: Array
    writer: Ints
    sequence: Ints
    object: Ints
    value: Ints
    stated: Array
    verified: Bools | None = None
    edges: Edges | None = None
    words: Callable[[], pl.DataFrame] | None = None
    scripted: Ints | None = None
    checked: Callable[[Memory], Any] | None = None

    def __len__(self) -> int:
        return len(self.rep)


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Verdict on each claim, as an index into `schema.VERDICT`, and the row of its item, NONE if the claim was refused.

    The row of an absorbed claim is that of the item that absorbed it. `dropped` counts edges that the memory cannot store;
    `issues` maps refused claims to reasons. `superseded` holds rows that became inactive; `attenuated` marks claims that
    count for less than stated; `account` builds events (t, rep, kind, subject, detail, cause) as a frame or as columns.
    """

    verdict: Ints
    row: Ints
    dropped: int = 0
    issues: Mapping[int, str] = field(default_factory=dict)
    superseded: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    attenuated: Bools | None = None
    account: Callable[[], pl.DataFrame | Sequence[Mapping[str, Any]]] | None = None

    @classmethod
    def of(cls, result: GateResult) -> Verdicts:
        parts = {name: getattr(result, name) for name in ("verdict", "row", "superseded", "attenuated")}
        return cls(**parts, account=lambda: account(result))


@dataclass(frozen=True, kw_only=True)
class View:
    """Visible items of a memory, one row each. An item always keeps its row number; a removed item becomes inactive.

    `rep` is the index of the replication; `writer`, `object` and `value` are indices into the vocabulary (an item's value
    may change); `time` is that of the claim in days. `belief` is in [0, 1], None if the law has none; `rank` orders items
    and is unbounded. With `leads` the earlier of two equal items leads; otherwise equal items tie. `columns` holds more
    columns. Absent parts are None here and null in frames. A view of items with edges, marks or records overrides the
    methods.
    """

    rep: Ints
    name: pl.Series
    writer: Ints
    object: Ints
    value: Ints
    stated: Array
    time: Array
    rank: Array
    active: Bools
    belief: Array | None = None
    leads: bool = False
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rep)

    @property
    def graph(self) -> Memory | None:
        return None

    def column(self, name: str, rows: Ints | None = None) -> NDArray[Any] | None:
        values = self.columns.get(name)
        return values if values is None or rows is None else values[rows]

    def edges(self, since: int) -> tuple[Ints, Ints, Ints] | None:  # noqa: ARG002  # for plants without edges
        return None

    def accusations(self) -> tuple[Ints, Ints] | None:
        return None

    def order(self, rows: Ints, *, match: Array, degree: Array, reader: Ints, now: float) -> Array:  # noqa: ARG002  # for graphs
        """Return sort keys of the candidate items, grouped by `reader`. The largest key comes first, and −∞ hides an item.

        `match` is 1 for an item about the topic of the reader's query and 2 for an item about its object. By default, only
        items with a match of 2 are shown, by rank.
        """
        return np.where(match > 1.0, self.rank[rows], -np.inf)

    def marked(self, rows: Ints, now: float) -> Bools | None:  # noqa: ARG002  # for graphs
        return None

    def texts(self, rows: Ints) -> pl.DataFrame | None:  # noqa: ARG002  # for graphs
        return None

    def names_of(self, rows: Ints) -> Sequence[str] | NDArray[Any]:
        return self.name.gather(rows).to_list()

    def recorded(self, names: Sequence[str]) -> Mapping[str, NDArray[Any]] | None:
        """Return columns of the items as arrays, or None if `frame` is to be recorded instead."""

    def frame(self) -> pl.DataFrame:
        status = pl.Series(np.where(self.active, "active", "superseded").astype(str))
        belief = np.full(len(self), np.nan) if self.belief is None else self.belief
        columns = {"rep": self.rep, "cell": self.name, "stated": self.stated, "effective": belief, "status": status}
        numbers = {name: values for name, values in self.columns.items() if values.dtype.kind in "fiub"}
        return pl.DataFrame(columns | {"rank": self.rank} | numbers).with_columns(
            pl.col("stated", "effective").fill_nan(None)
        )

    def records(self) -> pl.DataFrame | Mapping[str, NDArray[Any]] | None:
        """Return the writers' records (columns of `schema.WRITERS`) as a frame or as arrays, or None if there are none."""
        return None


State = TypeVar("State")


class Plant(Protocol[State]):
    """Memory under test. Its methods return a new state and never change the state that was passed in."""

    def init(self, replications: Sequence[int], vocabulary: Vocabulary) -> State:
        """Return an empty memory for each of these replications."""

    def admit(self, state: State, claims: Claims) -> tuple[State, Verdicts]:
        """Pass a batch of claims through the gate, and return the new state and the verdicts."""

    def tick(self, state: State, now: float) -> State:
        """Recompute the scores of the memory on day `now`."""

    def read(self, state: State, rep: Ints, object_: Ints, opened: Ints, now: float) -> State:
        """Record reads: in replication `rep[i]`, a reader queried `object_[i]` and opened the item in row `opened[i]`."""

    def view(self, state: State, now: float) -> View:
        """Return the items on day `now` with their scores from the last tick. The state does not change."""


@runtime_checkable
class HoldsGraph(Protocol[State]):
    """Capability of a memory under test that holds a claim graph, which can be explained, opened, saved and wired."""

    def graph(self, state: State) -> Memory:
        """Return the claim graph in this state."""

    def with_graph(self, state: State, memory: Memory) -> State:
        """Return the state with its claim graph replaced."""


@runtime_checkable
class ReadsPresent(Plant[State], Protocol[State]):
    """Capability of a memory under test whose readers see the effect of new claims before the next tick."""

    def present(self, state: State, now: float) -> View:
        """Return the items as a reader sees them on day `now`, whereas `view` returns the items of the last tick."""


def view_now(plant: Plant[State], state: State, now: float) -> View:
    """Return what a reader sees on day `now`: `present` if the memory under test has this method, otherwise `view`."""
    return plant.present(state, now) if isinstance(plant, ReadsPresent) else plant.view(state, now)


@runtime_checkable
class Explains(Plant[State], Protocol[State]):
    """Capability of a memory under test that can explain its own beliefs."""

    def explain(self, state: State, alive: Ints, row: int, now: float) -> LawExplanation:
        """Explain the belief in row `row` as a tick on day `now` would compute it from the rows in `alive`."""


@runtime_checkable
class ReadsDerived(Protocol[State]):
    """Capability of a graph whose law and pushes can read values that a netlist derives from the cells."""

    def with_derived(self, state: State, values: Mapping[str, Array]) -> State:
        """Return the state with these derived values: arrays over the cells, keyed by a name such as `cell-trust`."""


@runtime_checkable
class Retracts(Protocol[State]):
    """Capability of a memory under test from which people can reject or erase claims."""

    def retract(self, state: State, rep: Ints, object_: Ints, value: Ints, deed: Retraction) -> tuple[State, Bools]:
        """Reject or erase distinct values. Return the state and a mask of the values for which this was allowed."""


@runtime_checkable
class KeepsApart(Protocol[State]):
    """Capability of a memory under test with scopes: readers see their own scope and the objects shared with it."""

    def share(self, state: State, object_: Ints, scope: str, now: float, *, shared: bool) -> tuple[State, bool]:
        """Share objects with a scope, or stop sharing them. Return the state and whether the memory supports sharing."""

    def shows(self, state: State, object_: Ints, scope: str, now: float) -> Bools:
        """Return a mask (objects, replications) of the objects about which a reader in this scope sees any item."""


@runtime_checkable
class AnswersReads(Protocol[State]):
    """Capability of a memory under test that answers each query itself, may fail in one replication, and must be closed."""

    def answer(self, state: State, rep: Ints, object_: Ints, limit: int, now: float, scope: str | None = None) -> State:
        """Query one object per replication within a scope. None means the scope of the object.

        Later views then show at most `limit` items.
        """

    def failures(self, state: State) -> Mapping[int, Exception]:
        """Return the errors of the failed replications, which are not called again."""

    def answers(self, state: State) -> Mapping[str, Array]:
        """Return statistics of the answers, keyed by name, with one value per replication."""

    def close(self, state: State) -> None:
        """Release the memories. Views that were returned before remain valid."""
