"""Studies over many runs: replications, comparisons, sweeps, mutants, real claims."""
