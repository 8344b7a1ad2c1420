"""Addressed random draws, in which every random number is a pure function of its address.

An address is (seed, replication, population, member, turn, purpose). Since no generator has a state, adding or reordering
populations, running more replications or using other processes does not change other draws.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from malsim.memory.graph.index import scattered

Array: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.integer[Any]]

_GAMMA = np.array(0x9E3779B97F4A7C15, dtype=np.uint64)
_UNUSED = np.array(11, dtype=np.uint64)  # number of low bits to discard, because a double holds only 53 of 64 bits
_UNIT = np.array(2.0**-53)


@cache
def name_number(name: str) -> np.uint64:
    """Return the 64-bit number that represents a name in addresses: the name's BLAKE2b hash."""
    return np.uint64(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little"))


@dataclass(frozen=True, slots=True)
class Draws:
    """Random draws of one population, given a seed. Each call supplies the rest of the address.

        bits = m(m(m(m(m(m(seed) ^ population) ^ purpose) ^ replication) ^ member) ^ turn)

    m(x) is the SplitMix64 finaliser applied to x plus the golden gamma. `rep`, `member` and `turn` are integers or arrays
    that broadcast together; `turn` counts the member's actions, such as its claims. With several populations, `of` is each
    draw's population index. Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014.

    >>> draws = Draws(7, "honest")
    >>> both = draws.uniform("accuracy", rep=np.arange(3), member=0, turn=5)
    >>> bool(both[2] == draws.uniform("accuracy", rep=np.array([2]), member=0, turn=5)[0])
    True
    >>> crowd = Draws(7, ("humble", "honest"), np.array([1, 0, 1]))
    >>> bool(both[2] == crowd.uniform("accuracy", rep=np.arange(3), member=0, turn=5)[2])
    True
    """

    seed: int
    population: str | tuple[str, ...]
    of: Ints | None = None

    def bits(
        self, purpose: str | tuple[str, ...], *, rep: Ints | int, member: Ints | int = 0, turn: Ints | int = 0
    ) -> NDArray[np.uint64]:
        """Return 64 random bits for each address, with one row per purpose if there are several."""
        key = _key(self.seed, self.population, purpose)
        key = key if self.of is None else key[..., self.of]
        return _mix_in(_mix_in(_mix_in(key, rep), member), turn)

    def uniform(self, purpose: str | tuple[str, ...], **address: Ints | int) -> Array:
        """Return uniformly distributed numbers in [0, 1), with one row per purpose if there are several."""
        return np.asarray((self.bits(purpose, **address) >> _UNUSED) * _UNIT)

    def happens(
        self, share: float, purpose: str, *, rep: Ints | int, member: Ints | int = 0, turn: Ints | int = 0
    ) -> NDArray[np.bool_]:
        """Return a mask of the addresses at which an event of probability `share` happens."""
        if 0.0 < share < 1.0:
            return self.uniform(purpose, rep=rep, member=member, turn=turn) < share
        return np.full(np.broadcast(rep, member, turn).shape or 1, share >= 1.0)

    def normal(self, purpose: str, **address: Ints | int) -> Array:
        """Return standard normal numbers, computed by inverting the distribution function."""
        return np.asarray(ndtri(self.uniform(purpose, **address) + _UNIT / 2))

    def exponential(self, purpose: str, **address: Ints | int) -> Array:
        """Return exponentially distributed numbers with mean 1."""
        return exponential(self.uniform(purpose, **address))

    def below(self, limit: Ints | int, purpose: str, **address: Ints | int) -> NDArray[np.int64]:
        """Return uniformly distributed whole numbers from 0 to `limit` − 1, where `limit` is at least 1."""
        return (self.uniform(purpose, **address) * limit).astype(np.int64)


def exponential(uniform: Array) -> Array:
    """Convert uniform numbers in [0, 1) to exponentially distributed numbers with mean 1."""
    return np.asarray(-np.log1p(-uniform))


@cache
def _key(seed: int, population: str | tuple[str, ...], purpose: str | tuple[str, ...]) -> NDArray[np.uint64]:
    if isinstance(purpose, tuple):
        return np.stack([_key(seed, population, part) for part in purpose])
    if isinstance(population, tuple):
        return np.array([_key(seed, name, purpose)[0] for name in population], dtype=np.uint64)
    key = _mix(np.array([seed], dtype=np.uint64))
    for name in (population, purpose):
        key = _mix(key ^ name_number(name))
    return key


def _mix_in(key: NDArray[np.uint64], part: Ints | int) -> NDArray[np.uint64]:
    return _mix(key ^ np.asarray(part).astype(np.uint64))


def _mix(number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return scattered(number + _GAMMA)
