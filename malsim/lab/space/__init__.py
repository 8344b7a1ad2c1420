"""Settings by dotted name, search spaces, and designs over them."""
