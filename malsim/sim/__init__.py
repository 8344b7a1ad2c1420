"""The simulator: the only part that knows time, chance and SimPy.

`bench` runs `settings` in a `world`: `writers` and `engine` write, `agent` reads, `context` is shared by them, `record`
keeps the results, and `why` explains them.
"""
