"""Kinds of check: a property, an alarm, bounds of a metric or a series, a recorded band."""
