"""Analysis of recorded tripwire runs: signals, scores with intervals, reference charts, and evidence from silence."""
