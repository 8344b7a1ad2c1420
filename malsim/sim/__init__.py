"""Simulator, the only package that handles time, random draws and SimPy.

`bench` runs a scenario (`settings`) in a `world`. `writers` and `engine` write claims, `agent` reads, and `context` is
shared by both. `record` stores the results, and `why` explains them.
"""
