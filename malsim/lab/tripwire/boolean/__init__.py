"""The Boolean part of a tripwire, without running a scenario: states, truth table, coverage, statics."""
