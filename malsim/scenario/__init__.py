"""Reading, running and judging scenario files."""
