"""Studies over many runs: replications, stability, tuning, sweeps."""
