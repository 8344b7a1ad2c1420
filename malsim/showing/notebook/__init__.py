"""Self-grading exercises of the notebooks."""
