"""A tripwire in recorded runs: what it saw, how it scored, how sure that is, and what its silence is worth."""
