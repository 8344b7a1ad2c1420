"""Settings of the reader (an agent that reads a pushed mini-index, acts and writes back) and of the reviewers."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from malsim.base.errors import ScenarioError
from malsim.base.parameters import Param, checked, refuse_out_of_bounds
from malsim.sim.world.clock import read_spans

Behaviour = Literal["obedient", "lazy", "hurried", "forgetful", "stubborn", "forgets_rules", "writes_ops"]
Trust = Literal["effective", "effective*currency"]


@dataclass(frozen=True)
class Policy:
    """Habits of a reader, such as opening marked rows (^), verifying them before acting, and using a line's scores.

    A reader with `writes` writes its lessons back to the memory. A reader with `wires` writes an op for a cell that it
    opens repeatedly.
    """

    says: str
    opens: bool = True
    verifies: bool = True
    uses_scores: bool = True
    writes: bool = True
    wires: bool = False


POLICIES: dict[str, Policy] = {
    "obedient": Policy("opens every row marked ^, checks it before acting on it, and writes back its lessons"),
    "lazy": Policy("opens and checks marked rows only when blocked", opens=False),
    "hurried": Policy("acts on the first title about its fact, without opening it",
                      opens=False, verifies=False, uses_scores=False),
    "forgetful": Policy("writes back its lessons only when blocked", writes=False),
    "stubborn": Policy("opens marked rows only when blocked, and acts on them without checking",
                       opens=False, verifies=False),
    "forgets_rules": Policy("obedient in a share of turns that halves every half_life, else hurried and forgetful"),
    "writes_ops": Policy("obedient, and writes an op for a cell that it opens repeatedly; then opens it only when the op"
                         " fires, and checks it before acting on it", wires=True),
}  # fmt: skip


def _number(default: float, unit: str, meaning: str, low: float, high: float) -> Any:
    return field(default=default, metadata={"param": Param(default, unit, meaning, low, high)})


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reader agent: its behaviour and its parameters. `PARAMS` lists their units, bounds and meanings.

    `banned` lists values that no action may have, separated by spaces. `rank_by` names a derived value, such as
    `cell-derived-triage`, that is added to each line's rank in the push. A reader with a `scope` is shown facts without a
    scope, facts of that scope, and facts shared with it.
    """

    behaviour: Behaviour = "obedient"
    trust: Trust = "effective"
    act_above: float = _number(0.3, "1", "minimum trust for acting; below it, the reader declines", 0.0, 1.0)
    skill: float = _number(0.9, "1", "accuracy of the reader's own observations", 0.0, 1.0)
    observes: float = _number(1.0, "1", "probability of observing the outcome of an action", 0.0, 1.0)
    wants: float = _number(1.0, "rows", "number of unmarked rows about its fact that the reader opens", 0.0, 100.0)
    complies: float = _number(1.0, "1", "probability of complying when blocked", 0.0, 1.0)
    attempts: float = _number(3.0, "tries", "number of blocks after which a turn is given up without an action", 1.0, 100.0)
    half_life: float = _number(
        10.0, "turns", "turns until half of the rules in its context are lost (forgets_rules)", 0.01, 1e9
    )
    reanchor_every: float = _number(0.0, "turns", "turns between reminders of the rules (0: never)", 0.0, 1e9)
    compact_every: float = _number(0.0, "turns", "turns between clearings of the context (0: never)", 0.0, 1e9)
    recalls: float = _number(0.0, "1", "probability of acting on the last observation while it is in context", 0.0, 1.0)
    updates: float = _number(0.0, "1", "probability of verifying a cell acted on and observed to be right", 0.0, 1.0)
    least_sources: float = _number(
        0.0, "writers", "minimum number of writers of a value; with fewer, the stop hook refuses it", 0.0, 1e3
    )
    sure_above: float = _number(1.0, "1", "stated confidence above which the stop hook refuses unverified claims", 0.0, 1.0)
    audit_every: float = _number(0.0, "turns", "turns between audits by an external verifier (0: never)", 0.0, 1e9)
    audit_accuracy: float = _number(0.95, "1", "accuracy of the external verifier", 0.0, 1.0)
    banned: str = ""
    rank_by: str = ""
    scope: str = ""
    ops: float = _number(8.0, "ops", "maximum number of ops wired at a time (writes_ops)", 1.0, 64.0)
    watch_below: float = _number(0.6, "1", "effective confidence below which a watch op fires (writes_ops)", 0.0, 1.0)
    drift_beyond: float = _number(0.1, "1", "change in effective confidence that fires a drift op (writes_ops)", 0.0, 1.0)
    falls_by: float = _number(0.02, "1/d", "fall in effective confidence that fires a trend op (writes_ops)", 0.0, 1.0)
    slips: float = _number(0.0, "1", "probability that a written op does not parse (writes_ops)", 0.0, 1.0)
    limit: float = _number(10.0, "lines", "maximum number of lines in a mini-index", 1.0, 1_000.0)
    budget_words: float = _number(900.0, "words", "maximum number of words in a mini-index", 1.0, 1e6)

    def __post_init__(self) -> None:
        checked({name: getattr(self, name) for name in PARAMS}, PARAMS, where="reader")
        for name, allowed in (("behaviour", tuple(POLICIES)), ("trust", get_args(Trust))):
            if (given := getattr(self, name)) not in allowed:
                raise ScenarioError("not an allowed value", where=f"reader.{name}", given=given, allowed=", ".join(allowed))

    @property
    def checks_output(self) -> bool:
        return bool(self.banned) or self.least_sources > 1.0 or self.sure_above < 1.0

    @property
    def policy(self) -> Policy:
        return POLICIES[self.behaviour]


