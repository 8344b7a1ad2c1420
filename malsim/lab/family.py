"""Comparison of several values of a setting in one figure, for a scenario, a claims file or a store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from malsim import api
from malsim.base.errors import UsageError
from malsim.importers.building.claim_stream import is_memory
from malsim.lab.space.differences import changes_of, listed, value_text, words
from malsim.lab.space.settings import changed, setting
from malsim.memory import Rules
from malsim.scenario.file.initial_store import initial_memory_from
from malsim.showing.plots.runs.trajectories import middle_of
from malsim.showing.plots.runs.variants import MOST_PANELS, RunLine, panels_of, variants
from malsim.sim.replay.feed import Replay, replay
from malsim.sim.run import FRAMES
from malsim.sim.settings.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from malsim.showing.plots.style import Sheet

OF_STORE = 90.0  # number of days for which a store is run
COLUMNS = {"effective": "Effective confidence", "currency": "Currency"}
FIRST_CLAIMS = "first claims about the most contested objects"


@dataclass(frozen=True, kw_only=True, repr=False)
class RunFamily:
    """Runs of a scenario, claims file or store under several values of one setting, in the order of the values.

    `runs` has a `malsim.Run` (for a claims file, a `Replay`) per value. `default` is the subject's own value.
    """

    name: str
    setting: str
    unit: str
    default: Any
    values: tuple[Any, ...]
    runs: tuple[Any, ...]
    note: str = ""

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.runs)

    def __getitem__(self, index: int) -> Any:
        return self.runs[index]

    @property
    def frame(self) -> pl.DataFrame:
        """Cells of all runs, with the setting's value in the first column."""
        frames: list[pl.DataFrame] = [
            run.cells.select(pl.lit(value).alias(self.setting), pl.all())
            for value, run in zip(self.values, self.runs, strict=True)
        ]
        return pl.concat(frames)

    def plot(self, column: str = "effective", *, cells: Sequence[str] | None = None) -> Sheet:
        """Plot one panel per cell, with one trajectory per value of the setting. The default value is emphasised.

        Parameters
        ----------
        column
            effective or currency.
        cells
            Handles to draw; if None, the six cells in which the runs differ most.
        """
        unit = f" ({self.unit})" if self.unit not in ("", "1") else ""
        title = f"{_name(column)} by {words(self.setting)}{unit}: {', '.join(map(value_text, self.values))}"
        return variants(
            self._lines(), _titles(self.runs, cells), column=column, setting=f"{words(self.setting)}{unit}",
            title=f"{title} (default {value_text(self.default)})", note=self.note, x=_time_axis(self.runs[0]),
        )  # fmt: skip

    def __repr__(self) -> str:
        lines = self._lines()
        titles = {} if any(line.cells.is_empty() for line in lines) else _titles(self.runs, None)
        columns = [column for column in COLUMNS if column in lines[0].cells.columns]
        panels = {column: panels_of(lines, list(titles), column) for column in columns}
        column = next((column for column, (_, different) in panels.items() if different), "effective")
        cells = [group[0] for group in panels[column][0][:MOST_PANELS]] if titles else []
        head = f"{self.name} under {len(self)} values of {self.setting} (default {value_text(self.default)})"
        rows = [f"{head}; {column} at the end"]
        for value, line in zip(self.values, lines, strict=True):
            ends = (f"{cell} {_last(line.cells, cell, column)}" for cell in cells)
            rows.append(f"  {value_text(value):<8} {', '.join(ends)}")
        return "\n".join([*rows, *self._warnings()])

    def _lines(self) -> list[RunLine]:
        lines = []
        for value, frame in zip(self.values, _cells(self.runs), strict=True):
            is_default, number = value == self.default, float(value) if isinstance(value, int | float) else None
            label = value_text(value) + " (default)" * is_default
            lines.append(RunLine(label=label, cells=frame, is_default=is_default, value=number))
        return lines

    def _warnings(self) -> list[str]:
        """Return a warning if the setting has several values and all runs have equal frames."""
        first, *others = [[getattr(run, name) for name in _frames(run)] for run in self.runs]
        if not others or not all(a.equals(b) for frames in others for a, b in zip(first, frames, strict=True)):
            return []
        law = "mal" if isinstance(self.runs[0], Replay) else self.runs[0].scenario.law
        reason = "" if law == "mal" else f" Its law, {law}, may not read this setting."
        return [f"  warning: {self.setting} has no effect in {self.name}: all {len(self)} runs are equal.{reason}"]


