"""Test that every speed ratio stays within its limit. Off by default; run it with `pytest tests/bench -n 0`."""

from __future__ import annotations

import pytest

from tests.bench.rows.ratios import Ratio, every_row


@pytest.fixture(scope="module")
def rows() -> list[Ratio]:
    return list(every_row(left_out=print))


def test_speed_ratios_to_references_stay_within_limits(rows: list[Ratio]) -> None:
    assert rows
    assert [f"{row.name}: {row.ratio:.2f} against {row.limit}" for row in rows if not row.ok] == []
