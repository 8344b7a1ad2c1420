"""Truth discovery: array computations for the law `records`."""
