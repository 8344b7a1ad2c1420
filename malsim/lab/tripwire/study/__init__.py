"""Studies of a tripwire: the scorecard, its mutants and faults, comparison, and design from targets."""
