"""Index of cells by name and content and of writers by name, and generation of names for cells without one.

An index is extended together with its memory and shared by the memories that grow from it.
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

_GENERATED = re.compile(rf"(?:{'|'.join(KINDS)})_[0-9a-f]{{4,}}")  # pattern of handles generated from an ordinal


class Index:
    """Index that maps handles, keys and content hashes to rows of cells, and writers' names to rows of writers.

    The index may hold more rows than a memory, so lookups take the memory's `height` and ignore later rows. `append` extends
    the same index; a second memory grown from the same ancestor gets a new one. Names and contents are read at the first
    lookup: a run whose claims refer to rows and are known to be new needs neither. For a part of a store, `elsewhere` is the
    number of other cells in each replication.
    """

    def __init__(self, cells: ChunkedRows, writers: ChunkedRows, elsewhere: Mapping[int, int] | None = None) -> None:
        self._handles: dict[int, dict[str | None, int]] = {}  # rows by name, for each replication
        self._keys: dict[int, dict[str | None, int]] = {}
        self._contents: dict[int, int] = {}  # first row with each content hash
        self._repeats: dict[int, list[int]] = {}  # later rows with the same content hash, if any
        self._rows_of_writers: dict[tuple[int, str], int] = {}
        self._cells, self._writers, self._height = cells, writers, cells.height
        self.elsewhere = elsewhere or {}
        self._named = self._read = 0  # numbers of cells indexed so far, by name and by content
        # Names that writers chose but that look like generated names; None if unknown.
        self._like_generated: set[str] | None = None if cells.height else set()

    def append(self, cells: ChunkedRows, writers: ChunkedRows, new: tuple[int, int], names: Sequence[str]) -> Index:
        """Return the index extended by the last `new` rows of `cells` and `writers`.

        `names` are the handles and keys of the new cells, except those generated from an ordinal alone.
        """
        if (self._height, self._writers.height) != (cells.height - new[0], writers.height - new[1]):
            return Index(cells, writers, self.elsewhere)
        if self._like_generated is not None:
            self._like_generated.update(name for name in names if _GENERATED.fullmatch(name))
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
    def has_generated_names_only(self) -> bool:
        return self._like_generated is not None and not self._like_generated

    def are_free(self, reps: Sequence[int], names: Sequence[str], *, height: int) -> bool:
        """Return whether none of these generated names is in use yet."""
        if self._like_generated is not None:
            return self._like_generated.isdisjoint(names)
        return bool((self.rows(reps, names, height=height) == NONE).all())

    def rows(self, reps: Sequence[int], names: Sequence[str | None], *, height: int) -> NDArray[np.int64]:
        """Return the row of the cell with each name as its key or, failing that, as its handle; NONE if there is none."""
        pairs = list(zip(reps, names, strict=True))
        by_key, by_handle = (
            np.array([by_rep.get(rep, _NO_NAMES).get(name, NONE) for rep, name in pairs], dtype=np.int64)
            for by_rep in self._names()
        )
        by_handle = np.where(by_handle < height, by_handle, NONE)
        return np.where((by_key != NONE) & (by_key < height), by_key, by_handle)

    def has_name(self, rep: int, name: str, *, height: int) -> bool:
        return any(by_rep.get(rep, _NO_NAMES).get(name, height) < height for by_rep in self._names())

    def with_content(self, contents: Sequence[int], *, height: int) -> list[tuple[int, int]]:
        """Return (index in `contents`, row) for every cell whose content hash is in `contents`."""
        if self._read < self._height:
            self._read_contents()
        first, repeats = self._contents, self._repeats
        if first.keys().isdisjoint(contents):
            return []
        return [
            (index, row)
            for index, content in enumerate(contents)
            if content in first
            for row in (first[content], *repeats.get(content, ()))
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
                    self._repeats.setdefault(content, []).append(row)
        self._read = self._height

    def authors(self, reps: Sequence[int], names: Sequence[str], *, height: int) -> NDArray[np.int64]:
        """Return the row of each writer. Unknown writers get new rows at the end, in order of appearance."""
        by_name, new = self._rows_of_writers, dict[tuple[int, str], int]()
        if len(by_name) < self._writers.height:
            unread = (self._writers.column(name, len(by_name)).tolist() for name in ("rep", "writer"))
            by_name.update(zip(zip(*unread, strict=True), range(len(by_name), self._writers.height), strict=True))
        rows = np.array([by_name.get(name, NONE) for name in zip(reps, names, strict=True)], dtype=np.int64)
        for index in np.flatnonzero((rows == NONE) | (rows >= height)).tolist():
            rows[index] = new.setdefault((reps[index], names[index]), height + len(new))
        return rows


_NO_NAMES: dict[str | None, int] = {}


# Zero-dimensional arrays, because numpy combines an array with them twice as fast as with scalars.
_MIXERS = np.array(0xBF58476D1CE4E5B9, dtype=np.uint64), np.array(0x94D049BB133111EB, dtype=np.uint64)
_SHIFTS = np.array(30, dtype=np.uint64), np.array(27, dtype=np.uint64), np.array(31, dtype=np.uint64)


def scattered(number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each number with the SplitMix64 finaliser, which is a bijection."""
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


