"""Truth discovery: the arithmetic of the law `records` on arrays."""
