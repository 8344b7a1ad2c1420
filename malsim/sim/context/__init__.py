"""What all actors of a run share: the memory as a snapshot, the reader's turn, the log of events, counters."""
