"""Tests for bands and baselines: comparison, reports, files and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from malsim.base.errors import ScenarioError
from malsim.base.limits import Limits
from malsim.scenario.baseline.band_compare import Comparison, compare
from malsim.scenario.baseline.recording import read, write
from malsim.scenario.checks.metric_bounds import Band

Array = NDArray[np.float64]


def cells(values: Array | list[float], *, cell: str = "obs_a1a1", rep: int = 0, start: float = 1.0) -> pl.DataFrame:
    days = start + np.arange(len(values))
    return pl.DataFrame({"t": days, "effective": values}).select(
        "t", pl.lit(rep, pl.Int32).alias("rep"), pl.lit(cell).alias("cell"), "effective"
    )


def judged(then: pl.DataFrame, now: pl.DataFrame, **band: float) -> Comparison:
    return compare({"cells": then}, {"cells": now}, {"effective": Band(**band)})


def fault(comparison: Comparison) -> str:
    (row,) = comparison.differences.to_dicts()
    return str(row["fault"])


def wave(days: Array) -> Array:
    return 0.5 + 0.3 * np.sin(days / 4) + 0.002 * days


DAYS = np.arange(60.0)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8), st.floats(0, 0.5), st.data())
def test_band_adds_absolute_and_relative_tolerance(values: list[float], absolute: float, data: st.DataObject) -> None:
    now = [value + data.draw(st.floats(-1, 1)) for value in values]
    comparison = judged(cells(values), cells(now), absolute=absolute, relative=0.1)
    excess = [abs(b - a) - (absolute + 0.1 * abs(a)) for a, b in zip(values, now, strict=True)]
    if all(abs(value) > 1e-12 for value in excess):
        assert comparison.passed == all(value <= 0 for value in excess)
        assert comparison.passed or comparison.differences["ticks"][0] == sum(value > 0 for value in excess)


def test_series_that_is_new_or_ends_early_fails() -> None:
    then = cells(wave(DAYS))
    cases = {"missing": then.filter(pl.col("t") <= 30), "unexpected": pl.concat([then, cells(wave(DAYS), cell="obs_new1")])}
    for expected, now in cases.items():
        assert fault(judged(then, now, absolute=9.0)) == expected
    late = then.with_columns(effective=pl.when(pl.col("t") >= 10).then(0.5))
    assert judged(late, late).passed
    assert fault(judged(late, then, absolute=9.0)) == "unexpected"


def test_texts_bits_and_integers_are_compared() -> None:
    then = cells([0.5] * 10).with_columns(
        status=pl.when(pl.col("t") > 5).then(pl.lit("superseded")).otherwise(pl.lit("active")).cast(pl.Categorical),
        pinned=pl.col("t") > 3,
        version=pl.col("t").cast(pl.Int32) % 3,
    )
    assert compare({"cells": then}, {"cells": then}).passed
    now = then.with_columns(
        status=pl.when(pl.col("t") > 7).then(pl.lit("superseded")).otherwise(pl.lit("active")),
        pinned=pl.col("t") > 4,
        version=pl.col("version") + 1,
    )
    found = compare({"cells": then}, {"cells": now}).differences
    assert found.select("column", "t", "expected", "got", "ticks").rows() == [
        ("version", 1.0, "1", "2", 10), ("pinned", 4.0, "true", "false", 1), ("status", 6.0, "superseded", "active", 2),
    ]  # fmt: skip
    exact = compare({"cells": then}, {"cells": now}, {"version": Band(absolute=1), "*": Band(absolute=9.0)}).differences
    assert exact["column"].to_list() == ["pinned", "status"]  # bands do not apply to bits and strings


def test_each_signal_has_its_own_band_and_rows() -> None:
    base = pl.DataFrame({"t": [1.0, 2.0] * 3, "rep": [0] * 6, "row": [None, None, "a", "a", "b", "b"]})
    then = base.with_columns(signal=pl.lit("low"), value=pl.lit(0.5))
    now = then.with_columns(value=pl.when(pl.col("row") == "b").then(0.6).otherwise(pl.col("value")))
    found = compare({"signals": then}, {"signals": now})
    assert found.differences["series"].to_list() == ["low(b), replication 0"]
    assert compare({"signals": then}, {"signals": now}, {"low": Band(absolute=0.2), "*": Band()}).passed
    other = then.with_columns(signal=pl.lit("high"))
    both, after = pl.concat([then, other]), pl.concat([now, other.with_columns(value=pl.lit(0.6))])
    (row,) = {*compare({"signals": both}, {"signals": after}, {"low": Band(absolute=0.2)}).differences["column"]}
    assert row == "value"


def events(*rows: tuple[float, str]) -> dict[str, pl.DataFrame]:
    schema = {"t": pl.Float64, "kind": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return {"events": frame.with_columns(rep=pl.lit(0), subject=pl.lit("bad"))}


def test_events_must_match_in_day_and_number() -> None:
    then = events((3.0, "tripped"), (9.0, "cleared"), (12.0, "tripped"))
    assert compare(then, then).passed
    found = compare(then, events((3.0, "tripped"), (9.0, "cleared"), (9.0, "cleared"), (12.5, "tripped")))
    assert found.differences.select("column", "fault", "t", "expected", "got", "ticks").rows() == [
        ("cleared", "unexpected", 9.0, "nothing", "day 9", 1),
        ("tripped", "missing", 12.0, "day 12", "nothing", 1),
        ("tripped", "unexpected", 12.5, "nothing", "day 12.5", 1),
    ]


def test_baseline_that_cannot_be_compared_is_an_error() -> None:
    then = cells(wave(DAYS))
    nan = then.with_columns(effective=pl.lit(float("nan")))
    cases: list[tuple[pl.DataFrame, pl.DataFrame, dict[str, Band], str]] = [
        (then.clear(), then, {}, "the baseline is empty"),
        (then, then, {"efective": Band()}, "did you mean effective"),
        (then.with_columns(novelty=pl.lit(1)), then, {}, "run's frame cells has no column novelty"),
        (then, nan, {}, "contains NaN"),
        (nan, then, {}, "contains NaN"),
        (pl.concat([then, then]), then, {}, "the baseline has two rows"),
    ]
    for old, new, bands, words in cases:
        with pytest.raises(ScenarioError, match=words):
            compare({"cells": old}, {"cells": new}, bands)
    with pytest.raises(ScenarioError, match="no such frame"):
        compare({"cells": then}, {})
    for name, tolerance in (("absolute", -1.0), ("relative", float("nan"))):
        with pytest.raises(ScenarioError):
            Band(**{name: tolerance})


def all_types() -> dict[str, pl.DataFrame]:
    frame = cells([1 / 3, 1234567890.123, -1e-30, 0.1]).with_columns(
        effective=pl.when(pl.col("t") == 4).then(None).otherwise(pl.col("effective")),
        pinned=pl.Series([True, None, False, True]),
        status=pl.Series(["active", 'qu"ote', None, ""]),
        version=pl.Series([1, None, 3, 4], dtype=pl.Int32),
    )
    return {"cells": frame, **events((1.5, "#tripped\n, é"))}


def test_baseline_is_stored_with_nine_digits(tmp_path: Path) -> None:
    frames = all_types()
    paths = write(tmp_path, "x", frames)
    assert [path.name for path in paths] == ["x.cells.csv", "x.events.csv"]
    assert "0.333333333,true,active" in paths[0].read_text()
    found = read(tmp_path, "x")
    assert found["events"].equals(frames["events"].select(found["events"].columns))
    assert found["cells"].drop("effective").equals(frames["cells"].drop("effective"))
    assert compare(found, frames).passed
    assert write(tmp_path, "x", found)[0].read_bytes() == paths[0].read_bytes()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False), min_size=1, max_size=5))
def test_nine_digits_are_within_the_default_band(values: list[float]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        write(Path(folder), "x", {"cells": cells(values)})
        assert compare(read(Path(folder), "x"), {"cells": cells(values)}).passed


def test_damaged_baselines_are_refused(tmp_path: Path) -> None:
    (path,) = write(tmp_path, "x", {"cells": cells([0.5])})
    text = path.read_text()
    for broken in (
        text.replace("baseline 1", "baseline 2"),
        text.split("\n", 1)[1],
        "",
        text.replace("Float64", "Object"),
        text.replace("0.5", "half"),
        text.replace("effective\n", "other\n"),
        text + "1,2,3,4,5,6,7\n",
    ):
        path.write_text(broken)
        with pytest.raises(ScenarioError, match=r"this version can read|cannot be read|differ from those"):
            read(tmp_path, "x")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        read(tmp_path, "x")
    path.write_text(text)
    with Limits(baseline=10).hold(), pytest.raises(ScenarioError, match=r"too large.*MALSIM_LIMITS=baseline=\d+"):
        read(tmp_path, "x")
    path.unlink()
    with pytest.raises(ScenarioError, match="no baseline"):
        read(tmp_path, "x")
    path.symlink_to(tmp_path / "elsewhere.csv")
    (tmp_path / "elsewhere.csv").write_text(text)
    with pytest.raises(ScenarioError, match="regular file"):
        read(tmp_path, "x")


def test_baseline_with_nan_or_lists_is_refused(tmp_path: Path) -> None:
    for frame in (cells([float("nan")]), cells([0.5]).with_columns(topics=pl.Series([["a"]]))):
        with pytest.raises(ScenarioError, match=r"a baseline (must not|can only) contain"):
            write(tmp_path, "x", {"cells": frame})
