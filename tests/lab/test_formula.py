"""Tests for user-defined formulas: plotting, running, tuning, writing, and consent to run formulas from rules files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malsim as ms
from malsim.base.errors import RulesError, UsageError
from malsim.base.user_formula import UserFormula
from malsim.cli import main
from malsim.lab.space.settings import changed, settings_of
from malsim.memory import Rules

DISPUTE = Path("scenarios/mutual_dispute.toml")
FILE = """import numpy as np

BOUNDS = {"fall": (0.0, 1.0)}


def mine(stated, calibration, support, challenge, *, fall=0.5):
    return stated * calibration * (1 - fall * np.tanh(challenge))
"""


def mine(stated: Any, calibration: Any, support: Any, challenge: Any, *, fall: float = 0.5) -> Any:  # noqa: ARG001  # a formula takes four
    return stated * calibration * (1 - fall * np.tanh(challenge))


def test_formula_is_plotted_next_to_the_shipped_formula() -> None:
    figure = ms.formula(mine, fall=(0.0, 1.0)).plot()
    assert len(figure.axes) == 4
    assert [line.get_label() for line in figure.axes[0].lines] == ["mine(fall 0.5)", "shipped"]
    values = figure.axes[3].lines[0].get_ydata()
    assert np.asarray(values, dtype=float)[-1] == pytest.approx(0.7 * (1 - 0.5 * np.tanh(3.0)))


def test_formula_parameters_are_settings_of_a_scenario() -> None:
    scenario = ms.read(DISPUTE).replace(rules={"effective": ms.formula(mine, fall=(0.0, 1.0))}, days=10.0)
    setting = settings_of(scenario)["formula.fall"]
    assert (setting.value, setting.low, setting.high) == (0.5, 0.0, 1.0)
    low, high = (ms.run(changed(scenario, {"formula.fall": fall})).cells["effective"][-1] for fall in (0.1, 0.9))
    assert low > high
    with pytest.raises(UsageError, match=r"formula\.fall"):
        changed(scenario, {"formula.fall": 2.0})
    assert len(ms.family(scenario, "formula.fall", [0.1, 0.9])) == 2


def test_rules_with_a_tuned_formula_need_option_allow_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules, file = tmp_path / "rules.toml", tmp_path / "mine.py"
    file.write_text(FILE)
    words = [
        "tune",
        str(DISPUTE),
        "--rules",
        f"{file}:mine",
        "--space",
        "formula.fall=0:1",
        "--budget",
        "40",
        "-o",
        str(rules),
    ]
    need = ["--require", "always[20d:60d] (eff(obs_d4d4) <= 0.6)", "--require", "always[20d:60d] (eff(obs_d4d4) >= 0.5)"]
    assert main([*words, *need]) == 0
    file.unlink()
    run = ["run", str(DISPUTE), "--rules", str(rules), "--no-plots", "-o", str(tmp_path / "out")]
    assert main(run) == 2
    assert "would run Python code" in capsys.readouterr().err
    assert main([*run, "--allow-code"]) == 0
    read = Rules.read(rules, allow_code=True).effective
    assert isinstance(read, UserFormula)
    cells = ms.run(ms.read(DISPUTE).replace(rules={"effective": read})).cells
    assert 0.5 <= cells.filter(cell="obs_d4d4")["effective"][-1] <= 0.6


def test_formula_with_changed_source_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    ms.formula(mine).write(path)
    path.write_text(path.read_text().replace("1 - fall", "2 - fall"))
    with pytest.raises(RulesError, match="the formula's source has changed since the export"):
        Rules.read(path, allow_code=True)


def test_formula_is_sent_to_other_processes_as_source_code() -> None:
    copy = pickle.loads(pickle.dumps(ms.formula(mine)))  # noqa: S301  # made here
    assert copy(*np.full((4, 1), 0.5))[0] == pytest.approx(0.25 * (1 - 0.5 * np.tanh(0.5)))


def test_formula_that_uses_outer_variables_is_not_exported() -> None:
    shift = 0.1

    def leaning(stated: Any, calibration: Any, support: Any, challenge: Any) -> Any:
        return np.clip(stated * calibration + support - challenge + shift, 0, 1)

    with pytest.raises(RulesError, match="shift"):
        ms.formula(leaning).toml()


@pytest.mark.parametrize(
    ("function", "bounds", "message"),
    [
        (lambda stated: stated, {}, "four arrays"),
        (mine, {"rise": (0.0, 1.0)}, "no such parameter"),
        ("nowhere.py:mine", {}, "no such file"),
    ],
)
def test_invalid_formula_is_refused(function: Any, bounds: dict[str, tuple[float, float]], message: str) -> None:
    with pytest.raises(RulesError, match=message):
        ms.formula(function, **bounds)
