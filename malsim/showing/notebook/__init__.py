"""What notebooks use: sliders over a run, and exercises that grade themselves."""
