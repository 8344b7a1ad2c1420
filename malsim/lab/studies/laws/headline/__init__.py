"""Does a memory see that a truth changed, also where others repeat what they once heard? Many worlds, not one lucky one."""

from malsim.lab.studies.laws.headline.pass_table import HeadlineTable
from malsim.lab.studies.laws.headline.study import headline
from malsim.lab.studies.laws.headline.world import HeadlineWorld, worlds

__all__ = ["HeadlineTable", "HeadlineWorld", "headline", "worlds"]
