"""What a run prints of its figures, and which failures it takes."""

from __future__ import annotations

from typing import Any

import pytest

import malsim as ms
from malsim.base.errors import UsageError
from malsim.sim import run as run_module


@pytest.mark.parametrize("given", ["unknown", {"unknown": ValueError("x")}])
def test_without_accepts_failures_by_number_only(given: Any) -> None:
    run = ms.run("scenarios/mutual_dispute.toml", days=3)
    with pytest.raises(UsageError, match="not a mapping from replication numbers"):
        run.without(given)
    assert run.without({}) is run


def test_uninformative_interval_becomes_a_sentence() -> None:
    wide = {"metric": "cells", "value": 2.0, "low": 0.0, "high": 106779.239, "replications": 2}
    assert "too wide with 2 replications" in run_module._interval(wide)  # no run of ours is so wide
    assert run_module._interval(wide | {"high": 3.0}) == " [0.000, 3.000]"  # the same
