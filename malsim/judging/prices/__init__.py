"""Cost of making a memory believe a lie, and of correcting the memory with the truth, in claims, identities and days."""

from malsim.judging.prices.prices import Price, PriceTable
from malsim.judging.prices.pricing import price, price_of, standing_world
from malsim.judging.prices.worlds import STRATEGIES, WAYS, ClaimWorld, closed_world

__all__ = ["STRATEGIES", "WAYS", "ClaimWorld", "Price", "PriceTable", "closed_world", "price", "price_of", "standing_world"]
