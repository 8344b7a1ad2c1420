"""The text itself: its words, addresses and statements, read and written, with no op and no memory known."""
