"""Scenario of a simulation: immutable settings and frames, read from a file or built in Python."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from malsim.adapters.engine.adapter import Phrases
from malsim.base.errors import ScenarioError
from malsim.base.finite import FARTHEST, in_days, is_number
from malsim.base.limits import Limits
from malsim.base.parameters import checked
from malsim.laws import find_law
from malsim.memory import Memory
from malsim.memory.gate.checks import LAST_REPLICATION
from malsim.memory.gate.claims import as_claims
from malsim.memory.graph.replicate import replicated
from malsim.memory.push.ten_cells import bootstrap, prime
from malsim.memory.rules import Rules
from malsim.sim.settings.netlist_config import NetlistConfig, with_reader_ops
from malsim.sim.world.clock import DAY, milliseconds, read_spans

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence

    import polars as pl

    from malsim.adapters.engine.adapter import Adapter
    from malsim.sim.settings.population import ClaimFault, Population
    from malsim.sim.settings.reader import Reader, Reviewers
    from malsim.sim.world import Fact
    from malsim.sim.world.correction import Attack, Correction
    from malsim.sim.writers.engine.user_process import UserProcess


@dataclass(frozen=True, kw_only=True)
class Check:
    """Temporal property that must hold in at least the fraction `share` of a run's replications.

    `line` is the check's line in the file, and `reads` are the addresses that the check reads.
    """

    name: str
    property: str
    share: float = 1.0
    line: int = 0
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Episode:
    """Period in which a tripwire should fire: while `when` holds, or from `start` until `end`, exclusive (ms).

    `test` marks an episode that trips the wire on purpose, to show that the wire works.
    """

    name: str
    when: str = ""
    start: int = 0
    end: int | None = None
    test: bool = False
    line: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class InitialMemory:
    """Memory with which a run starts.

    The memory's day `now` becomes day 0 of the run. `lender` is a global memory that primes the initial memory. `stores`
    maps the paths of store files to their hashes.
    """

    memory: Memory = field(default_factory=Memory.empty)
    now: float = 0.0
    lender: Memory | None = None
    stores: Mapping[str, str] = field(default_factory=dict)

    def replicate(self, reps: Sequence[int], rules: Rules) -> Memory:
        memory = self.memory
        if self.lender is not None:
            memory = prime(bootstrap(memory, t=self.now, rules=rules), self.lender, t=self.now, rules=rules)
        return replicated(memory, reps, now=self.now)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Complete description of a simulation run.

    `claims` are scripted claims, made in every replication: a list of mappings, or a frame with one row per claim (columns
    of `memory.schema.CLAIMS`, times in days; omitted columns have defaults). `turn_every` is the time between ticks in
    milliseconds; `turn_every` and `days` may be text with a unit ("2w"). `record` is "all", "bands", or a list of
    addresses; every `record_every`-th tick and the last tick are recorded. Replications are numbered from `first`; a
    replication depends only on its number, not on which other replications are run.

    `law` is the rule by which the memory scores claims: mal, recall_v5, or one of `malsim.laws` with its parameters. An
    `adapter` is a user's own memory, used in place of a law; its name becomes `law`, and `phrases` are the sentences of its
    calls. `netlist` runs after every tick. `attack` defines the facts and times of the attack scores. `corrections` are
    made by people; every `resettles` ms (0: never) a background job reasserts corrected values from their sources.
    `processes` are the user's own processes. `path` is the scenario's file. `forked` is the day on which a run was
    continued under these settings.
    """

    name: str = "scenario"
    why: str = ""
    seed: int = 0
    days: float = 30.0
    turn_every: int = DAY
    replications: int = 1
    first: int = 0
    record: Literal["all", "bands"] | tuple[str, ...] = "all"
    record_every: int = 1
    start: dt.date | None = None
    rules: Rules = field(default_factory=Rules)
    law: str = "mal"
    law_settings: Mapping[str, float | str] = field(default_factory=dict)
    adapter: Adapter | None = None
    phrases: Phrases = field(default_factory=Phrases)
    claims: pl.DataFrame = field(default_factory=lambda: as_claims([]))
    facts: tuple[Fact, ...] = ()
    writers: tuple[Population, ...] = ()
    reader: Reader | None = None
    faults: tuple[ClaimFault, ...] = ()
    reviewers: Reviewers | None = None
    gaps: tuple[tuple[int, int], ...] = ()
    netlist: NetlistConfig | None = None
    initial_memory: InitialMemory | None = None
    checks: tuple[Check, ...] = ()
    episodes: tuple[Episode, ...] = ()
    attack: Attack | None = None
    corrections: tuple[Correction, ...] = ()
    resettles: int = 0
    processes: tuple[UserProcess, ...] = ()
    text: str = ""
    path: str = ""
    forked: float | None = None

    def __post_init__(self) -> None:
        if self.reader:
            object.__setattr__(self, "netlist", with_reader_ops(self.netlist, self.reader))
        self._check_derived()
        where = f"{self.name}: run"
        object.__setattr__(self, "claims", as_claims(self.claims))
        object.__setattr__(self, "days", in_days(self.days, where=f"{where}.days"))
        read_spans(self, "turn_every", where=where)
        length = self.days if is_number(self.days) and 0 < self.days <= FARTHEST else 0.0
        checks = (
            ("days", length > 0, f"above 0, at most {FARTHEST:g}"),
            ("turn_every", 0 < self.turn_every <= milliseconds(length), f"above 0, at most the run's {length:g}d"),
            ("replications", 1 <= self.replications <= LAST_REPLICATION, f"1 to {LAST_REPLICATION}"),
            ("first", 0 <= self.first <= LAST_REPLICATION + 1 - self.replications, f"0 to {LAST_REPLICATION} in all"),
            ("record_every", self.record_every >= 1, "1 or more"),
            ("seed", 0 <= self.seed < 2**63, "0 to 2^63 - 1"),
        )
        for name, good, allowed in checks:
            if not good:
                # clip the value, because a manifest can contain an integer that is too large for a float
                turn = max(-FARTHEST * DAY, min(FARTHEST * DAY, self.turn_every))
                given = f"{turn / DAY:g}d" if name == "turn_every" else getattr(self, name)
                raise ScenarioError("out of bounds", where=f"{where}.{name}", given=given, allowed=allowed)
        where_law = f"{self.name}: law"
        law, settings = (
            (self.adapter.name, {}) if self.adapter else checked_law(self.law, self.law_settings, where=where_law)
        )
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "law_settings", settings)
        names = [fact.name for fact in self.facts]
        for name in names:
            if names.count(name) > 1:
                where, hint = f"{self.name}: facts", "choose another name"
                raise ScenarioError("this name is already used", where=where, given=name, hint=hint)
        for key in ("writers", "reader", "reviewers"):
            if getattr(self, key) and not names and not (key == "reviewers" and self.netlist):
                where = f"{self.name}: {key}"
                raise ScenarioError("this scenario has no facts to write about", where=where, hint="add a [[facts]] table")
        for number, correction in enumerate(self.corrections):
            correction.check(names, where=f"{self.name}: corrections[{number}]")
        if self.attack:
            self.attack.check(names, length, where=f"{self.name}: attack")

    def _check_derived(self) -> None:
        derived = [name.replace("-", "-derived-", 1) for name in (self.netlist.net.derived if self.netlist else ())]
        effective = self.rules.effective
        named = (("rules.effective", effective if effective != "records" else ""),
                 ("rules.tau_scale", self.rules.tau_scale or ""),
                 ("reader.rank_by", self.reader.rank_by if self.reader else ""))  # fmt: skip
        for where, name in named:
            if isinstance(name, str) and name and name not in derived:
                hint = 'define it under [derive]: cell-trust = "…", or see `malsim signals`'
                allowed = " ".join(sorted(other for other in derived if other.startswith("cell-"))) or "none is defined"
                location = f"{self.name}: {where}"
                raise ScenarioError("no such derived value", where=location, given=name, allowed=allowed, hint=hint)

    @property
    def turns(self) -> int:
        """Number of complete turns in the run, including turns that fall into gaps.

        >>> Scenario(days=0.3, turn_every=8_640_000).turns
        3
        """
        return milliseconds(self.days) // self.turn_every

    @property
    def ticks_at(self) -> tuple[int, ...]:
        """Times of the run's ticks in milliseconds: the end of every turn that is not in a gap."""
        every = range(self.turn_every, milliseconds(self.days) + 1, self.turn_every)
        return tuple(at for at in every if not any(start <= at < end for start, end in self.gaps))

    def replace(self, **changes: Any) -> Scenario:
        """Return a copy of the scenario with `changes`. `rules` may be a dict of changed rules, and `netlist` may be text.

        A different `law` starts from its default parameters, and recall_v5 from its own rules.
        """
        if self.adapter and changes.get("adapter", self.adapter) is None:
            changes.setdefault("law", "mal")
        rules, netlist, law = changes.get("rules"), changes.get("netlist"), changes.get("law", self.law)
        if law != self.law:
            changes.setdefault("adapter", None)
            changes.setdefault("law_settings", {})
            if law == "recall_v5":
                changes.setdefault("rules", Rules.recall_v5())
        if isinstance(rules, dict):
            changes["rules"] = self.rules.replace(**rules)
        if isinstance(netlist, str):
            changes["netlist"] = NetlistConfig.of(netlist)
        return replace(self, **changes)


