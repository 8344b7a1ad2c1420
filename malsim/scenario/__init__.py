"""Scenario files: read, validated, and judged."""
