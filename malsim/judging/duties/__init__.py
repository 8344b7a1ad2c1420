"""Duties of a memory: lasting corrections, complete forgetting, separate scopes, two clocks, authority.

A family a file: its plots, in the symbols x, A, ann. `engine` draws names and gaps, plays them and judges; `references` are
the memories that the suite itself is tried on.
"""

from malsim.judging.duties.engine.assess import assess, check
from malsim.judging.duties.engine.assessment import Conformance

__all__ = ["Conformance", "assess", "check"]