PARAMS: dict[str, Param] = {part.name: part.metadata["param"] for part in fields(Reader) if part.metadata}


MOST, MOST_WEEKLY = 1_000, 1e6
Triage = Literal["", "first", "swing", "acted", "uncertain", "rank", "value", "random"]
TRIAGE: tuple[str, ...] = get_args(Triage)[1:]


@dataclass(frozen=True, kw_only=True)
class Reviewers:
    """Reviewers in each replication: `count` people who need `each` ms per dispute and observe with `accuracy`.

    Without `triage`, every disputed cell is escalated once, in order of arrival. Under a triage policy the reviewers choose
    among the disputed facts at each tick. `weekly` is the maximum number of disputes per week (0: no limit). `tires` is the
    share of accuracy lost with each additional review on the same day. `late` is the delay between an observation and the
    verdict. `each` and `late` are milliseconds, or text with a unit ("30min").
    """

    count: int = 1
    each: int = 30 * 60_000
    accuracy: float = 0.98
    triage: Triage = ""
    weekly: float = 0.0
    tires: float = 0.0
    late: int = 0

    def __post_init__(self) -> None:
        read_spans(self, "each", "late", where="reviewers")
        bounds = (
            ("count", 1 <= self.count <= MOST, self.count, f"1 to {MOST}"),
            ("each", self.each > 0, self.each, "above 0"),
            ("accuracy", 0.0 <= self.accuracy <= 1.0, self.accuracy, "0 to 1"),
            ("triage", self.triage in get_args(Triage), self.triage, ", ".join(TRIAGE)),
            ("weekly", 0.0 <= self.weekly <= MOST_WEEKLY, self.weekly, f"0 to {MOST_WEEKLY}"),
            ("tires", 0.0 <= self.tires <= 1.0, self.tires, "0 to 1"),
            ("late", self.late >= 0, self.late, "0 or more"),
        )
        refuse_out_of_bounds(bounds, where="reviewers")
        for key in ("weekly", "tires"):
            if getattr(self, key) and not self.triage:
                hint = f'add triage = "{TRIAGE[0]}"'
                raise ScenarioError(f"{key} needs a triage policy", where="reviewers", given=getattr(self, key), hint=hint)
