"""Streams drawn from a store's claims instead of made-up ones, to test axioms on a user's own claims."""

from malsim.judging.axioms.own_claims.own_histories import ObjectClaims, histories
from malsim.judging.axioms.own_claims.own_pick import on_claims

__all__ = ["ObjectClaims", "histories", "on_claims"]
