"""Basics for all folders: errors, checks of numbers, limits, atomic file writes, safe display of text."""
