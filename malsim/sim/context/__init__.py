"""State shared by the actors of a run: the memory's snapshot, the reader's turn, the event log and the counters."""
