"""Indexes of names, contents and writers, and generated names for cells without one.

One index grows along with a memory and is shared by those that came of it.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from malsim.memory.graph.frames import LazyRows, lists, rank_within_group
from malsim.memory.schema import KINDS, NONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from malsim.memory.graph.table import ChunkedRows

_BY_PLACE = re.compile(rf"(?:{'|'.join(KINDS)})_[0-9a-f]{{4,}}")  # the form of a handle made of a cell's place


class Index:
    """Rows of cells by handle, key and content hash, and of writers by name.

    It only ever grows, so a memory of `height` cells reads past none of its own.

    `append` hands the same index on; a second memory made from the same ancestor gets one of its own. Names and contents
    are read when one is first sought: a run whose claims name rows, and are known to say something new, seeks none.
    `elsewhere` says how many cells each replication has beside those of a memory that is a part of a store.
    """

    def __init__(self, cells: ChunkedRows, writers: ChunkedRows, elsewhere: Mapping[int, int] | None = None) -> None:
        self._handles: dict[int, dict[str | None, int]] = {}  # by replication
        self._keys: dict[int, dict[str | None, int]] = {}
        self._contents: dict[int, int] = {}  # the first row of each
        self._again: dict[int, list[int]] = {}  # the later ones, of the few that have any
        self._rows_of_writers: dict[tuple[int, str], int] = {}
        self._cells, self._writers, self._height = cells, writers, cells.height
        self.elsewhere = elsewhere or {}
        self._named = self._read = 0  # of how many cells the names and the contents are known
        self._own: set[str] | None = None if cells.height else set()  # that could be made; None: not known

    def append(self, cells: ChunkedRows, writers: ChunkedRows, new: tuple[int, int], own: Sequence[str]) -> Index:
        """Return the index with the last `new` rows of `cells` and `writers` added.

        `own` are the new cells' names that are not made of their places alone.
        """
        if (self._height, self._writers.height) != (cells.height - new[0], writers.height - new[1]):
            return Index(cells, writers, self.elsewhere)
        if self._own is not None:
            self._own.update(name for name in own if _BY_PLACE.fullmatch(name))
        self._cells, self._writers, self._height = cells, writers, cells.height
        return self

    def _names(self) -> tuple[dict[int, dict[str | None, int]], ...]:
        if self._named < self._height:
            reps = self._cells.column("rep", self._named).tolist()
            for rows, column in ((self._handles, "handle"), (self._keys, "key")):
                names = self._cells.column(column, self._named).tolist()
                for row, (rep, name) in enumerate(zip(reps, names, strict=True), self._named):
                    rows.setdefault(rep, {}).setdefault(name, row)
            self._named = self._height
        return self._keys, self._handles

    @property
    def leaves_made_names_free(self) -> bool:
        return self._own is not None and not self._own

    def are_free(self, reps: Sequence[int], names: Sequence[str], *, height: int) -> bool:
        if self._own is not None:
            return self._own.isdisjoint(names)
        return bool((self.rows(reps, names, height=height) == NONE).all())

    def rows(self, reps: Sequence[int], names: Sequence[str | None], *, height: int) -> NDArray[np.int64]:
        by_key, by_handle = (
            np.array(
                [by_rep.get(rep, _NOBODY).get(name, NONE) for rep, name in zip(reps, names, strict=True)], dtype=np.int64
            )
            for by_rep in self._names()
        )
        by_handle = np.where(by_handle < height, by_handle, NONE)
        return np.where((by_key != NONE) & (by_key < height), by_key, by_handle)

    def bears(self, rep: int, name: str, *, height: int) -> bool:
        return any(by_rep.get(rep, _NOBODY).get(name, height) < height for by_rep in self._names())

    def alike(self, contents: Sequence[int], *, height: int) -> list[tuple[int, int]]:
        if self._read < self._height:
            self._read_contents()
        first, again = self._contents, self._again
        if first.keys().isdisjoint(contents):
            return []
        return [
            (index, row)
            for index, content in enumerate(contents)
            if content in first
            for row in (first[content], *again.get(content, ()))
            if row < height
        ]

    def _read_contents(self) -> None:
        contents = self._cells.column("content", self._read)
        rows = dict(zip(contents.tolist(), range(self._read, self._height), strict=True))
        if len(rows) == len(contents) and self._contents.keys().isdisjoint(rows):
            self._contents |= rows
        else:
            for row, content in enumerate(contents.tolist(), self._read):
                if self._contents.setdefault(content, row) != row:
                    self._again.setdefault(content, []).append(row)
        self._read = self._height

    def authors(self, reps: Sequence[int], names: Sequence[str], *, height: int) -> NDArray[np.int64]:
        by_name, new = self._rows_of_writers, dict[tuple[int, str], int]()
        if len(by_name) < self._writers.height:
            unread = (self._writers.column(name, len(by_name)).tolist() for name in ("rep", "writer"))
            by_name.update(zip(zip(*unread, strict=True), range(len(by_name), self._writers.height), strict=True))
        rows = np.array([by_name.get(name, NONE) for name in zip(reps, names, strict=True)], dtype=np.int64)
        for index in np.flatnonzero((rows == NONE) | (rows >= height)).tolist():
            rows[index] = new.setdefault((reps[index], names[index]), height + len(new))
        return rows


_NOBODY: dict[str | None, int] = {}


# arrays without axes: beside an array, numpy takes them in half the time that its own scalars take
_MIXERS = np.array(0xBF58476D1CE4E5B9, dtype=np.uint64), np.array(0x94D049BB133111EB, dtype=np.uint64)
_SHIFTS = np.array(30, dtype=np.uint64), np.array(27, dtype=np.uint64), np.array(31, dtype=np.uint64)


def scattered(number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    number = number ^ (number >> _SHIFTS[0])
    number *= _MIXERS[0]
    number ^= number >> _SHIFTS[1]
    number *= _MIXERS[1]
    number ^= number >> _SHIFTS[2]
    return number


_DIGITS = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


def _hex(numbers: NDArray[np.generic], digits: int) -> NDArray[np.str_]:
    shifts = np.arange(4 * (digits - 1), -1, -4, dtype=np.uint64)
    nibbles = (numbers.astype(np.uint64)[:, None] >> shifts) & np.uint64(15)
    text: NDArray[np.str_] = _DIGITS[nibbles].view(f"S{digits}").reshape(-1).astype("U")
    return text


SHORTEST_TAG = 4
LONGEST_TAG = 16


def name_cells(index: Index, standing: NDArray[np.int64], claims: LazyRows) -> tuple[LazyRows, list[str]]:
    """Return the key and the handle of each new cell, and those of them that are not made of a cell's place alone.

    `standing` are the replications of the cells that stand. A handle that was not given depends on nothing but how many
    cells its replication holds, so that one replication names its cells alike whatever runs beside it.
    """
    reps = claims.column("rep")
    ordinal = rank_within_group(reps) + np.bincount(standing, minlength=int(reps.max(initial=0)) + 1)[reps]
    if index.elsewhere:
        ordinal += np.array([index.elsewhere.get(rep, 0) for rep in reps.tolist()], dtype=np.int64)
    has_handle, by_key = claims.tells("handle"), claims.tells("key")
    by_place = LazyRows(claims.height, make=cache(partial(_name_by_place, claims, ordinal)), kinds=_NAMES)
    if not (has_handle or by_key) and index.leaves_made_names_free:
        return by_place, []
    keys, names = (by_place.column(name).tolist() for name in ("key", "handle"))
    if by_key:
        given_keys = claims.column("key").tolist()
        by_keys = zip(_kinds(claims), given_keys, names, strict=True)
        names = [name if key is None else handle_by_key(kind, key) for kind, key, name in by_keys]
        keys = [key if given is None else given for key, given in zip(keys, given_keys, strict=True)]
    given = claims.column("handle").tolist() if has_handle else [None] * claims.height
    names = [name if handle is None else handle for name, handle in zip(names, given, strict=True)]
    if not (has_handle or by_key) and index.are_free(reps.tolist(), names, height=len(standing)):
        return by_place, []
    is_given = [handle is not None for handle in given]
    if not all(is_given):
        names = _lengthened(index, len(standing), reps.tolist(), names, keys, is_given)
    columns = {"key": lists(keys), "handle": lists(names)}
    return LazyRows(claims.height, at_hand=columns, kinds=_NAMES), [*names, *keys]


def _kinds(claims: LazyRows) -> list[str]:
    return [KINDS[code] for code in claims.column("kind_word").tolist()]


_NAMES = {"key": pl.String(), "handle": pl.String()}


def handle_by_key(kind: str, key: str) -> str:
    """Return the shortest handle of a cell that brings a key and no handle.

    >>> handle_by_key("obs", "A-3e")
    'obs_a3e0'
    """
    digits = "".join(_HEX_DIGIT.findall(key.lower()))
    return f"{kind}_{digits[:SHORTEST_TAG].ljust(SHORTEST_TAG, '0')}"


_HEX_DIGIT = re.compile("[0-9a-f]")


def handles_by_place(kind: str, ordinals: NDArray[np.int64]) -> list[str]:
    """Return the handles that cells of a kind and of these places in their replication would get.

    >>> handles_by_place("obs", np.array([0, 1, 70_000]))
    ['obs_5a27', 'obs_f860', 'obs_05c17']
    """
    return [f"{kind}_{tag}" for tag in _tags(ordinals).tolist()]


def _name_by_place(claims: LazyRows, ordinals: NDArray[np.int64], name: str) -> NDArray[Any]:
    """Return the keys or the handles that follow from each cell's place in its replication."""
    tags = _tags(ordinals).tolist()
    if name == "handle":
        return lists(f"{kind}_{tag}" for kind, tag in zip(_kinds(claims), tags, strict=True))
    tails = _hex(scattered(ordinals.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)), 16).tolist()
    return lists(f"{tag}{tail}" for tag, tail in zip(tags, tails, strict=True))


