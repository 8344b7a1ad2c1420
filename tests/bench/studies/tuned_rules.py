"""The default rules, simpler ones and tuned ones on real claims, on objects that tuning did not see, against the vote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import malsim as ms
from malsim.memory import Rules
from tests.docs.page_figures import DATA

if TYPE_CHECKING:
    from tests.bench.studies import Row

SETS = ("llm_boolq", "snow_rte", "zencrowd_us", "polls_seats_to_2012")
LIGHT = Rules(weight_supports=0.1, weight_contradicts=0.1)
LAWS = {
    "defaults": Rules(),
    "no calibration": Rules(calibration="none"),
    "weights 0.1": LIGHT,
    "weights 0.1, no calibration": LIGHT.replace(calibration="none"),
    "tuned": Rules.read("scenarios/rules/tuned_on_claims.toml"),
}


def rows(seed: int) -> list[Row]:
    """Accuracy and Brier score of each, mean over the sets; the seed halves their objects, that of tuning is 0."""
    frame = ms.compare_laws([DATA / name for name in SETS], LAWS, seed=seed).frame
    return frame.rename({f"over_{end}": f"over_majority_{end}" for end in ("low", "high")}).to_dicts()
