"""Figures of netlists, ops and tripwires."""
