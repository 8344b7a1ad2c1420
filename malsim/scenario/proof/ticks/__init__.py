"""Unrolling of a net over ticks into solver terms, and evaluation of properties on the unrolled net."""
