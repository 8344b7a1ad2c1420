"""Costs of a lie to a memory's adversaries, and of the truth to its friends: claims, identities and days."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from malsim.judging.prices.prices import Price, PriceTable
from malsim.judging.prices.pricing import price, price_of, standing_world
from malsim.judging.prices.strategies import STRATEGIES, WAYS
from malsim.judging.prices.worlds import ClaimWorld, closed_world

__all__ = ["STRATEGIES", "WAYS", "ClaimWorld", "Price", "PriceTable", "closed_world", "price", "price_of", "standing_world"]


class _Callable(ModuleType):
    """Callable package: both `ms.price("majority")` and `from malsim.judging.prices import ClaimWorld` work."""

    def __call__(self, *memories: Any, **settings: Any) -> PriceTable:
        return price(*memories, **settings)


__signature__ = inspect.signature(price)  # what help and Shift-Tab show of it
sys.modules[__name__].__class__ = _Callable
