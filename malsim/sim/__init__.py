"""The simulator: the only folder that knows time, chance and SimPy."""
