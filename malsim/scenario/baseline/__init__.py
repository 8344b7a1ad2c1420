"""Baselines: recorded frames, and the tolerances within which later runs must stay."""
