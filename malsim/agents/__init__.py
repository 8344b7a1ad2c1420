"""Tools for using a store from a real agent: an MCP server, hooks for its turns, and a recorder of memory traffic."""
