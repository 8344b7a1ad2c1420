"""Baselines: recorded frames, and the permitted distance of a later run from them."""
