"""Serve a store to agents, answer their hooks, and record their traffic with a memory."""

HEADING = "agents"
