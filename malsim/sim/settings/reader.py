"""The reader: one agent that is pushed a mini-index, opens what it must, acts on what it trusts, and may write back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from malsim.base.errors import ScenarioError
from malsim.base.parameters import Param, checked

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

PARAMS = {
    "act_above": Param(0.3, "1", "least trust on which it acts; below it declines", 0.0, 1.0),
    "skill": Param(0.9, "1", "accuracy of its own observations", 0.0, 1.0),
    "observes": Param(1.0, "1", "probability of seeing how an action turned out", 0.0, 1.0),
    "wants": Param(1.0, "rows", "rows about its fact that it opens of its own accord", 0.0, 100.0),
    "complies": Param(1.0, "1", "probability of doing as told when it is blocked", 0.0, 1.0),
    "attempts": Param(3.0, "tries", "blocks after which a turn is given up, its action never released", 1.0, 100.0),
    "half_life": Param(10.0, "turns", "turns in which the share of rules in its context halves (forgets_rules)", 0.01, 1e9),
    "reanchor_every": Param(0.0, "turns", "turns from one reminder of the rules to the next; 0 never", 0.0, 1e9),
    "compact_every": Param(0.0, "turns", "turns from one emptying of its context to the next; 0 never", 0.0, 1e9),
    "recalls": Param(0.0, "1", "probability of going by what it last saw itself, while that is in its context", 0.0, 1.0),
    "updates": Param(0.0, "1", "probability of verifying a cell acted on and seen to be right: an update", 0.0, 1.0),
    "least_sources": Param(0.0, "writers", "writers who must say what it acts on, or the stop hook refuses it", 0.0, 1e3),
    "sure_above": Param(1.0, "1", "stated confidence above which the stop hook refuses what nobody verified", 0.0, 1.0),
    "audit_every": Param(0.0, "turns", "turns from one look of an outside verifier at the last turns to the next", 0.0, 1e9),
    "audit_accuracy": Param(0.95, "1", "accuracy of that look", 0.0, 1.0),
    "ops": Param(8.0, "ops", "most ops it has wired at a time (writes_ops)", 1.0, 64.0),
    "watch_below": Param(0.6, "1", "effective below which its watch fires (writes_ops)", 0.0, 1.0),
    "drift_beyond": Param(0.1, "1", "change of effective beyond which its drift fires (writes_ops)", 0.0, 1.0),
    "falls_by": Param(0.02, "1/d", "fall of effective at which its trend fires (writes_ops)", 0.0, 1.0),
    "slips": Param(0.0, "1", "probability that an op it writes does not parse (writes_ops)", 0.0, 1.0),
    "limit": Param(10.0, "lines", "most lines of a mini-index", 1.0, 1_000.0),
    "budget_words": Param(900.0, "words", "most words of a mini-index", 1.0, 1e6),
}


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reader agent: its behaviour and its numbers. Units, bounds and meanings are in `PARAMS`.

    `banned` lists values that no action may have, separated by blanks. `rank_by` names a derived value of cells, such as
    `cell-derived-triage`, that is added to the rank of lines in its push. The reader asks within `scope`: it is shown
    facts of everybody, of that scope, and shared with that scope.
    """

    behaviour: Behaviour = "obedient"
    trust: Trust = "effective"
    act_above: float = 0.3
    skill: float = 0.9
    observes: float = 1.0
    wants: float = 1.0
    complies: float = 1.0
    attempts: float = 3.0
    half_life: float = 10.0
    reanchor_every: float = 0.0
    compact_every: float = 0.0
    recalls: float = 0.0
    updates: float = 0.0
    least_sources: float = 0.0
    sure_above: float = 1.0
    audit_every: float = 0.0
    audit_accuracy: float = 0.95
    banned: str = ""
    rank_by: str = ""
    scope: str = ""
    ops: float = 8.0
    watch_below: float = 0.6
    drift_beyond: float = 0.1
    falls_by: float = 0.02
    slips: float = 0.0
    limit: float = 10.0
    budget_words: float = 900.0

    def __post_init__(self) -> None:
        checked({name: getattr(self, name) for name in PARAMS}, PARAMS, where="reader")
        words = (("behaviour", self.behaviour, tuple(POLICIES)), ("trust", self.trust, ("effective", "effective*currency")))
        for name, given, allowed in words:
            if given not in allowed:
                raise ScenarioError("unknown word", where=f"reader.{name}", given=given, allowed=", ".join(allowed))

    @property
    def checks_output(self) -> bool:
        return bool(self.banned) or self.least_sources > 1.0 or self.sure_above < 1.0

    @property
    def policy(self) -> Policy:
        return POLICIES[self.behaviour]
