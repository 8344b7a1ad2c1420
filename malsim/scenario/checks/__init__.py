"""Kinds of checks: properties, alarms, bounds on metrics, proofs and baselines."""
