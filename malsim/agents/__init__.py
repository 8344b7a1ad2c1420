"""Memory under a real agent: a server of its calls, the hooks of its turn, a recorder of any memory's traffic."""
