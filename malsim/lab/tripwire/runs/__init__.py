"""Tripwires in recorded runs: their signals, scores with intervals, reference charts, and the value of their silence."""
