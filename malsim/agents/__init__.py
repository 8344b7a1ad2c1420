"""Store in use by a real agent: a server of its calls, hooks for its turns, and a recorder of any memory's traffic."""
