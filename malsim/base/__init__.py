"""Basics that all folders may use: errors, number checks, limits, atomic file writes, safe printing of text."""
