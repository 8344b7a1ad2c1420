"""Readers, which select the answer among a memory's items: choice by name, use in a run, and errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import malsim as ms
from malsim.adapters.engine.adapter import Adapter
from malsim.adapters.load import load_factory
from malsim.adapters.readers import READERS
from malsim.base.errors import AdapterError
from malsim.cli import main

POISONER = Path(__file__).parents[2] / "scenarios/poisoner.toml"
LOG, LAST = (f"tests.adapters.user_memories:{name}" for name in ("Log", "Last"))
ITEMS = st.lists(
    st.fixed_dictionaries(
        {"rank": st.floats(0.0, 1.0), "value": st.sampled_from("AB"), "valid_from": st.none() | st.floats(0.0, 9.0)}
    ),
    max_size=8,
)


@given(ITEMS, st.randoms(use_true_random=False))
def test_reader_does_not_depend_on_the_order_of_items(items: list[dict[str, Any]], draw: Any) -> None:
    shuffled = draw.sample(list(enumerate(items)), len(items))
    for reader in READERS.values():
        try:
            ranks = reader(items)
        except AdapterError:
            assert all(item["valid_from"] is None for item in items)
            continue
        again = reader([item for _, item in shuffled])
        if ranks is None:
            assert again is None
            continue
        assert again == [ranks[index] for index, _ in shuffled]
        assert len(ranks) == len(items)
        assert not items or max(ranks) > 0.0


def accuracy(memory: str) -> Sequence[float]:
    run = ms.run(POISONER, memory=Adapter.of(memory), days=30.0, replications=3)
    assert not run.failures
    return run.signals.filter(signal="right")["value"].to_list()


def test_newest_reader_selects_the_last_claim_of_a_log() -> None:
    assert accuracy(f"newest/{LOG}") == accuracy(LAST) != accuracy(f"top/{LOG}")


def test_newest_reader_needs_dates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(POISONER), "--no-plots", "--memory", f"newest/{LAST}", "--replications", "1"]) == 2
    assert "no item has a date" in capsys.readouterr().err
    with pytest.raises(AdapterError, match="no such reader; given: 'oldest'; allowed: top"):
        load_factory(f"oldest/{LAST}")
