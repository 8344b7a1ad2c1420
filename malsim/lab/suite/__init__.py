"""What a suite of scenarios holds to: what changed against its baselines, and which faults its checks notice."""
