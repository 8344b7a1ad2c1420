"""Serve a store to agents, answer their hooks, and record what they say to a memory."""

HEADING = "agents"
