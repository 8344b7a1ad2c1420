"""Times and confidences of claim files as people write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from malsim.base.errors import DataError
from malsim.sim.writers.engine.claim_files import read_claims

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, *rows: str) -> Path:
    path = folder / "claims.csv"
    path.write_text("\n".join(["time,writer,object,value,stated_confidence", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("first", "second", "days"),
    [
        ("2008-06-20 06:46:23+00:00", "2008-06-21 06:46:23+00:00", 1.0),
        ("2008-06-20T06:00:00+02:00", "2008-06-20T06:00:00Z", 2 / 24),
        ("2008-06-20T06:00:00-0530", "2008-06-20T12:30:00+0100", 0.0),
        ("2008-06-20 06:00", "2008-06-22 18:00", 2.5),
        ("1999", "2000", 365.0),
        ("2008-W25", "2008-W26", 7.0),
        ("2008-W25-1", "2008-W25-3", 2.0),
        ("12.5", "13", 0.5),
    ],
)
def test_common_time_formats_are_read(tmp_path: Path, first: str, second: str, days: float) -> None:
    path = written(tmp_path, f"{first},a,x,1,", f"{second},a,x,2,")
    assert read_claims(path).claims["time"].to_list() == pytest.approx([0.0, days])


def test_confidences_of_0_and_1_are_clipped_and_counted(tmp_path: Path) -> None:
    found = read_claims(written(tmp_path, "1,a,x,1,0", "2,b,x,1,1.0", "3,c,x,1,0.4", "4,d,x,1,"))
    assert found.clipped == 2
    assert found.claims["confidence"].to_list() == [0.001, 0.999, 0.4, 0.7]


@pytest.mark.parametrize("row", ["1,a,x,1,1.2", "1,a,x,1,-0.1", "1,a,x,1,nan", "noon,a,x,1,0.5"])
def test_invalid_confidence_or_time_is_a_bad_row(tmp_path: Path, row: str) -> None:
    with pytest.raises(DataError, match="line 2"):
        read_claims(written(tmp_path, row, "2,b,x,1,0.5"))
