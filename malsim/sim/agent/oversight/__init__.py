"""Reviewers, triage and output checks."""
