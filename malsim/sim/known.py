"""What verdicts told the members of a population: which cells their claims became."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from malsim.memory.index import NONE
from malsim.sim.catalogue import places_within
from malsim.sim.occasion import Own

if TYPE_CHECKING:
    from malsim.sim.crowd import Wake
    from malsim.sim.occasion import Ints

__all__ = ["Known"]


class Known:
    """By replication, member and fact: the latest cell and its value; and which cells are still to be taken along.

    A writer learns what became of its claims at the next turn. Of several it made about one fact in one turn the last is its
    latest; the others are loose ends until its next claim about the fact supersedes them too.
    """

    def __init__(self, replications: int, members: int, facts: int) -> None:
        self._shape = (replications, members, facts)
        self._row = np.full(self._shape, NONE, dtype=np.int32)
        self._value = np.full(self._shape, NONE, dtype=np.int8)
        self._first = np.full((replications, facts), NONE, dtype=np.int32)
        self._loose = np.zeros((2, 0), dtype=np.int64)  # place and row
        self._untied = np.zeros(self._row.size, dtype=bool)  # places with loose ends

    def heard(self, rep: Ints, member: Ints, fact: Ints, row: Ints, value: Ints) -> None:
        """Learn which cells claims became, in the order of the gate."""
        at = (rep, member, fact)
        self._row[at], self._value[at] = row, value
        loose = self._row[at] != row
        if loose.any():
            place = np.ravel_multi_index(at, self._shape)[loose]
            self._untied[place] = True
            self._loose = np.append(self._loose, [place, row[loose]], axis=1)
        new = self._first[rep, fact] == NONE
        self._first[rep[new][::-1], fact[new][::-1]] = row[new][::-1]  # of several, the first is written last

    def own(self, wake: Wake) -> Own:
        """What each writer who wakes knows of its own and its peers' claims; the loose ends it is handed are its to tie."""
        at = (wake.rep, wake.member, wake.fact)
        place = np.ravel_multi_index(at, self._shape)
        peers = self._row[wake.rep, :, wake.fact].astype(np.int64)
        peers[np.arange(len(wake.rep)), wake.member] = NONE
        return Own(
            self._row[at].astype(np.int64),
            self._value[at].astype(np.int64),
            self._first[wake.rep, wake.fact].astype(np.int64),
            peers,
            self._taken(place),
            places_within(place) > 0,
        )

    def _taken(self, place: Ints) -> Ints:
        """Hand the loose ends of each place to its first claim, shape (claims, most of them)."""
        if not self._untied[place].any():
            return np.zeros((len(place), 0), dtype=np.int64)
        waiting, row = self._loose
        here, first = np.unique(place, return_index=True)
        at = np.searchsorted(here, waiting).clip(max=len(here) - 1)
        met = here[at] == waiting
        claim = first[at[met]]
        nth = places_within(claim)
        taken = np.full((len(place), int(nth.max(initial=-1)) + 1), NONE)
        taken[claim, nth] = row[met]
        self._loose, self._untied[place] = self._loose[:, ~met], False
        return taken
