"""Users' SimPy processes, and the shipped actors that run between two ticks."""
