"""Self-grading exercises for notebooks."""
