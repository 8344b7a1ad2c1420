"""Canonical JSON and what is hashed of it: equal contents have one hash, whoever writes them and however they are spelt."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from malsim.base.errors import UsageError

_WHOLE = 2.0**53  # whole numbers up to here are exact as floats


def canonical(value: object, *, where: str = "value") -> str:
    """Return a value as JSON with sorted keys and no blanks; 2.0 is written as 2.

    Raises `UsageError` for values that JSON cannot hold: NaN, infinities, other objects, cycles.

    >>> canonical({"b": 2.0, "a": [True, None, "é"]})
    '{"a":[true,null,"é"],"b":2}'
    """
    try:
        return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise UsageError(
            "JSON does not hold it", where=where, given=value, allowed="texts, finite numbers, lists …"
        ) from problem


def content_hash(*parts: object, **fields: object) -> str:
    """Return the SHA-256, in hexadecimal, of the canonical JSON of parts (a list) or fields (an object)."""
    return hashlib.sha256(canonical(fields or list(parts)).encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() and abs(value) <= _WHOLE else value
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("keys of an object are texts")
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