GRAPHS = ("mal", "recall_v5")  # laws with a claim graph


def checked_law(law: str, settings: Mapping[str, object], *, where: str) -> tuple[str, dict[str, float | str]]:
    """Return a law's name and its parameters, completed with defaults.

    Raises an error for an unknown law, an unknown parameter or an out-of-bounds value.
    """
    if law in GRAPHS:
        if settings:
            raise ScenarioError(
                f"{law} has no parameters", where=where, given=", ".join(settings), hint="set rules under [rules]"
            )
        return law, {}
    definition = find_law(law, where=where)
    return definition.name, checked(settings, definition.params, where=where)


RECORDED = 150  # measured memory per recorded cell and tick under mal, in bytes (other laws need less)


def check_size(scenario: Scenario) -> None:
    """Raise an error if the scenario needs more replications, ticks, cells or memory than the limits allow."""
    ticks = scenario.turns * scenario.replications
    claims = 0.0
    for group in scenario.writers:
        days = max(0.0, min(scenario.days * DAY, group.last) - group.start) / DAY
        claims += group.count * days * (DAY / group.every if group.every else group.rate)
    cells = (scenario.claims.height + int(claims)) * ticks
    sizes = {"replications": scenario.replications, "ticks": ticks, "cells": cells, "memory": cells * RECORDED}
    Limits.current().check(sizes, where=scenario.path or None)
