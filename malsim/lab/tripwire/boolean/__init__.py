"""Analysis of a tripwire's Boolean part without running a scenario: states, truth table, coverage, and faults."""
