"""Cells of Recall's databases from before 0.6, in the form that later versions use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_KINDS = {
    "observation": "obs", "verification_result": "ver", "benchmark_run": "ver", "witness": "ver", "decision": "dec",
    "reflection": "ref", "source": "ref", "lemma": "bel", "preference": "bel", "risk": "rsk", "task": "tsk",
    "hypothesis": "hyp", "objective": "obj",
}  # fmt: skip


def cell_of(node: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `graph_nodes` as a cell; what it does not say is left out.

    >>> node = {"id": "n1", "kind": "decision", "title": "ship", "data_json": '{"confidence": {"value": 0.8}}'}
    >>> cell_of(node)["kind"], cell_of(node)["scores"]["conf"]
    ('dec', 0.8)
    """
    data, provenance, tags = (_object(node.get(f"{name}_json")) for name in ("data", "provenance", "tags"))
    kind = _KINDS.get(str(node.get("kind")), "obs")
    confidence = data.get("confidence")
    stated = confidence.get("value") if isinstance(confidence, Mapping) else None
    stated = stated if isinstance(stated, (int, float)) and 0 < stated <= 1 else 0.5
    key = str(node.get("id", ""))
    digits = "".join(digit for digit in key.lower() if digit in "0123456789abcdef")
    texts = {name: node[name] for name in ("title", "body", "summary", "status") if isinstance(node.get(name), str)}
    return {
        "key": key,
        "handle": f"{kind}_{digits[:4]:0<4}",
        "kind": kind,
        "owner": provenance.get("produced_by"),
        "scores": {"conf": stated, "effective": stated},
        "provenance": {"producedBy": provenance.get("produced_by")},
        "tags": tags,
        "createdAt": node.get("created_at"),
        "updatedAt": node.get("updated_at"),
        **texts,
    }


def _object(text: object) -> dict[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        value = {}
    return value if isinstance(value, dict) else {}
