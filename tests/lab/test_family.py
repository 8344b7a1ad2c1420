"""Tests for figures that compare several values of one setting: runs, labels, and the text about changed settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import malsim as ms
from malsim.base.errors import UsageError
from malsim.cli import main
from malsim.lab.space.differences import changes_of, differences, in_title, listed
from malsim.scenario.file.scenario_file import parse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISPUTE = Path("scenarios/mutual_dispute.toml")
CEILING = "rules.challenge_ceiling"


def texts(figure: Figure) -> list[str]:
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text)]


def test_runs_of_a_family_equal_single_runs() -> None:
    made = ms.family(DISPUTE, CEILING, [0.3, 0.6], days=10)
    for value, run in zip(made.values, made.runs, strict=True):
        alone = ms.run(ms.read(DISPUTE).replace(rules={"challenge_ceiling": value}, days=10))
        assert run.cells.equals(alone.cells)
    assert made.frame[CEILING].unique().sort().to_list() == [0.3, 0.6]


def test_family_title_names_the_setting_values_and_default() -> None:
    figure = ms.family(DISPUTE, CEILING, [0.3, 0.45, 0.6], days=10).plot()
    value = texts(figure)
    assert "Effective confidence by challenge ceiling: 0.30, 0.45, 0.60 (default 0.60)" in value
    assert {"0.30", "0.45", "0.60 (default)"} <= set(value)
    assert not any("for ever" in text for text in value)
    assert all(axes.get_ylim() == (0.0, 1.0) for axes in figure.axes)


def test_lines_with_equal_values_share_one_label() -> None:
    value = texts(ms.run(DISPUTE, days=10).plot.effective())
    assert any(text.replace("\n", " ") == "obs_a1a1, obs_b2b2, obs_c3c3 (3 equal lines)" for text in value)
    beside = texts(ms.family(DISPUTE, "rules.tau_volatile", [7, 30], days=10).plot("currency"))
    assert "7 = 30 (default)" in beside


def test_family_reports_that_a_setting_has_no_effect() -> None:
    made = ms.family("scenarios/worked_example.toml", "rules.support_ceiling", [0.0, 0.5])
    assert any("all runs are equal in effective confidence" in text.replace("\n", " ") for text in texts(made.plot()))
    assert "rules.support_ceiling has no effect in worked_example: all 2 runs are equal." in repr(made)
    assert "warning" not in repr(ms.family(DISPUTE, CEILING, [0.3, 0.6], days=5))
    assert "warning" not in repr(ms.family(DISPUTE, CEILING, [0.3], days=5))


def test_family_names_the_replication_and_law_of_its_runs() -> None:
    made = ms.family("scenarios/half_colluders.toml", "rules.support_ceiling", [0.0, 0.5], days=2.0, replications=3, first=4)
    value = [text.replace("\n", " ") for text in texts(made.plot())]
    assert any("seed 43, replication 4;" in text and "more cells are not shown" in text for text in value)
    assert "Its law, records, may not read this setting." in repr(made)
    assert all(axes.lines[0].get_xdata().size for axes in made.plot().axes)  # type: ignore[union-attr]


def test_family_prints_the_plotted_cells_and_their_status() -> None:
    made = ms.family("scenarios/colluders.toml", "rules.support_ceiling", [0.0, 0.5], replications=2)
    printed = repr(made)
    titles = [axes.get_title(loc="left") for axes in made.plot().axes]
    assert len(titles) == 6
    assert all(title.split()[0].rstrip(",") in printed for title in titles)
    last = made[0].cells.filter(pl.col("t") == 40.0, pl.col("rep") == 0)
    for cell, status in last.select("cell", "status").iter_rows():
        assert (f"{cell} superseded" in printed) == (status == "superseded" and cell in printed)


def test_many_values_are_shown_on_a_colour_scale() -> None:
    figure = ms.family(DISPUTE, CEILING, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], days=5).plot()
    assert "challenge ceiling" in texts(figure)
    assert "default 0.6" in texts(figure)


def test_compared_runs_are_labelled_by_their_differences() -> None:
    run, other = ms.run(DISPUTE, days=5), ms.run(ms.read(DISPUTE).replace(rules={"damping": 0.5}), days=5)
    value = texts(run.plot.effective(cells=["obs_a1a1"], beside=other))
    assert "Effective confidence by damping: 1, 0.50" in value
    assert 'obs_a1a1 "the pump failed"' in value


def test_unknown_cell_is_refused_with_similar_names() -> None:
    with pytest.raises(UsageError, match="obs_a1a1"):
        ms.run(DISPUTE, days=3).plot.effective(cells=["obs_a1a2"])


def test_settings_can_be_varied_for_claims_files_and_stores() -> None:
    claims = ms.family("scenarios/claims/machines.csv", CEILING, [0.3, 0.6])
    assert any(text.startswith("machine-") for text in texts(claims.plot()))
    store = ms.family("scenarios/stores/atlas.json", "rules.tau_volatile", [7, 90])
    assert "Currency by tau_volatile (d): 7, 90 (default 30)" in texts(store.plot("currency"))
    assert "currency at the end" in repr(store)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [("rules.challenge", [0.3], "no such setting"), (CEILING, [1.5], "0 to 1"), (CEILING, [], "no values")],
)
def test_invalid_family_is_refused_before_anything_runs(name: str, values: list[float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ms.family(DISPUTE, name, values)


def test_changes_are_listed_with_default_or_file_values() -> None:
    scenario = parse('why = "x"\n[run]\ndays = 5\n', name="s", where="s.toml")
    assert changes_of(scenario) == {}
    assert in_title({}) == "default settings"
    changes = changes_of(scenario.replace(rules={"challenge_ceiling": 0.3}, days=7.0))
    assert changes == {CEILING: (0.3, 0.6), "run.days": (7.0, 5.0)}
    assert listed(changes) == "changed: rules.challenge_ceiling = 0.30 (default 0.60), run.days = 7 (default 5)"
    assert differences([scenario, scenario.replace(days=7.0)]) == {"run.days": [5.0, 7.0]}


def test_figure_titles_of_a_run_list_the_changes() -> None:
    run = ms.run(ms.read(DISPUTE).replace(rules={"challenge_ceiling": 0.3, "calibration": "overconfidence"}), days=5)
    value = [text.replace("\n", " ") for text in texts(run.plot.effective())]
    assert value.count("Effective confidence, challenge ceiling 0.30 (default 0.60), run.days 5 (default 60)") == 1
    assert "rules.challenge_ceiling = 0.30 (default 0.60)" in run.page()


def test_vary_command_writes_one_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(DISPUTE), "--vary", f"{CEILING}=0.3,0.6", "-o", str(tmp_path / "o")]) == 0
    assert "under 2 values of rules.challenge_ceiling (default 0.60)" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "o").iterdir()} == {"cells.parquet", "effective.png", "currency.png"}


@pytest.mark.parametrize("given", ["rules.damping", "rules.damping=0.1:1"])
def test_vary_without_values_is_refused(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(DISPUTE), "--vary", given]) == 2
    assert "NAME=V,V" in capsys.readouterr().err


def test_newest_run_is_in_the_folder_without_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = DISPUTE.resolve()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out/mutual_dispute/sweep").mkdir(parents=True)
    for days in (3, 4, 5):
        assert main(["run", str(scenario), "--set", f"run.days={days}", "--no-plots"]) == 0
    assert "out/mutual_dispute-1/: previous run" in capsys.readouterr().out
    lengths = [(tmp_path / f"out/mutual_dispute{end}/manifest.json").read_text() for end in ("", "-1")]
    assert '"days": 5.0' in lengths[0]
    assert '"days": 4.0' in lengths[1]
    assert (tmp_path / "out/mutual_dispute/sweep").is_dir()
