"""Table of a comparison of laws."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from malsim.base.files.outputs import save_files
from malsim.base.intervals import ends, resamples
from malsim.memory.graph.arrays import ratio
from malsim.sim.record.scoring import squared_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from malsim.memory.graph.arrays import Array, Bools
    from malsim.showing.plots.style import Sheet

RESAMPLES = 1_000
DIFFERENCE = ("difference", "difference_low", "difference_high")
SCHEMA = {
    "data": pl.String, "law": pl.String, "metric": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "difference": pl.Float64, "difference_low": pl.Float64, "difference_high": pl.Float64,
    "beyond": pl.Float64, "horizon": pl.Float64, "censored": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class LawTable:
    """Comparison of laws: `frame` has one row per data set, law and metric.

    value with its 95 % interval (low, high) over n questions or replications; difference is from the first law on the same
    questions or replications, paired; `horizon` and `censored` are a time's longest spell and the share of spells not seen
    to their end; where more than a half outlast the longest, that is `beyond`, and there is no mean. A law without belief
    has no brier.
    `failures` says where a memory of one's own failed; one that failed in all replications has a row without figures.
    """

    frame: pl.DataFrame
    title: str
    left_out: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    @classmethod
    def concat(cls, parts: Sequence[LawTable]) -> LawTable:
        """Concatenate several tables vertically."""
        left_out = tuple(line for part in parts for line in part.left_out)
        titles = dict.fromkeys(part.title for part in parts)
        return cls(frame=pl.concat(part.frame for part in parts), title="; ".join(titles), left_out=left_out)

    def figure(self) -> Sheet:
        """Draw a panel for each metric with one row and interval per law."""
        from malsim.showing.plots.studies.laws import law_table

        return law_table(self.frame, title=self.title)

    def json(self) -> str:
        numbers = pl.when(pl.col(pl.Float64).is_finite()).then(pl.col(pl.Float64))
        return json.dumps(self.frame.with_columns(numbers).to_dicts(), indent=1, allow_nan=False)

    def write(self, folder: Path) -> list[Path]:
        """Write laws.parquet, laws.json, laws.png and laws.html; return their paths."""
        from malsim.showing.pages.page_parts import law_page, png

        image = png(self.figure(), dpi=130)
        page = law_page(self.frame, image, title=self.title, left_out=(*self.left_out, *self.failures))
        contents = {"laws.parquet": self.frame, "laws.json": self.json() + "\n", "laws.png": image, "laws.html": page}
        return save_files(folder, contents)

    def __repr__(self) -> str:
        lines, wide = [self.title], max(23, *map(len, self.frame["law"].to_list())) + 1
        for (data,), part in self.frame.group_by("data", maintain_order=True):
            lines.append(f"  {data}")
            metrics = part["metric"].unique(maintain_order=True).to_list()
            lines.append("    " + " " * wide + "".join(f"{name:>26}" for name in metrics))
            for (law,), own in part.group_by("law", maintain_order=True):
                cells = {row["metric"]: _cell(row) for row in own.to_dicts()}
                lines.append(f"    {law!s:<{wide}}" + "".join(f"{cells.get(name, '-'):>26}" for name in metrics))
        lines += _censored_lines(self.frame)
        lines += [f"  failed: {line}" for line in self.failures]
        return "\n".join([*lines, *(f"  skipped: {line}" for line in self.left_out)])


def _censored_lines(frame: pl.DataFrame) -> list[str]:
    lines = []
    times = frame.drop_nulls("censored")
    for metric in times["metric"].unique(maintain_order=True):
        own = times.filter(metric=metric)
        shares = " ".join(f"{law} {share:.0%}" for law, share in own.select("law", "censored").iter_rows())
        longest = float(own["horizon"].to_numpy().max())
        lines.append(f"  {metric}: spells up to {longest:g} d; not seen to their end: {shares}")
    return lines


def _cell(row: Mapping[str, float | None]) -> str:
    if row["beyond"] is not None:
        return f"> {row['beyond']:g} d"
    if row["value"] is None:
        return "-"
    if row["low"] is None:
        return f"{row['value']:.3f}"
    return f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def law_rows(answers: Mapping[str, pl.DataFrame], questions: pl.DataFrame, *, data: str, seed: int) -> pl.DataFrame:
    """Score the answers (right, probability; one row per question) of each law, with bootstrap intervals over objects."""
    resamples = Resamples(questions["object"], seed)
    returned = questions["returned"].to_numpy()
    rows: list[dict[str, object]] = []
    first: dict[str, tuple[Array, Array]] = {}
    for law, own in answers.items():
        right, probability = own["right"].to_numpy(), own["probability"].cast(pl.Float64).to_numpy()
        measures = {"accuracy": (right, np.ones(len(right), dtype=bool))}
        if returned.any():
            measures["returned"] = (right, returned)
        if not np.isnan(probability).any() and len(probability):
            measures["brier"] = (squared_error(probability, right), np.ones(len(right), dtype=bool))
        for metric, (values, of) in measures.items():
            draws = resamples.means(values, of)
            row = {"data": data, "law": law, "metric": metric, "value": float(values[of].mean()), "n": int(of.sum())}
            row |= dict(zip(("low", "high"), ends(draws), strict=True))
            base = first.setdefault(metric, (values, draws))
            if base[0] is not values:
                row["difference"] = float(values[of].mean() - base[0][of].mean())
                row |= dict(zip(("difference_low", "difference_high"), ends(draws - base[1]), strict=True))
            rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA).with_columns(pl.col(pl.Float64).fill_nan(None))


class Resamples:
    """Bootstrap weights of questions, drawn by object."""

    def __init__(self, objects: pl.Series, seed: int) -> None:
        self._object = objects.rank("dense").to_numpy().astype(np.int64) - 1
        count = int(self._object.max(initial=-1)) + 1
        self._weight = resamples(count, RESAMPLES, seed=seed)

    def means(self, values: Array, of: Bools) -> Array:
        """Return the mean of the marked values in each draw; NaN where a draw holds none."""
        objects = self._weight.shape[1]
        total, count = (
            np.bincount(self._object[of], part[of], minlength=objects) for part in (values, np.ones(len(values)))
        )
        return ratio(self._weight @ total, self._weight @ count)
