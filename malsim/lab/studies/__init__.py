"""Studies over many runs: replications, comparisons, sweeps, and tests of laws on real claims."""
