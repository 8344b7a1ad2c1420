"""Foundations that all other folders use: errors, number checks, limits, atomic file writes, safe display of text."""
