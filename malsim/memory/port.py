"""The port: everything that a harness may know of a memory.

A memory under test is a plant. Settings are in the plant, its state is passed in and comes back; claims go in, verdicts
come out, and a view shows what anybody may look at. A graph of claims is a plant, and so is a law or an adapter.
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
    from malsim.memory.graph.take_back import Deed


@dataclass(frozen=True)
class Vocabulary:
    """Names behind the numbers of a run: claims refer to writers, objects and values by index.

    `values` has a row an object: a value is a place among its own object's, so equal places of one object are one value.
    `lineages` says of which model, vendor or prompt each writer is an instance, "" for one of its own; empty where nobody
    knows of any. `scopes` says whose each object is, "" for everybody's; empty where all are.
    """

    writers: Sequence[str]
    objects: Sequence[str]
    values: Sequence[Sequence[float | str]]
    lineages: Sequence[str] = ()
    scopes: Sequence[str] = ()

    @property
    def pairs(self) -> Mapping[tuple[int, float], int]:
        rows = ((index, value, word) for index, words in enumerate(self.values) for value, word in enumerate(words))
        return {(index, float(value if isinstance(word, str) else word)): value for index, value, word in rows}

    @property
    def voices(self) -> Ints:
        """Return for each writer the index of the first writer of its lineage.

        >>> Vocabulary(["u", "v", "w"], [], [], ["gpt", "", "gpt"]).voices.tolist()
        [0, 1, 0]
        """
        first: dict[str, int] = {}
        kin = self.lineages or [""] * len(self.writers)
        return np.array([first.setdefault(item, index) if item else index for index, item in enumerate(kin)], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Edges:
    """Edges of claims to items, one row each: row of the claim, index into `schema.RELATIONS`, row of the target."""

    claim: Ints
    relation: Ints
    target: Ints
    mutual: Bools


@dataclass(frozen=True, kw_only=True)
class Claims:
    """Batch of claims in the order of the gate (time, writer, sequence), one row each.

    `rep` is the place among the replications that the plant was made for; `t` is in days; `writer`, `object` and
    `value` are places in the vocabulary, NONE where a claim has none; `stated` is the confidence, NaN where there is
    none; `verified` marks claims of verification external, none if None. A claim about nothing (object NONE) judges
    another: what has no edges refuses it. `words` makes the claims in full (columns of `schema.CLAIMS`), the scripted ones:
    `scripted` is the row of each claim there, NONE for a drawn one. `checked` hands a graph what its gate has read before.
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
    """Verdicts, one per claim: index into `schema.VERDICT`, and the row of the cell, NONE if refused.

    The row of an absorbed claim is the one that took it. `dropped` counts edges that the plant has no place for; `issues`
    are reasons of refusals. `superseded` are rows that became inactive, `attenuated` marks claims that count for less than
    stated; `account` makes events (t, rep, kind, subject, detail, cause): a frame, or mappings of columns.
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
    """Visible items of a memory, one row each; rows keep their numbers, and removed items become inactive.

    `rep` is a place among the replications, `name` what items are called, `writer`, `object` and `value` places in the
    vocabulary (a value may be replaced in place), `time` the claim's in days. `belief` is in [0, 1], None where the law
    has none; `rank` orders items and has no bounds. `leads` says that of two equals the earlier leads; else a tie is a tie.
    `columns` are its own by name. What a plant does not have is None here and null in frames. A view of items with edges,
    marks or records overrides their methods.
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

    def edges(self, since: int) -> tuple[Ints, Ints, Ints] | None:  # noqa: ARG002  # items have none
        return None

    def accusations(self) -> tuple[Ints, Ints] | None:
        return None

    def order(self, rows: Ints, *, match: Array, degree: Array, reader: Ints, now: float) -> Array:  # noqa: ARG002  # a graph's
        """Return sort keys for items to show, largest first; −∞ hides an item.

        Each is a candidate of a `reader`, whose question it meets so well (`match`: 1 its topic, 2 its object); the items of
        one reader stand together. Here: by rank, of what is about the very object.
        """
        return np.where(match > 1.0, self.rank[rows], -np.inf)

    def marked(self, rows: Ints, now: float) -> Bools | None:  # noqa: ARG002  # a graph's
        return None

    def texts(self, rows: Ints) -> pl.DataFrame | None:  # noqa: ARG002  # a graph's
        return None

    def names_of(self, rows: Ints) -> Sequence[str] | NDArray[Any]:
        """Return the names of items."""
        return self.name.gather(rows).to_list()

    def recorded(self, names: Sequence[str]) -> Mapping[str, NDArray[Any]] | None:
        """Return columns of the items as arrays; None if `frame` is recorded instead."""

    def frame(self) -> pl.DataFrame:
        status = pl.Series(np.where(self.active, "active", "superseded").astype(str))
        belief = np.full(len(self), np.nan) if self.belief is None else self.belief
        columns = {"rep": self.rep, "cell": self.name, "stated": self.stated, "effective": belief, "status": status}
        own = {name: values for name, values in self.columns.items() if values.dtype.kind in "fiub"}
        return pl.DataFrame(columns | {"rank": self.rank} | own).with_columns(pl.col("stated", "effective").fill_nan(None))

    def records(self) -> pl.DataFrame | Mapping[str, NDArray[Any]] | None:
        """Return the records of writers (columns of `schema.WRITERS`) as a frame or arrays; None if there are none."""
        return None


