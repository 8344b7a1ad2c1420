"""Adapters to users' memories: the call interface, loading by name, and limits on calls."""

from malsim.adapters.contract import Claim, DutifulMemory, Edge, Item, Query, UserMemory

__all__ = ["Claim", "DutifulMemory", "Edge", "Item", "Query", "UserMemory"]