def family(subject: Scenario | str | Path | pl.DataFrame, name: str, values: Sequence[Any], **changes: Any) -> RunFamily:
    """Run a scenario, claims file or store under several values of a setting. `.plot()` draws all runs in one figure.

    Parameters
    ----------
    subject
        A scenario or its file; a claims file or frame, which is replayed; or a store, which is run for 90 days. If a
        scenario does not record all its cells, its first replication is run and recorded in full.
    name
        Dotted name of the setting, such as "rules.challenge_ceiling" or "rules.tau_volatile"; any setting that `sweep` can
        vary. For a claims file only rules can be set.
    values
        Values in the order of the runs; duplicates are run once.
    changes
        Other settings of the scenario, as in `ms.run`.

    Raises
    ------
    UsageError
        Before anything is run, if there is no value, the setting is unknown, or a value is out of bounds.

    >>> made = family("scenarios/mutual_dispute.toml", "rules.challenge_ceiling", [0.3, 0.6], days=5)
    >>> len(made), made.default
    (2, 0.6)
    """
    base = _subject(subject, changes)
    varied = setting(name, base if isinstance(base, Scenario) else Rules(), where="family")
    checked = tuple(dict.fromkeys(varied.checked(value, where="family") for value in values))
    if not checked:
        raise UsageError(
            "no values to compare", where="family", hint='write ms.family(scenario, "rules.damping", [0.5, 1.0])'
        )
    title, runs = _title_of(base), tuple(_run(base, {name: value}) for value in checked)
    if isinstance(base, Scenario):
        others = {key: pair for key, pair in changes_of(base).items() if key != name}
        several = base.writers and (base.replications > 1 or "run.replications" in others)
        replication = f", replication {base.first}" if several else ""
        note = f"{title}, seed {base.seed}{replication}" + (f"; {listed(others)}" if others else "")
    else:
        note = f"{title}; {FIRST_CLAIMS}"
    return RunFamily(name=title, setting=name, unit=varied.unit, default=varied.value, values=checked, runs=runs, note=note)


def before_and_after(
    subject: Scenario | Path | pl.DataFrame,
    values: Mapping[str, Any],
    *,
    column: str = "effective",
    cells: Sequence[str] | None = None,
) -> Sheet:
    """Plot the trajectories of a scenario or claims file before and after a change of settings."""
    base = _subject(subject, {})
    runs = [_run(base, {}), _run(base, values)]
    labels = zip(("before", "after"), _cells(runs), strict=True)
    lines = [RunLine(label=label, cells=frame, is_default=label == "before") for label, frame in labels]
    after = ", ".join(f"{words(name)} {value_text(value)}" for name, value in values.items())
    title = f"{_name(column)} before and after: {after}"
    return variants(lines, _titles(runs, cells), column=column, title=title, note=_title_of(base), x=_time_axis(runs[0]))


def _subject(subject: Scenario | str | Path | pl.DataFrame, changes: Mapping[str, Any]) -> Scenario | Path | pl.DataFrame:
    if isinstance(subject, pl.DataFrame):
        return subject
    path = Path() if isinstance(subject, Scenario) else Path(subject)
    if isinstance(subject, Scenario) or path.suffix == ".toml":
        base = (subject if isinstance(subject, Scenario) else api.read(path)).replace(**changes)
        return base if base.record == "all" or "record" in changes else base.replace(record="all", replications=1)
    if is_memory(path):
        return Scenario(name=path.stem, days=OF_STORE, initial_memory=initial_memory_from(path)).replace(**changes)
    if not path.is_file():
        raise UsageError("no such file", where="family", given=str(path), allowed="a scenario, a claims file or a store")
    return path


def _run(base: Scenario | Path | pl.DataFrame, values: Mapping[str, Any]) -> Any:
    if isinstance(base, Scenario):
        return api.run(changed(base, values, where="family"))
    return replay(base, rules=changed(Rules(), values))


def _title_of(base: Scenario | Path | pl.DataFrame) -> str:
    return base.name if isinstance(base, Scenario) else base.stem if isinstance(base, Path) else "claims"


def _cells(runs: Sequence[Any]) -> list[pl.DataFrame]:
    return [run.cells if isinstance(run, Replay) else api.recorded(run)[0] for run in runs]


def _frames(run: Any) -> Sequence[str]:
    return ("cells", "answers") if isinstance(run, Replay) else FRAMES


def _last(frame: pl.DataFrame, cell: str, column: str) -> str:
    """Return a cell's value at its last tick, as the figure draws it, or its status if it is no longer active."""
    line = frame.filter(pl.col("cell") == cell)
    last = line.filter(pl.col("t") == line["t"].max())
    values = middle_of(last, column)["middle"].drop_nulls()
    status = last["status"][0] if "status" in last.columns and last.height else "no value"
    return f"{values[0]:.3f}" if len(values) else str(status)


def _titles(runs: Sequence[Any], cells: Sequence[str] | None) -> dict[str, str]:
    if not isinstance(runs[0], Replay):
        return api.panel_titles(runs, cells)
    labels = {row["cell"]: f"{row['object']}: {row['title']}" for row in runs[0].labels.to_dicts()}
    return {cell: labels[cell] for cell in cells or labels if cell in labels}


def _time_axis(run: Any) -> str:
    return "time (days)" if not isinstance(run, Replay) or run.dated else "claims that have arrived (%)"


def _name(column: str) -> str:
    if column not in COLUMNS:
        raise UsageError("this column has no trajectory", where="plot", given=column, allowed=", ".join(COLUMNS))
    return COLUMNS[column]
