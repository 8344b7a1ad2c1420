"""Types that item-based laws use: items, claims, queries, and the changes that a claim makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from malsim.laws.engine.buffers import Buffer
    from malsim.memory.graph.arrays import Array, Bools, Ints
    from malsim.memory.port import Vocabulary

Columns: TypeAlias = "dict[str, NDArray[Any]]"
REVIEWERS = ("reviewers", "reviewer")
UNSTATED = 0.7  # confidence assumed for a claim that states none
COMMON = ("rep", "object", "value", "writer", "time", "stated", "verified")


@dataclass(frozen=True, slots=True)
class ItemField:
    """State column of items: its initial value, its unit ("1" for a pure number, "d" for days) and its meaning.

    The initial value is a number or a column of the claim that makes the item (`time` or `stated`). If `many` is true,
    an item holds any number of values, padded with NaN along an additional last axis.
    """

    start: float | str
    unit: str
    meaning: str
    many: bool = False


class Items:
    """Items in order of creation: all live items (1-D), or the items that each claim reads (2-D, one row per claim).

    `rep`, `object`, `value` and `writer` are indexes, `time` is the stated time in days, `stated` the stated
    confidence. A law reads its own state columns by name, as in `items["p"]`; `vocabulary` has the names of indexes.
    `alive` is False for padding. All arrays are read-only.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]], rows: Ints, alive: Bools, *, vocabulary: Vocabulary) -> None:
        self._columns, self._rows, self.vocabulary = columns, rows, vocabulary
        self._cache: dict[str, NDArray[Any]] = {"alive": _read_only(alive)}

    def __getitem__(self, name: str) -> Array:
        return self._column(name)

    def _column(self, name: str) -> NDArray[Any]:
        if name not in self._cache:
            self._cache[name] = _read_only(self._columns[name][self._rows])
        return self._cache[name]

    @property
    def rep(self) -> Ints:
        return self._column("rep")

    @property
    def object(self) -> Ints:
        return self._column("object")

    @property
    def value(self) -> Ints:
        return self._column("value")

    @property
    def writer(self) -> Ints:
        return self._column("writer")

    @property
    def time(self) -> Array:
        return self["time"]

    @property
    def stated(self) -> Array:
        return np.where(np.isnan(self.as_stated), UNSTATED, self.as_stated)

    @property
    def as_stated(self) -> Array:
        return self._column("stated")

    @property
    def reviewed(self) -> Bools:
        """Mask of the items written by a writer named `reviewer` or `reviewers`."""
        return reviewers(self.vocabulary)[self.writer]

    @property
    def verified(self) -> Bools:
        """Mask of the items that a reviewer wrote or whose claim was verified externally."""
        return self.reviewed | (self["verified"] > 0.0)

    @property
    def alive(self) -> Bools:
        return self._column("alive")

    def age(self, now: float | Array, since: str = "time") -> Array:
        return np.maximum(now - self[since], 0.0)


@dataclass(frozen=True)
class ItemState:
    """Items of all replications, including dead ones, one row per item in order of creation."""

    vocabulary: Vocabulary
    columns: Mapping[str, Buffer]
    counts: Ints  # number of items created so far, per replication
    names: pl.Series
    news: Bools  # mask of replications with a claim since the last tick

    def __len__(self) -> int:
        return self.columns["rep"].height

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name].values

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: column.values for name, column in self.columns.items()}


@dataclass(frozen=True)
class Claim:
    """Claims of one round. Columns have the shape [claims, 1], so they broadcast with `Items` of shape [claims, items].

    `same` and `rival` mark the items about the claim's object whose value is equal to or different from the claim's
    value; `reviewed` marks claims by reviewers.
    """

    object: Ints
    value: Ints
    writer: Ints
    time: Array
    stated: Array
    same: Bools
    rival: Bools
    reviewed: Bools


@dataclass(frozen=True)
class Query:
    """Queries of one round: the queried objects [queries, 1], the time, and a mask of the items that each query uses.

    `used` marks the best items by rank, at most the law's `uses` (default 5), ties in order of creation. A law whose
    scope is the replication selects the items itself.
    """

    object: Ints
    now: float
    used: Bools


@dataclass(frozen=True)
class Change:
    """Effect of a batch of claims: which claims create items, the new items' initial columns, and changes to other items.

    Parameters
    ----------
    makes
        [claims, 1]: mask of claims that make an item; all claims if None.
    new
        Columns [claims, 1] of the new items, instead of the declared initial values.
    taken
        [claims, items]: mask of the item that absorbs each claim that makes no item.
    items
        Changed columns [claims, items]: declared state, or `alive`, `value`, `time`.
    """

    makes: Bools | None = None
    new: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    taken: Bools | None = None
    items: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def reviewers(vocabulary: Vocabulary) -> Bools:
    return np.array([name in REVIEWERS for name in vocabulary.writers], dtype=bool)


def first(marks: Bools) -> Bools:
    """Return the mask with all but the first True entry of each row cleared.

    >>> first(np.array([[False, True, True]])).tolist()
    [[False, True, False]]
    """
    leading: Bools = marks & (marks.cumsum(axis=1) == 1)
    return leading


def some(marks: Bools) -> Bools:
    """Return, as a column, whether each row contains a True entry.

    >>> some(np.array([[False, True], [False, False]])).tolist()
    [[True], [False]]
    """
    any_mark: Bools = np.logical_or.reduce(marks, axis=1, keepdims=True)
    return any_mark


def none(marks: Bools) -> Bools:
    """Return, as a column, whether each row contains no True entry.

    >>> none(np.array([[False, True], [False, False]])).tolist()
    [[False], [True]]
    """
    return np.logical_not(some(marks))


def state_column(name: str) -> Callable[[Items, float], Array]:
    """Create a `rank` or `belief` function that returns the named column of the law's state."""

    def column(items: Items, _: float) -> Array:
        return items[name]

    return column


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def last_word(items: Items, claim: Claim) -> Change:
    """Keep only each writer's latest claim about each object. Absorb a claim dated earlier than the stored one."""
    same_writer = items.alive & (items.writer == claim.writer)
    later = same_writer & (items.time > claim.time)
    return Change(makes=~some(later), taken=later, items={"alive": items.alive & (~same_writer | later)})
