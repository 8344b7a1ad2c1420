"""The op palette: one short file an op."""
