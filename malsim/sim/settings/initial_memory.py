"""Initial memory of a run: the cells of a store and of a memory that primes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from malsim.memory import Memory
from malsim.memory.graph.replicate import replicated
from malsim.memory.push.ten_cells import bootstrap, prime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from malsim.memory import Rules


@dataclass(frozen=True, kw_only=True, eq=False)
class InitialMemory:
    """Memory whose day `now` is day 0 of the run, an optional `lender` that primes it, and hashes of the files by path."""

    memory: Memory = field(default_factory=Memory.empty)
    now: float = 0.0
    lender: Memory | None = None
    stores: Mapping[str, str] = field(default_factory=dict)

    def replicate(self, reps: Sequence[int], rules: Rules) -> Memory:
        memory = self.memory
        if self.lender is not None:
            memory = prime(bootstrap(memory, t=self.now, rules=rules), self.lender, t=self.now, rules=rules)
        return replicated(memory, reps, now=self.now)
