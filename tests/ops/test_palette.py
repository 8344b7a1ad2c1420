"""Tests of how ops are found, loaded and configured, including third-party ops."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ops
from malsim.adapters.foreign_code import MARK
from malsim.cli import main
from ops.pin import foreign
from ops.pin.units import number

if TYPE_CHECKING:
    from pathlib import Path

HALVE = '''"""Give half of a value.

    out = in / 2

Source: a test.

>>> function(np.array([4.0]))["out"].tolist()
[2.0]
"""

import numpy as np

from ops.pin import Array, In, Out

in_ = In("1", "value", nan="passes")
out = Out("1", "half of it")


def function(in_: Array) -> dict[str, Array]:
    return {"out": in_ / 2}
'''


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an importable folder that stands in for the folder of installed packages."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(MARK, str(tmp_path))  # malsim sets this variable in the sandbox of a command
    return tmp_path


def install(site: Path, module: str, text: str, points: dict[str, str]) -> None:
    (site / f"{module}.py").write_text(text, encoding="utf-8")
    about = site / f"{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    lines = "\n".join(f"{name} = {value}" for name, value in points.items())
    (about / "entry_points.txt").write_text(f"[malsim.ops]\n{lines}\n", encoding="utf-8")


def test_entry_point_adds_a_third_party_op(installed: Path) -> None:
    install(installed, "half_an_op", HALVE, {"halve": "half_an_op"})
    assert "halve" in ops.names()
    assert isinstance(ops.sheets()["halve"], ops.Sheet)
    sheet = ops.load("halve")
    assert sheet.summary == "Give half of a value."
    assert ops.step(sheet, {**ops.start(sheet), "in_": np.array([3.0])})["out"].tolist() == [1.5]


@pytest.mark.parametrize(
    "text",
    [
        "raise RuntimeError('no')",
        "import sys; sys.exit(3)",
        "import a_package_nobody_has",
        "def broken(",
        "x = 1",
        '"""No function."""',
        HALVE.replace("in_: Array", "other: Array"),
        HALVE.replace("in_: Array", "*in_: Array"),
        HALVE.replace('"""Give', '""" """\n"""Give'),
    ],
)
def test_broken_op_does_not_affect_others(installed: Path, text: str) -> None:
    install(installed, "broken_op", text, {"broken": "broken_op", "lost": "no_such_module"})
    sys.modules.pop("broken_op", None)
    answer = ops.sheets()
    assert isinstance(answer["broken"], ops.OpError)
    assert isinstance(answer["lost"], ops.OpError)
    assert sum(isinstance(item, ops.Sheet) for item in answer.values()) == len(answer) - 2
    with pytest.raises(ops.OpError, match="broken"):
        ops.load("broken")
    assert ops.load("smooth").name == "smooth"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise KeyError('no')", "raised KeyError"),
        ("raise KeyError('no' * 10**6)", r"raised KeyError: '(no){900,1000}n?; "),
        ("import sys; sys.exit(0)", "raised SystemExit"),
        ("import threading; threading.Event().wait()", "did not return"),
        ("return 3", "dict of arrays keyed by pin"),
        ("return {'aside': in_}", "undeclared output"),
        ("import numpy; return {'out': numpy.ones(7)}", "wrong number of rows"),
    ],
)
def test_error_of_a_failing_op_names_the_op(
    installed: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    monkeypatch.setattr(foreign, "SECONDS", 0.3)
    install(installed, "failing_op", HALVE.replace('return {"out": in_ / 2}', body), {"failing": "failing_op"})
    sys.modules.pop("failing_op", None)
    sheet = ops.load("failing")
    with pytest.raises(ops.OpError, match=message) as refused:
        ops.step(sheet, ops.start(sheet, 2))
    assert "failing (failing_op)" in str(refused.value)


def test_failing_op_is_reported_as_an_error_of_its_netlist(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(installed, "exiting_op", HALVE.replace('return {"out": in_ / 2}', "raise SystemExit"), {"exiting": "exiting_op"})
    (installed / "a.malnet").write_text("loadrt exiting names=a\nnet x a.in\naddf a tick\n", encoding="utf-8")
    (installed / "s.csv").write_text("x\n1\n2\n", encoding="utf-8")
    assert main(["netlist", "run", str(installed / "a.malnet"), "--on", str(installed / "s.csv")]) == 2
    assert "exiting (exiting_op): raised SystemExit" in capsys.readouterr().err
    assert main(["op", "exiting", "--step"]) == 2
    assert "exiting (exiting_op): raised SystemExit" in capsys.readouterr().err


def test_third_party_op_cannot_take_a_shipped_name(installed: Path) -> None:
    install(installed, "their_smooth", HALVE, {"smooth": "their_smooth", "or2": "their_smooth"})
    assert ops.load("smooth").summary == "Smooth a signal."
    answer = ops.sheets()
    assert isinstance(answer["smooth"], ops.Sheet)
    faults = [str(item) for item in answer.values() if isinstance(item, ops.OpError)]
    assert len(faults) == 2
    assert all("their_smooth" in fault for fault in faults)


def test_two_packages_with_the_same_op_name_are_refused(installed: Path) -> None:
    install(installed, "first_op", HALVE, {"twin": "first_op"})
    install(installed, "second_op", HALVE, {"twin": "second_op"})
    with pytest.raises(ops.OpError, match="two packages"):
        ops.load("twin")


def test_every_file_in_the_folder_is_an_op() -> None:
    from pathlib import Path

    files = {path.stem for path in Path(ops.__path__[0]).glob("*.py")} - {"__init__"}
    assert {file.rstrip("_").replace("_", "-") for file in files} <= set(ops.names())
    assert ops.names() == sorted(set(ops.names()))
    expected = (
        "watch watchdog trend drift quorum score reflex smooth clamp latch route fanout snapshot record replay pid oneshot "
        "slew slew2 estop-latch safety-latch ladder gate lag not ddt integ comp wcomp near debounce dbounce edge minmax "
        "timedelay sum2 scale deadzone toggle updown siggen and2 or2 xor2 and5 or5 page-hinkley cusum autotune"
    )
    assert set(expected.split()) <= set(ops.names())


@pytest.mark.parametrize(("wrong", "hint"), [("smoth", "smooth"), ("Smooth", "smooth"), ("pid2", "pid"), ("", None)])
def test_unknown_op_is_refused_with_a_hint(wrong: str, hint: str | None) -> None:
    with pytest.raises(ops.OpError, match="no such op") as answer:
        ops.load(wrong)
    assert answer.value.given == wrong
    assert hint is None or hint in str(answer.value.hint)


def test_op_names_treat_dashes_and_underscores_alike() -> None:
    assert ops.load("estop_latch") == ops.load("estop-latch")
    assert ops.load("not_").name == "not"
    sheet = ops.load("pid")
    assert not ops.start(sheet, settings={"error_previous_target": False})["error_previous_target"]


def test_sizes_set_the_number_of_pins_within_bounds() -> None:
    sheet = ops.load("quorum", inputs=3)
    assert [pin for pin in sheet.slots if pin.startswith("in-")] == ["in-0", "in-1", "in-2"]
    assert ops.start(sheet, 2)["in_"].shape == (3, 2)
    for wrong in (0, 33, -1, 2.5, "two", True, None, ""):
        with pytest.raises(ops.OpError, match="the size is out of bounds"):
            ops.load("quorum", inputs=wrong)
    with pytest.raises(ops.OpError, match="no such size"):
        ops.load("quorum", outputs=3)
    with pytest.raises(ops.OpError, match="no such type"):
        ops.load("snapshot", type="complex")
    assert ops.start(ops.load("snapshot", type="bit"))["out"].dtype == np.bool_


def test_numbered_parameters_are_set_together_or_individually() -> None:
    sheet = ops.load("score", inputs=3)
    assert ops.start(sheet, settings={"gain": 2, "gain-1": "5"})["gain"].tolist() == [[2.0], [5.0], [2.0]]


def test_parameter_accepts_one_value_per_row() -> None:
    sheet = ops.load("smooth")
    state = ops.start(sheet, 3, {"gain": np.array([0.1, 0.2, 0.3])})
    assert ops.step(sheet, {**state, "in_": np.ones(3)})["out"].tolist() == [0.1, 0.2, 0.3]
    assert ops.start(ops.load("lag"), 2, {"tau": ["12h", "2d"]})["tau"].tolist() == [0.5, 2.0]
    with pytest.raises(ops.OpError, match="wrong number of values"):
        ops.start(sheet, 2, {"gain": np.array([0.1, 0.2, 0.3])})
    with pytest.raises(ops.OpError, match="out of bounds") as answer:
        ops.start(sheet, 3, {"gain": np.array([0.1, np.nan, 0.3])})
    assert answer.value.given is not None


@pytest.mark.parametrize(
    ("given", "unit", "value"),
    [
        ("10min", "ms", 600000.0),
        ("3 d", "ms", 259200000.0),
        ("0.5s", "ms", 500.0),
        ("1e3ms", "ms", 1000.0),
        ("12h", "d", 0.5),
    ],
)
def test_time_is_converted_from_its_unit(given: str, unit: str, value: float) -> None:
    assert number(given, unit=unit, where="here") == value


@pytest.mark.parametrize(
    "given",
    ["10", 10, "10 parsec", "min", "", "10min/h", "0.5/h", "1d2h", "1_0min", "٣min x", "--3d", "nand", "infmin", "nan"],
)
def test_invalid_duration_is_refused(given: object) -> None:
    with pytest.raises(ops.OpError, match="not a duration"):
        number(given, unit="ms", where="here")


def test_rate_accepts_a_unit_or_a_number() -> None:
    assert number("0.5/h", unit="1/d", where="here") == 12.0
    assert number("0.5", unit="1/d", where="here") == 0.5
    for wrong in ("10min", "3d", "0.5/parsec"):
        with pytest.raises(ops.OpError):
            number(wrong, unit="1/d", where="here")


def test_unknown_parameter_error_names_an_op_with_that_parameter() -> None:
    with pytest.raises(ops.OpError, match="lag has this pin"):
        ops.start(ops.load("smooth"), settings={"tau": "1d"})
    with pytest.raises(ops.OpError, match="did you mean gain"):
        ops.start(ops.load("smooth"), settings={"gian": 0.3})


def test_state_can_be_restored_only_into_the_same_op() -> None:
    saved = ops.save(ops.load("smooth"), ops.start(ops.load("smooth"), 2))
    with pytest.raises(ops.OpError, match="not a saved state"):
        ops.restore(ops.load("clamp"), saved)
