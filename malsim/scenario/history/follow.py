"""Looking at a history that goes on: what fails and what trips is reported once, and again when it has passed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from malsim.base.errors import AddressError, ScenarioError
from malsim.base.limits import Limits
from malsim.base.plain_text import one_line
from malsim.scenario.checks.checks import AxiomCheck, Goal, kind_of
from malsim.scenario.checks.kind import KindCheck
from malsim.scenario.history.judge_history import check_of_history, read_history
from malsim.scenario.history.prospects import most
from malsim.scenario.history.tripwires import reason, trips
from malsim.scenario.properties import Property
from malsim.scenario.properties.frames import trace_of
from malsim.scenario.properties.witness import Witness, witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.scenario.history.history_frames import History
    from malsim.scenario.history.judge_history import HistorySource
    from malsim.scenario.properties import Trace
    from malsim.sim.settings.scenario import Check, Scenario

RAISED = ("tripped", "conflict", "webhook", "escalated")


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """News: a check that fails, or no longer does; a tripwire that trips, or is cleared.

    `kind` is property, axiom, metric, alarm or tripwire, `status` fail, passes, or the word of the tripwire's event; `t` is
    the day of it.
    """

    kind: str
    name: str
    status: str
    t: float
    message: str
    margin: float | None = None
    witness: Witness | None = None
    replication: int = 0

    @property
    def bad(self) -> bool:
        """Whether it is bad news."""
        return self.status in ("fail", *RAISED)

    def __str__(self) -> str:
        """Say it in one line."""
        return one_line(f"day {self.t:.6g}: {self.status}: {self.name}: {self.message}")

    def as_json(self, source: str) -> dict[str, object]:
        """The same, ready for JSON."""
        at = self.witness
        where = None if at is None else {
            "replication": at.replication, "day": at.day, "reads": list(at.addresses), "clause": at.clause,
            "expected": at.expected, "got": at.got,
        }  # fmt: skip
        finite = self.margin is not None and np.isfinite(self.margin)
        return {
            "malsim": 1, "source": source, "kind": self.kind, "name": self.name, "status": self.status, "t": self.t,
            "margin": self.margin if finite else None, "witness": where, "said": str(self),
        }  # fmt: skip


@dataclass
class Follower:
    """Looks at a store or a log, and remembers what it has reported.

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
    events: set[tuple[object, ...]] = field(default_factory=set)
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
        stamp = self.recording.stamp()
        if stamp == self.at:
            return []
        history = read_history(self.scenario, self.recording, limits=self.limits)
        self.left_out = history.left_out
        news = list(self._trips(history))
        if history.day is not None and any(not isinstance(each, Goal) for each in self.scenario.checks):
            news += list(self._verdicts(history, trace_of(history)))
        self.at = stamp
        return sorted(news, key=lambda one: one.t)

    def _trips(self, history: History) -> Iterator[Sighting]:
        for event in trips(history).rows(named=True):
            key = (event["t"], event["rep"], event["kind"], event["subject"], event["cause"])
            if key in self.events:
                continue
            self.events.add(key)
            message = reason(history, event["cause"], t=event["t"], rep=event["rep"])
            if event["detail"] not in ("", event["subject"]):
                message = f"{event['detail']}; {message}"
            yield Sighting(
                kind="tripwire", name=str(event["subject"]), status=event["kind"], t=event["t"], message=message,
                margin=-1.0 if event["kind"] in RAISED else 1.0, replication=event["rep"],
            )  # fmt: skip

    def _verdicts(self, history: History, trace: Trace) -> Iterator[Sighting]:
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
                yield Sighting(kind=kind_of(check), name=check.name, status="passes", t=now, message=check.property)

    def _failure(self, check: Check, history: History, trace: Trace, now: float) -> Sighting | None:
        """A check that fails for good, or, for a metric or an axiom, as things stand."""
        if isinstance(check, KindCheck):
            outcome = check_of_history(check, history, trace, self.limits)
            if outcome.status == "error":
                raise ScenarioError(outcome.message)
            at = outcome.verdict.margin.witness if outcome.verdict else None
            if outcome.status == "pass":
                return None
            t = now if at is None or at.day is None else at.day
            return Sighting(
                kind=kind_of(check), name=check.name, status="fail", t=t, message=outcome.message.partition("\n")[0],
                margin=outcome.margin, witness=at, replication=outcome.replication or 0,
            )  # fmt: skip
        return _hopeless(check, trace, now)


def _hopeless(check: Check, trace: Trace, now: float) -> Sighting | None:
    """A property that nothing can mend any more, in more replications than its share allows."""
    formula = Property(check.property).formula
    hope = most(formula, trace)
    if (~(hope < 0)).sum() >= check.share * len(hope) - 1e-9:
        return None
    worst = int(np.nanargmin(hope))
    margin = float(hope[worst])
    at = replace(witness(formula, trace, worst, margin), margin=margin)
    t = now if at.day is None else at.day
    return Sighting(
        kind="property", name=check.name, status="fail", t=t, message=str(at), margin=margin, witness=at,
        replication=at.replication,
    )  # fmt: skip
