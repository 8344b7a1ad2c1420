"""Looking at a history that goes on: what fails and what trips is told once, and told again when it has passed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.errors import AddressError, ScenarioError
from malsim.limits import Limits
from malsim.plain_text import one_line
from malsim.scenario.judge.checks import AlarmCheck, AxiomCheck, Goal, MetricCheck
from malsim.scenario.properties import Property
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.witness import Witness, witness
from malsim.shadow.judge_history import check_of_history, read_history
from malsim.shadow.prospects import most
from malsim.shadow.store_history import writes
from malsim.shadow.tripwires import reason, trips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.scenario.properties import Trace
    from malsim.shadow.history_frames import History
    from malsim.shadow.judge_history import HistorySource
    from malsim.sim.settings.scenario import Check, Scenario

__all__ = ["Follower", "Sighting"]

RAISED = ("tripped", "conflict", "webhook", "escalated")


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """What is to be told: a check that fails, or no longer does; a tripwire that trips, or is cleared.

    `kind` is property, axiom, metric, alarm or tripwire, `status` fail, passes, or the word of the tripwire's event; `t` is
    the day of it.
    """

    kind: str
    name: str
    status: str
    t: float
    said: str
    margin: float | None = None
    witness: Witness | None = None
    replication: int = 0

    @property
    def bad(self) -> bool:
        """Whether it is bad news."""
        return self.status in ("fail", *RAISED)

    def __str__(self) -> str:
        """Say it in one line."""
        return one_line(f"day {self.t:.6g}: {self.status}: {self.name}: {self.said}")

    def told(self, source: str) -> dict[str, object]:
        """The same, ready for JSON."""
        seen = self.witness
        where = None if seen is None else {
            "replication": seen.replication, "day": seen.day, "reads": list(seen.addresses), "clause": seen.clause,
            "expected": seen.expected, "got": seen.got,
        }  # fmt: skip
        finite = self.margin is not None and np.isfinite(self.margin)
        return {
            "malsim": 1, "source": source, "kind": self.kind, "name": self.name, "status": self.status, "t": self.t,
            "margin": self.margin if finite else None, "witness": where, "said": str(self),
        }  # fmt: skip


@dataclass
class Follower:
    """Looks at a store or a log, and remembers what it has told.

    Parameters
    ----------
    scenario
        Its checks and netlist.
    recording
        Where the history stands; only read.
    limits
        How much of it may be read.
    """

    scenario: Scenario
    recording: HistorySource
    limits: Limits = field(default_factory=Limits)
    failing: set[str] = field(default_factory=set)
    seen: set[tuple[object, ...]] = field(default_factory=set)
    at: object = None
    unread: dict[str, str] = field(default_factory=dict)
    left_out: str = ""

    @property
    def unasked(self) -> list[str]:
        """The checks that read what the history does not have; an axiom without a case is none of them."""
        kinds = {each.name: type(each) for each in self.scenario.checks}
        return [name for name in self.unread if kinds[name] is not AxiomCheck]

    def look(self) -> list[Sighting]:
        """What is new since the last look; nothing is read again where nothing was written.

        Raises `MalsimError` for a history that cannot be read.
        """
        stamp = self._stamp()
        if stamp == self.at:
            return []
        history = read_history(self.scenario, self.recording, limits=self.limits)
        self.left_out = history.left_out
        found = list(self._tripped(history))
        if history.day is not None and any(not isinstance(each, Goal) for each in self.scenario.checks):
            found += list(self._judged(history, trace_of(history)))
        self.at = stamp
        return sorted(found, key=lambda one: one.t)

    def _stamp(self) -> object:
        """What changes whenever something is written."""
        path = self.recording.path
        if not self.recording.log:
            return writes(path)
        state = path.stat() if path.is_file() else None
        return state and (state.st_size, state.st_mtime_ns, state.st_ino)

    def _tripped(self, history: History) -> Iterator[Sighting]:
        for event in trips(history).rows(named=True):
            key = (event["t"], event["rep"], event["kind"], event["subject"], event["cause"])
            if key in self.seen:
                continue
            self.seen.add(key)
            said = reason(history, event["cause"], t=event["t"], rep=event["rep"])
            if event["detail"] not in ("", event["subject"]):
                said = f"{event['detail']}; {said}"
            yield Sighting(
                kind="tripwire", name=str(event["subject"]), status=event["kind"], t=event["t"], said=said,
                margin=-1.0 if event["kind"] in RAISED else 1.0, replication=event["rep"],
            )  # fmt: skip

    def _judged(self, history: History, trace: Trace) -> Iterator[Sighting]:
        now = float(history.day or 0.0)
        for check in self.scenario.checks:
            if isinstance(check, Goal):
                continue
            try:
                failure = self._failure(check, history, trace, now)
                self.unread.pop(check.name, None)
            except (ScenarioError, AddressError) as problem:
                self.unread[check.name] = str(problem)  # what it reads may not be there yet
                continue
            if failure and check.name not in self.failing:
                self.failing.add(check.name)
                yield failure
            elif not failure and check.name in self.failing:
                self.failing.discard(check.name)
                yield Sighting(kind=_kind(check), name=check.name, status="passes", t=now, said=check.property)

    def _failure(self, check: Check, history: History, trace: Trace, now: float) -> Sighting | None:
        """What to tell of a check that fails for good, or, for a metric or an axiom, as things stand."""
        if isinstance(check, MetricCheck | AlarmCheck | AxiomCheck):
            outcome = check_of_history(check, history, trace, self.limits)
            if outcome.status == "error":
                raise ScenarioError(outcome.said)
            seen = outcome.verdict.margin.witness if outcome.verdict else None
            if outcome.status == "pass":
                return None
            t = now if seen is None or seen.day is None else seen.day
            return Sighting(
                kind=_kind(check), name=check.name, status="fail", t=t, said=outcome.said.partition("\n")[0],
                margin=outcome.margin, witness=seen, replication=outcome.replication or 0,
            )  # fmt: skip
        return _lost(check, trace, now)


def _lost(check: Check, trace: Trace, now: float) -> Sighting | None:
    """A property that nothing can mend any more, in more replications than its share allows."""
    formula = Property(check.property).formula
    hope = most(formula, trace)
    lost = hope < 0
    if (~lost).sum() >= check.share * len(lost) - 1e-9:
        return None
    worst = int(np.nanargmin(hope))
    margin = float(hope[worst])
    seen = replace(witness(formula, trace, worst, margin), margin=margin)
    t = now if seen.day is None else seen.day
    return Sighting(
        kind="property", name=check.name, status="fail", t=t, said=str(seen), margin=margin, witness=seen,
        replication=seen.replication,
    )  # fmt: skip


def _kind(check: Check) -> str:
    kinds: dict[type[Check], str] = {MetricCheck: "metric", AlarmCheck: "alarm", AxiomCheck: "axiom"}
    return kinds.get(type(check), "property")
