"""A memory of the user's own behind its calls: what they take and give, how one is loaded, how calls are watched."""

from malsim.adapters.contract import Claim, DutifulMemory, Edge, Item, Query, UserMemory

__all__ = ["Claim", "DutifulMemory", "Edge", "Item", "Query", "UserMemory"]
