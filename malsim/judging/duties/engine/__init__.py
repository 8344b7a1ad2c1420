"""Duty engine: steps and cells, random draws, playback, and verdicts."""
