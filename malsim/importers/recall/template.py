"""Recall's write template: a field that still holds its own instruction was never filled."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

__all__ = ["template_issues"]

# First 16 hex digits of the SHA-256 of each field's instruction (Recall, Apache-2.0), in its order of fields.
_INSTRUCTIONS = {
    "kind": "ab216756f1642c22", "title": "b115a9e12332fd09", "body": "f62c93a1435050aa",
    "confidence": "3da196ea7a060868", "value": "c4e53c18691f6708", "topics": "e1e7b6d994b01499",
    "entities": "dbb72cc8134492cd", "lifecycle": "625ec0ca00385485", "quality": "c8b602b6f3c0aadf",
    "subject": "a88d55d5b6165e6c", "edges": "4e5dcc7ad6df4a7d", "sourceRefs": "dcba70e5cdc51b57",
    "uncertainty": "3ee2ae93da302973", "concern": "3ee2ae93da302973", "operation": "a1bed269b3e95a88",
    "origin": "4f0267b5401ec756", "verification": "2ebaa3b6a4b57577", "sensitivity": "b3c179bf4f9d4627",
    "stability": "eda0cf9d24d27efd", "expiresAt": "7963a8599a6a8c5e", "reverifyAfter": "a3b772c1ca508414",
    "flags": "f2a367a1cf09b678", "props": "bfccad8456d8ca6b", "programs": "f6236f5d37be9f36",
    "hyperedges": "2356b172000f71d3", "summary": "083e3b06da79bb37", "owner": "2007dae3eaa203fb",
    "project": "24b83ce3cd9968d6", "tenant": "6984a7239526414a",
}  # fmt: skip


def template_issues(given: Mapping[str, Any], *, complete: bool) -> list[dict[str, str]]:
    """Issues for every field that holds its instruction, and under `complete` for every field left out, or no edge at all.

    >>> [issue["path"] for issue in template_issues({"owner": "actor id", "title": "the pump failed"}, complete=False)]
    ['owner']
    """
    issues = []
    for field, digest in _INSTRUCTIONS.items():
        value = given.get(field)
        if complete and field not in given:
            issues.append({"path": field, "message": "must be given; null where it does not apply"})
        elif isinstance(value, str) and sha256(value.strip().encode("utf-8", "replace")).hexdigest()[:16] == digest:
            issues.append({"path": field, "message": "still holds its instruction"})
    edges = given.get("edges")
    if complete and not (isinstance(edges, list) and edges):
        issues.append({"path": "edges", "message": "must hold at least one edge"})
    return issues
