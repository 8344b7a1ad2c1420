"""SimPy processes written by users, and built-in actors that act between ticks."""
