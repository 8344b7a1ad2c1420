"""Settings of a simulation: frozen, without behaviour."""
