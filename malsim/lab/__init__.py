"""Studies over many runs, with one folder per kind of study.

- `space`: settings, search spaces and designs; `studies`: replications, comparisons, sweeps, and laws on the same claims.
- `stability` of the tick; `sensitivity` to settings; `tuning` of settings; `decay`: time constants from logs.
- `falsify`: search for a break of a property; `incident`: reduction of a wrong answer; `tripwire`: design of alarms.
- `shell` and `workbench`: sessions by hand.
"""
