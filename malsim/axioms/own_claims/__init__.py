"""Streams drawn from a store's claims instead of made up: the axioms put to a law on claims of one's own."""

from malsim.axioms.own_claims.own_histories import History, histories
from malsim.axioms.own_claims.own_pick import on_claims

__all__ = ["History", "histories", "on_claims"]
