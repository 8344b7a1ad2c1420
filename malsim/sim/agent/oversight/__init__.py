"""Oversight of the reader: reviewers, triage of disputes, and output checks."""
