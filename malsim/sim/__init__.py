"""The simulator: the only part that knows time, chance and SimPy.

`bench` makes a run of `settings` in a `world`: `writers` and `engine` write, `agent` reads, `context` is what they share,
`record` is what is kept, `why` its causes.
"""