def _tags(ordinals: NDArray[np.int64]) -> NDArray[np.str_]:
    """Return the tag of each ordinal: the same for the same ordinal, never for two.

    Each block of 16^d ordinals has tags of d ≥ 4 digits, shuffled by a bijection of that block, so tags grow instead of
    colliding.
    """
    tag = np.full(len(ordinals), "", dtype="U16")
    digits = SHORTEST_TAG
    while (missing := tag == "").any():
        here = missing & (ordinals < 16**digits)
        tag[here] = _hex((ordinals[here] * 0x9E39 + 0x5A27) % 16**digits, digits)
        digits += 1
    return tag


def _lengthened(
    index: Index, height: int, reps: list[int], names: list[str], keys: list[str], is_own: list[bool]
) -> list[str]:
    """Lengthen each made handle that another cell bears by digits of its own key, until none does."""
    in_use = {(rep, name) for rep, name, is_given in zip(reps, names, is_own, strict=True) if is_given}
    longer = []
    for rep, short, key, is_given in zip(reps, names, keys, is_own, strict=True):
        if is_given:
            longer.append(short)
            continue
        digits = "".join(digit for digit in key.lower() if digit in "0123456789abcdef").ljust(LONGEST_TAG, "0")
        name = short
        for extra in range(SHORTEST_TAG, LONGEST_TAG):
            if not ((rep, name) in in_use or index.bears(rep, name, height=height)):
                break
            name += digits[extra]
        in_use.add((rep, name))
        longer.append(name)
    return longer
