"""Users' memories in the loop: their calls, the wording of the calls, and the items that the harness sees."""
