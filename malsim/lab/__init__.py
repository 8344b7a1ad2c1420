"""Studies over many runs, with one folder per kind of study.

- `space`: settings, search spaces and designs; `studies`: replications, sweeps, comparisons of scenarios and of laws.
- `stability`: oscillation of the tick; `sensitivity`, `tuning`: effects and search of settings; `decay`: time constants.
- `falsify`: search for runs that break a property; `incident`: causes of a wrong answer; `tripwire`: design of alarms.
- `shell` and `workbench`: interactive sessions.
"""
