"""What runs the plots: steps and cells, draws, playing, verdicts, and the ways to show them."""
