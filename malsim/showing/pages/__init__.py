"""Pages that open from a disk without a network: a judged suite, a tripwire's scorecard."""
