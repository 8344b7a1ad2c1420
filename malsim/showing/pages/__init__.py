"""Self-contained HTML pages for runs, suites and tripwires."""
