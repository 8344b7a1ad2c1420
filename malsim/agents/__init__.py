"""Use of a store by a real agent: an MCP server, hooks for the agent's turns, and a recorder for any memory's traffic."""
