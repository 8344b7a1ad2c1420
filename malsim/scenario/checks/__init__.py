"""Kinds of check: properties, alarms, bounds of metrics, proofs, and recorded baselines."""
