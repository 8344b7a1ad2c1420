"""The reader: one agent that is pushed a mini-index, opens what it must, acts on what it trusts, and may write back."""

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
    """Habits of a reader.

    It `opens` rows marked ^, `verifies` a marked row before acting on it, `uses_scores` of a line and not only its
    title, `writes` back its lessons, and `wires` an op to a cell that it opens repeatedly, of the kind in `READER_OPS`
    that fits the cell.
    """

    says: str
    opens: bool = True
    verifies: bool = True
    uses_scores: bool = True
    writes: bool = True
    wires: bool = False


POLICIES: dict[str, Policy] = {
    "obedient": Policy("opens every row marked ^, checks it before acting on it, writes back what it learns"),
    "lazy": Policy("opens marked rows only when blocked, and checks them then", opens=False),
    "hurried": Policy("acts on the first title about its fact and never looks again",
                      opens=False, verifies=False, uses_scores=False),
    "forgetful": Policy("does not write back what it learned until it is blocked", writes=False),
    "stubborn": Policy("ignores flags: opens marked rows only when blocked, and acts on them all the same",
                       opens=False, verifies=False),
    "forgets_rules": Policy("obedient in a share of its turns that halves each half_life, else hurried and forgetful"),
    "writes_ops": Policy("obedient, and writes an op for a cell that it opens again and again: then opens it only when"
                         " that fires, and looks for itself before it acts on it", wires=True),
}  # fmt: skip


def _number(default: float, unit: str, meaning: str, low: float, high: float) -> Any:
    return field(default=default, metadata={"param": Param(default, unit, meaning, low, high)})


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reader agent: its behaviour and its numbers. `PARAMS` has their units, bounds and meanings.

    `banned` lists values that no action may have, separated by blanks. `rank_by` names a derived value of cells, such as
    `cell-derived-triage`, that is added to the rank of lines in its push. The reader asks within `scope`: it is shown
    facts of everybody, of that scope, and shared with that scope.
    """

    behaviour: Behaviour = "obedient"
    trust: Trust = "effective"
    act_above: float = _number(0.3, "1", "least trust on which it acts; below it declines", 0.0, 1.0)
    skill: float = _number(0.9, "1", "accuracy of its own observations", 0.0, 1.0)
    observes: float = _number(1.0, "1", "probability of seeing how an action turned out", 0.0, 1.0)
    wants: float = _number(1.0, "rows", "rows about its fact that it opens of its own accord", 0.0, 100.0)
    complies: float = _number(1.0, "1", "probability of doing as told when it is blocked", 0.0, 1.0)
    attempts: float = _number(3.0, "tries", "blocks after which a turn is given up, its action never released", 1.0, 100.0)
    half_life: float = _number(
        10.0, "turns", "turns until half of the rules in its context are lost (forgets_rules)", 0.01, 1e9
    )
    reanchor_every: float = _number(0.0, "turns", "turns from one reminder of the rules to the next; 0 never", 0.0, 1e9)
    compact_every: float = _number(0.0, "turns", "turns from one emptying of its context to the next; 0 never", 0.0, 1e9)
    recalls: float = _number(0.0, "1", "probability of acting on its own last look while that is in its context", 0.0, 1.0)
    updates: float = _number(0.0, "1", "probability of verifying a cell acted on and seen to be right: an update", 0.0, 1.0)
    least_sources: float = _number(0.0, "writers", "writers who must state a value, else the stop hook refuses it", 0.0, 1e3)
    sure_above: float = _number(1.0, "1", "stated confidence above which the stop hook refuses unverified claims", 0.0, 1.0)
    audit_every: float = _number(0.0, "turns", "turns from one audit by an external verifier to the next; 0 never", 0.0, 1e9)
    audit_accuracy: float = _number(0.95, "1", "accuracy of the external verifier", 0.0, 1.0)
    banned: str = ""
    rank_by: str = ""
    scope: str = ""
    ops: float = _number(8.0, "ops", "most ops it has wired at a time (writes_ops)", 1.0, 64.0)
    watch_below: float = _number(0.6, "1", "effective below which its watch fires (writes_ops)", 0.0, 1.0)
    drift_beyond: float = _number(0.1, "1", "change of effective beyond which its drift fires (writes_ops)", 0.0, 1.0)
    falls_by: float = _number(0.02, "1/d", "fall of effective at which its trend fires (writes_ops)", 0.0, 1.0)
    slips: float = _number(0.0, "1", "probability that an op it writes does not parse (writes_ops)", 0.0, 1.0)
    limit: float = _number(10.0, "lines", "most lines of a mini-index", 1.0, 1_000.0)
    budget_words: float = _number(900.0, "words", "most words of a mini-index", 1.0, 1e6)

    def __post_init__(self) -> None:
        checked({name: getattr(self, name) for name in PARAMS}, PARAMS, where="reader")
        words = (("behaviour", self.behaviour, tuple(POLICIES)), ("trust", self.trust, ("effective", "effective*currency")))
        for name, given, allowed in words:
            if given not in allowed:
                raise ScenarioError("not an allowed word", where=f"reader.{name}", given=given, allowed=", ".join(allowed))

    @property
    def checks_output(self) -> bool:
        return bool(self.banned) or self.least_sources > 1.0 or self.sure_above < 1.0

    @property
    def policy(self) -> Policy:
        return POLICIES[self.behaviour]


PARAMS: dict[str, Param] = {part.name: part.metadata["param"] for part in fields(Reader) if part.metadata}


MOST = 1_000
Triage = Literal["", "first", "swing", "acted", "uncertain", "rank", "value", "random"]
TRIAGE: tuple[str, ...] = get_args(Triage)[1:]


@dataclass(frozen=True, kw_only=True)
class Reviewers:
    """Reviewers of each replication: `count` people, each busy `each` ms with a dispute; `accuracy` of their look.

    Without `triage`, every disputed cell is escalated once, first come first served. Under a policy the reviewers choose
    among the disputed facts at each tick. `weekly` is the largest number of disputes a week, 0 for no limit. `tires` is
    the share of accuracy lost with each look of a day. `late` is the time from a look to its verdict. `each` and `late`
    are milliseconds, or text with a unit ("30min").
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
                hint = f'name a policy: triage = "{TRIAGE[0]}"'
                raise ScenarioError(f"{key} needs a triage policy", where="reviewers", given=getattr(self, key), hint=hint)


MOST_WEEKLY = 1e6
