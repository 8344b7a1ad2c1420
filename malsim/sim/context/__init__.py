"""State shared by all parts of a run: the memory's snapshot, the reader's turn, the event log and the counters."""
