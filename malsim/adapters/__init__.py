"""Adapters to users' memories: the interface of their calls, loading by name, and limits on the calls."""

from malsim.adapters.contract import Claim, DutifulMemory, Edge, Item, Query, UserMemory

__all__ = ["Claim", "DutifulMemory", "Edge", "Item", "Query", "UserMemory"]
