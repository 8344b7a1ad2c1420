"""Self-contained HTML pages of runs, suites and tripwires."""
