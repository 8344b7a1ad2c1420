"""Hypothesis for every test: no clock, and the same examples each run; HYPOTHESIS_PROFILE=search looks further."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
