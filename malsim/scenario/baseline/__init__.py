"""Baselines: recorded frames and the tolerances that later runs must stay within."""
