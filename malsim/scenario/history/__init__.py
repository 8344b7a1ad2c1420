"""History of a store or an imported memory, judged like a run."""
