"""Streams drawn from a store's claims instead of made up: the axioms put to a law on claims of one's own."""

from malsim.judging.axioms.own_claims.own_histories import ObjectClaims, histories
from malsim.judging.axioms.own_claims.own_pick import on_claims

__all__ = ["ObjectClaims", "histories", "on_claims"]