def name_cells(index: Index, present: NDArray[np.int64], claims: LazyRows) -> tuple[LazyRows, list[str]]:
    """Return the key and handle of each new cell, and a list of these names (empty if all are generated from ordinals).

    `present` holds the replications of the existing cells. A generated handle depends only on the number of cells in its
    replication, so a replication has the same handles whichever other replications run with it.
    """
    reps = claims.column("rep")
    ordinal = rank_within_group(reps) + np.bincount(present, minlength=int(reps.max(initial=0)) + 1)[reps]
    if index.elsewhere:
        ordinal += np.array([index.elsewhere.get(rep, 0) for rep in reps.tolist()], dtype=np.int64)
    has_handle, has_key = claims.has_values("handle"), claims.has_values("key")
    generated = LazyRows(claims.height, make=cache(partial(_generated_names, claims, ordinal)), kinds=_NAMES)
    if not (has_handle or has_key) and index.has_generated_names_only:
        return generated, []
    keys, names = (generated.column(name).tolist() for name in ("key", "handle"))
    if has_key:
        given_keys = claims.column("key").tolist()
        by_keys = zip(_kinds(claims), given_keys, names, strict=True)
        names = [name if key is None else handle_by_key(kind, key) for kind, key, name in by_keys]
        keys = [key if given is None else given for key, given in zip(keys, given_keys, strict=True)]
    given = claims.column("handle").tolist() if has_handle else [None] * claims.height
    names = [name if handle is None else handle for name, handle in zip(names, given, strict=True)]
    if not (has_handle or has_key) and index.are_free(reps.tolist(), names, height=len(present)):
        return generated, []
    is_given = [handle is not None for handle in given]
    if not all(is_given):
        names = _lengthened(index, len(present), reps.tolist(), names, keys, is_given)
    columns = {"key": lists(keys), "handle": lists(names)}
    return LazyRows(claims.height, at_hand=columns, kinds=_NAMES), [*names, *keys]


def _kinds(claims: LazyRows) -> list[str]:
    return [KINDS[code] for code in claims.column("kind_word").tolist()]


_NAMES = {"key": pl.String(), "handle": pl.String()}


def handle_by_key(kind: str, key: str) -> str:
    """Return the shortest handle that the gate generates for a cell that has a key but no handle."""
    digits = "".join(_HEX_DIGIT.findall(key.lower()))
    return f"{kind}_{digits[:SHORTEST_TAG].ljust(SHORTEST_TAG, '0')}"


_HEX_DIGIT = re.compile("[0-9a-f]")


def handles_by_ordinal(kind: str, ordinals: NDArray[np.int64]) -> list[str]:
    """Return the handles generated for cells of one kind from their ordinals within their replication.

    >>> handles_by_ordinal("obs", np.array([0, 1, 70_000]))
    ['obs_5a27', 'obs_f860', 'obs_05c17']
    """
    return [f"{kind}_{tag}" for tag in _tags(ordinals).tolist()]


def _generated_names(claims: LazyRows, ordinals: NDArray[np.int64], name: str) -> NDArray[Any]:
    """Return the keys or handles generated from the ordinals of the cells within their replications."""
    tags = _tags(ordinals).tolist()
    if name == "handle":
        return lists(f"{kind}_{tag}" for kind, tag in zip(_kinds(claims), tags, strict=True))
    tails = _hex(scattered(ordinals.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)), 16).tolist()
    return lists(f"{tag}{tail}" for tag, tail in zip(tags, tails, strict=True))


def _tags(ordinals: NDArray[np.int64]) -> NDArray[np.str_]:
    """Return a tag for each ordinal, such that distinct ordinals have distinct tags.

    Ordinals below 16^d have tags of d ≥ 4 digits, permuted by a bijection, so tags become longer instead of colliding.
    """
    tag = np.full(len(ordinals), "", dtype="U16")
    digits = SHORTEST_TAG
    while (missing := tag == "").any():
        short = missing & (ordinals < 16**digits)
        tag[short] = _hex((ordinals[short] * 0x9E39 + 0x5A27) % 16**digits, digits)
        digits += 1
    return tag


def _lengthened(
    index: Index, height: int, reps: list[int], names: list[str], keys: list[str], is_given: list[bool]
) -> list[str]:
    """Return all names, after appending digits of the cell's key to each generated handle that is already in use."""
    in_use = {(rep, name) for rep, name, given in zip(reps, names, is_given, strict=True) if given}
    longer = []
    for rep, name, key, given in zip(reps, names, keys, is_given, strict=True):
        digits = iter("".join(_HEX_DIGIT.findall(key.lower())).ljust(LONGEST_TAG, "0")[SHORTEST_TAG:LONGEST_TAG])
        while not given and ((rep, name) in in_use or index.has_name(rep, name, height=height)):
            if (digit := next(digits, None)) is None:
                break
            name += digit  # noqa: PLW2901
        in_use.add((rep, name))
        longer.append(name)
    return longer
