"""Tests that every public call with a time or a weight refuses NaN and infinity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from malsim.base.errors import UsageError
from malsim.memory import Memory, admit, effective_at, settle, tick
from malsim.memory.gate.edit import connect, update
from malsim.memory.push.ten_cells import bootstrap, prime
from malsim.memory.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CLAIM = {"writer": "ann", "kind": "obs", "title": "z", "confidence": 0.5}
EDGE = {"writer": "ann", "source": "dec_a3ee", "target": "obs_a1a1", "relation": "supports"}
TWO = [{**CLAIM, "kind": "dec", "handle": "dec_a3ee", "title": "t"}, {**CLAIM, "handle": "obs_a1a1", "title": "u"}]
MEMORY = admit(Memory.empty(), TWO).memory
NUMBERS = pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
TIMES = pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, "x", 10**400], ids=lambda number: str(number)[:5])

RAISES: dict[str, Callable[[Any], object]] = {
    "tick": lambda number: tick(MEMORY, number),
    "settle": lambda number: settle(MEMORY, number),
    "effective_at": lambda number: effective_at(MEMORY, number),
    "expand": lambda number: MEMORY.expand("dec_a3ee", now=number),
    "mini_index": lambda number: MEMORY.mini_index("t", now=number),
    "bootstrap": lambda number: bootstrap(Memory.empty(), t=number),
    "prime": lambda number: prime(MEMORY, MEMORY, t=number),
    "update": lambda number: update(MEMORY, "dec_a3ee", now=number, body="x"),
    "update expires": lambda number: update(MEMORY, "dec_a3ee", now=1.0, expires=number),
}
REFUSES: dict[str, Callable[[float], str]] = {
    "confidence": lambda number: admit(MEMORY, [CLAIM | {"confidence": number}]).verdicts["verdict"][0],
    "time": lambda number: admit(MEMORY, [CLAIM | {"t": number}]).verdicts["verdict"][0],
    "weight": lambda number: admit(
        MEMORY, [CLAIM | {"edges": [{"relation": "supports", "target": "dec_a3ee", "weight": number}]}]
    ).verdicts["verdict"][0],
    "edge weight": lambda number: connect(MEMORY, [EDGE | {"weight": number}]).verdicts["verdict"][0],
    "edge time": lambda number: connect(MEMORY, [EDGE | {"t": number}]).verdicts["verdict"][0],
    "factor": lambda number: admit(MEMORY, [CLAIM], factors={"ann": number}).verdicts["verdict"][0],
}
OF_STORES: dict[str, Callable[[Store, Any], object]] = {
    "tick": lambda store, number: store.tick(number),
    "at": lambda store, number: store.at(number),
    "save": lambda store, number: store.save(store.memory, t=number),
    "expand": lambda store, number: store.expand("dec_a3ee", now=number),
    "mini_index": lambda store, number: store.mini_index("t", now=number),
    "update": lambda store, number: store.update("dec_a3ee", writer="ann", now=number, body="x"),
}


@TIMES
@pytest.mark.parametrize("entry", RAISES)
def test_call_refuses_a_non_finite_number(entry: str, number: Any) -> None:
    with pytest.raises(UsageError, match="not a finite number"):
        RAISES[entry](number)


@pytest.mark.parametrize("entry", ["tick", "settle", "effective_at", "update"])
def test_time_none_is_refused(entry: str) -> None:
    with pytest.raises(UsageError, match="not a finite number"):
        RAISES[entry](None)


@NUMBERS
@pytest.mark.parametrize("entry", REFUSES)
def test_gate_refuses_a_non_finite_number(entry: str, number: float) -> None:
    assert REFUSES[entry](number) == "refused"


@pytest.mark.parametrize("entry", OF_STORES)
def test_store_refuses_a_non_finite_number(entry: str, tmp_path: Path) -> None:
    with Store(tmp_path / "m.sqlite") as store:
        store.admit(TWO)
        for number in (math.nan, math.inf, -math.inf, "x", 10**400, *([None] if entry in ("tick", "at", "update") else [])):
            with pytest.raises(UsageError, match="not a finite number"):
                OF_STORES[entry](store, number)
        assert store.ticks["deed"].to_list() == ["admit"]
