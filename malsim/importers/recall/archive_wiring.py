"""Netlist kept in a store, beside the cells of an archive or a database in Recall's format."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from malsim.memory.tables.standing_parts import Standing

WIRING = "malsimWiring"  # a key of an archive, a table of a database


def wiring_object(standing: Standing) -> dict[str, str]:
    """Return the standing netlist as texts: source, state kept between ticks, and lines for the next push."""
    state = base64.b64encode(standing.state).decode()
    return {"text": standing.text, "state": state, "lines": json.dumps(standing.lines.get(0, ()))}


def wiring_of(given: Any) -> Standing | None:
    """Return the netlist of a wiring object, or None if it holds none; a netlist with a damaged state starts afresh.

    >>> wiring_of(wiring_object(Standing(text="loadrt watch names=low", state=b"1"))).state
    b'1'
    """
    if not isinstance(given, dict) or not isinstance(given.get("text"), str) or not given["text"]:
        return None
    try:
        state = base64.b64decode(given.get("state", ""), validate=True)
        lines = json.loads(given.get("lines", "[]"))
    except (binascii.Error, TypeError, ValueError, RecursionError):
        return Standing(text=given["text"])
    good = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    return Standing(text=given["text"], state=state, lines={0: tuple(lines)} if good and lines else {})
