"""The people to whom disputed cells are escalated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from malsim.base.errors import ScenarioError
from malsim.base.parameters import refuse_out_of_bounds
from malsim.sim.world.clock import read_spans

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
                raise ScenarioError("only under a policy", where=f"reviewers.{key}", given=getattr(self, key), hint=hint)


MOST_WEEKLY = 1e6
