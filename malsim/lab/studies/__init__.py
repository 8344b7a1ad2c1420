"""Studies over many runs: replications, comparisons, sweeps, laws and real claims."""
