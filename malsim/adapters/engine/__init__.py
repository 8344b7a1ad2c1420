"""Users' memories inside a run: their processes, the wording of calls, and the items in their answers."""
