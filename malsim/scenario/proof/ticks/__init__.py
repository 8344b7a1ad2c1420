"""Unrolling of a net over ticks in solver terms, and evaluation of properties on the result."""
