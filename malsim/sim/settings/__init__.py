"""Settings of a simulation: immutable classes without behaviour."""
