"""Settings by dotted name, the spaces they span, and designs over them."""
