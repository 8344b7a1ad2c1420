"""Users' memories inside a run: their processes, the wording of their calls, and the items that they show."""
