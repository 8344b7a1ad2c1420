"""SimPy processes in a run: a user's own beside the batch, and the shipped actors one by one."""
