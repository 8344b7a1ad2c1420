"""Reading, running and judging of scenario files."""
