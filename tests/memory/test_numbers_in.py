"""Times, weights and shares that callers give are finite numbers; updates pass the screen and have an author."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from malsim.base.errors import UsageError
from malsim.base.screen.credentials import stand_in
from malsim.memory import Memory, admit, tick
from malsim.memory.gate.edit import update
from malsim.memory.store import Store

if TYPE_CHECKING:
    from pathlib import Path

CLAIM: dict[str, Any] = {"handle": "obs_a1a1", "writer": "ann", "title": "x", "confidence": 0.5}


@pytest.mark.parametrize("now", [math.nan, math.inf, -math.inf, "x", None, 10**400])
def test_a_time_is_a_finite_number(now: Any, tmp_path: Path) -> None:
    memory = admit(Memory.empty(), [CLAIM]).memory
    with Store(tmp_path / "a.db") as store:
        store.admit([CLAIM])
        before = store.ticks.height
        with pytest.raises(UsageError, match="not a finite number"):
            store.tick(now)
        with pytest.raises(UsageError, match="not a finite number"):
            store.at(now)
        if now is not None:
            with pytest.raises(UsageError, match="not a finite number"):
                store.expand("obs_a1a1", now=now)
        assert store.ticks.height == before
    with pytest.raises(UsageError, match="not a finite number"):
        tick(memory, now)
    with pytest.raises(UsageError, match="not a finite number"):
        update(memory, "obs_a1a1", now=now, body="z")


def test_an_update_passes_the_screen_and_has_an_author(tmp_path: Path) -> None:
    token = stand_in("GitHub token")
    memory = admit(Memory.empty(), [CLAIM | {"sensitivity": "public"}]).memory
    for fields in ({"body": f"use {token}"}, {"topics": ["a", token]}, {"writer": token, "body": "z"}):
        with pytest.raises(UsageError, match="screen: possible GitHub token") as refused:
            update(memory, "obs_a1a1", now=1.0, **fields)
        assert token not in str(refused.value)
    with pytest.raises(UsageError, match="email address"):
        update(memory, "obs_a1a1", now=1.0, summary="ask ann@example.org")
    with pytest.raises(UsageError, match="nobody is named"):
        update(memory, "obs_a1a1", now=1.0, verification="checked")
    with Store(tmp_path / "a.db") as store:
        store.admit([CLAIM])
        store.tick(5.0)
        after = store.update("obs_a1a1", writer="bob", now=6.0, body="the pump was replaced")
        assert after.cells["touched"][0] == 6.0
        assert store.memory.cells["body"][0] == "the pump was replaced"
