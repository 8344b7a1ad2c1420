"""Duties of a memory: lasting corrections, complete forgetting, separate scopes, two clocks, and authority.

`plots` defines the cells, `engine` draws names and gaps, plays the plots and judges the results, and `references` has
memories that test the suite itself.
"""

from malsim.judging.duties.engine.assessment import Conformance, assess, check

__all__ = ["Conformance", "assess", "check"]