State = TypeVar("State")


class Plant(Protocol[State]):
    """Memory under test; no method changes a state that was passed in."""

    def init(self, replications: Sequence[int], vocabulary: Vocabulary) -> State:
        """Return an empty memory for each of these replications."""

    def admit(self, state: State, claims: Claims) -> tuple[State, Verdicts]:
        """Pass a batch of claims through the gate."""

    def tick(self, state: State, now: float) -> State:
        """Recompute the memory at `now` days."""

    def read(self, state: State, rep: Ints, object_: Ints, opened: Ints, now: float) -> State:
        """Record a use: readers of these replications each asked about an object and opened these rows."""

    def view(self, state: State, now: float) -> View:
        """Return what the last tick left, as of `now` days, without changing the state."""


@runtime_checkable
class HoldsGraph(Protocol[State]):
    """Capability of a plant that is a graph of claims: it can be explained, opened, saved and wired."""

    def graph(self, state: State) -> Memory:
        """Return the graph in a state."""

    def with_graph(self, state: State, memory: Memory) -> State:
        """Return the state with another graph."""


@runtime_checkable
class ReadsPresent(Plant[State], Protocol[State]):
    """Capability of a plant whose readers see, before a tick, the effect of claims admitted since the last one."""

    def present(self, state: State, now: float) -> View:
        """Return what a reader sees at `now` days; `view` returns what the last tick left."""


def view_now(plant: Plant[State], state: State, now: float) -> View:
    """Return what a reader sees at `now` days: the present view if the plant has one, else that of the last tick."""
    return plant.present(state, now) if isinstance(plant, ReadsPresent) else plant.view(state, now)


@runtime_checkable
class Explains(Plant[State], Protocol[State]):
    """Capability of a plant that explains its own beliefs."""

    def explain(self, state: State, alive: Ints, row: int, now: float) -> LawExplanation:
        """Explain the belief in a row at a tick at `now` days that considers the rows in `alive`."""


@runtime_checkable
class ReadsDerived(Protocol[State]):
    """Capability of a graph whose law and push can read values that a netlist derives from its cells."""

    def with_derived(self, state: State, values: Mapping[str, Array]) -> State:
        """Return the state with these derived values, one per cell, by name, such as `cell-trust`."""


@runtime_checkable
class TakesBack(Protocol[State]):
    """Capability of a plant in which people reject or erase claims."""

    def take_back(self, state: State, rep: Ints, object_: Ints, value: Ints, deed: Deed) -> tuple[State, Bools]:
        """Reject or erase these distinct values; return the state and a mask of those that the person was allowed to."""


@runtime_checkable
class KeepsApart(Protocol[State]):
    """Capability of a plant with scopes: a reader sees its own scope and what is shared with it."""

    def share(self, state: State, object_: Ints, scope: str, now: float, *, shared: bool) -> tuple[State, bool]:
        """Share these objects with a scope, or stop; return the state and whether the memory supports it."""

    def shows(self, state: State, object_: Ints, scope: str, now: float) -> Bools:
        """Return a mask (objects, replications): whether a reader in this scope sees anything of each object."""


@runtime_checkable
class AnswersReads(Protocol[State]):
    """Capability of a plant that is asked by calls, can fail in a replication, and must be closed."""

    def answer(self, state: State, rep: Ints, object_: Ints, limit: int, now: float, scope: str | None = None) -> State:
        """Ask about one object per replication within a scope (None: its own); the view then shows at most `limit` items."""

    def failures(self, state: State) -> Mapping[int, Exception]:
        """Return errors by replication; failed replications are no longer asked."""

    def answers(self, state: State) -> Mapping[str, Array]:
        """Return shares of the answers by name, one value per replication."""

    def close(self, state: State) -> None:
        """Release the memories; views remain valid."""
