"""Files of halsampler are read as frames, and every line that does not fit is refused with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ops
from malsim.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """loadrt threads name1=servo period1=1000000
loadrt sampler cfg=fb depth=64
loadrt siggen
setp siggen.0.frequency 50
net wave siggen.0.sine => sampler.0.pin.0
net pulse siggen.0.square
addf siggen.0.update servo
addf sampler.0 servo
start
loadusr -w halsampler -t -n 20
"""


def test_a_recording_of_halsampler_feeds_an_op(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "machine.hal").write_text(SCRIPT, encoding="utf-8")
    assert main(["hal", "-f", str(tmp_path / "machine.hal")]) == 0
    (tmp_path / "samples.txt").write_text(capsys.readouterr().out, encoding="utf-8")
    frame = ops.read_samples(tmp_path / "samples.txt", "fb", ["wave", "on"], tagged=True)
    assert frame.columns == ["sample", "wave", "on"]
    assert frame["sample"].to_list() == list(range(frame["sample"][0], frame["sample"][0] + 20))
    smooth = ops.over(frame, "smooth", x="wave", t="sample", gain=0.5, tick="1ms")["out"]
    value = 0.0
    for sample, out in zip(frame["wave"], smooth, strict=True):
        value += (sample - value) * 0.5
        assert out == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "cfg", "problem"),
    [
        ("1 2.0\n1\n", "sf", ":2: wrong number of values in the row"),
        ("1 x\n", "sf", ":1: a value has the wrong type"),
        ("2 2.0\n", "bf", ":1: a value has the wrong type"),
        ("1\noverrun\n2\n", "s", ":2: samples were lost"),
        ("1\n", "q", "the types do not match the pins"),
        ("1\n", "", "the types do not match the pins"),
    ],
)
def test_a_row_that_does_not_fit_is_named(text: str, cfg: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "samples.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ops.OpError, match=problem):
        ops.read_samples(tmp_path / "samples.txt", cfg)


def test_an_empty_file_is_an_empty_frame(tmp_path: Path) -> None:
    (tmp_path / "samples.txt").write_text("", encoding="utf-8")
    assert ops.read_samples(tmp_path / "samples.txt", "f").is_empty()
