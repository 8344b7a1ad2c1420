"""Running of plots: steps and cells, draws, playing, verdicts, and their display."""
