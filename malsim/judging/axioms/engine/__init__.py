"""Engine of the axioms: events, memories to play them to, the search for a witness, and the table of verdicts."""
