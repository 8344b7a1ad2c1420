"""The simulator: the only part that knows time, chance and SimPy.

`bench` makes a run of `settings`; `engine` holds who writes, `agent` who reads, `record` what is kept, `why` its causes.
"""
