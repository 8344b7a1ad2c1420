"""A memory of the user's own behind four calls: what they take and give, how one is loaded, how calls are watched."""

from malsim.adapters.contract import Claim, Edge, Item, Query, UserMemory

__all__ = ["Claim", "Edge", "Item", "Query", "UserMemory"]
