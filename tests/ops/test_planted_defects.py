"""Test that the shared tests of ops detect planted defects."""

from __future__ import annotations

import sys
from inspect import signature
from typing import TYPE_CHECKING

import pytest

import ops
from tests.ops import test_every_op as suite

if TYPE_CHECKING:
    from pathlib import Path

SUM_UP = '''"""Add a signal up.

    out += in;  0 while reset

Source: a test.

>>> function(np.array([4.0]), np.array([False]), np.array([1.0]))["out"].tolist()
[5.0]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("1", "what is added", nan="sticks")
reset = In("bit", "begin again")
out = Out("1", "the sum; the op's whole state")


def function(in_: Array, reset: Array, out: Array) -> dict[str, Array]:
    return {"out": np.where(reset, 0.0, out + in_)}
'''
OF_SOME = {"test_bad_output_is_true_where_the_input_is_nan"}  # this test applies only to ops with an output `bad`
SUMMED = "np.where(reset, 0.0, out + in_)"


def failed(name: str) -> list[str]:
    """Return the shared tests that fail for the op `name`, among those whose only parameter is `name`."""
    tests = {key: test for key, test in vars(suite).items() if key.startswith("test_") and key not in OF_SOME}
    wrong = []
    for key, test in tests.items():
        if [*signature(test).parameters] == ["name"]:
            try:
                test(name)
            except AssertionError:
                wrong.append(key)
    return wrong


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (SUMMED, None),
        ("out + in_", "test_reset_clears_the_state"),
        ("np.where(reset, 1.0, out + in_)", "test_reset_restores_the_initial_state"),
        ("np.where(reset, out * 0.5, out + in_)", "test_reset_clears_the_state"),
        ("np.where(reset, 0.0, out + np.nan_to_num(in_))", "test_nan_is_handled_as_the_data_sheet_states"),
        ("np.where(reset, 0.0, np.nansum([out, in_], axis=0))", "test_nan_is_handled_as_the_data_sheet_states"),
        (
            "np.array([0.0 if r else o + i for r, o, i in zip(reset, out, in_)])",
            "test_op_does_not_loop_over_rows",
        ),
        (
            "np.vectorize(lambda r, o, i: 0.0 if r else o + i)(reset, out, in_)",
            "test_op_does_not_loop_over_rows",
        ),
        ("np.where(reset, 0.0, out + in_) + 0 * in_[0]", "test_rows_are_independent"),
    ],
)
def test_planted_defect_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str | None) -> None:
    name = "sum-up"
    (tmp_path / "sums_up.py").write_text(SUM_UP.replace(SUMMED, body), encoding="utf-8")
    about = tmp_path / "sums_up-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sums_up\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[malsim.ops]\n{name} = sums_up\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sums_up", raising=False)
    assert name in ops.names()
    wrong = failed(name)
    assert wrong == [] if message is None else message in wrong
