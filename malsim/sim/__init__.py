"""Simulator, the only package that handles time, random draws and SimPy.

`bench` runs `settings` in a `world`: `writers` and `engine` write, `agent` reads, `context` is shared by them, `record`
keeps the results, and `why` explains them.
"""
