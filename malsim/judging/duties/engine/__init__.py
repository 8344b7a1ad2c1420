"""Engine of the duties: steps and cells, draws, playing, and verdicts."""
