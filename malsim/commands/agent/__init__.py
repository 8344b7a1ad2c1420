"""Serve a store to agents, answer their hooks, and record their traffic with memory servers."""

HEADING = "agents"
