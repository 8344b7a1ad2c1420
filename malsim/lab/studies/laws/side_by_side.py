"""Table that compares the metrics of several laws."""

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

    from malsim.memory.graph.arrays import Array, Ints
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
    """Table that compares laws. `frame` has one row per data set, law and metric.

    `value` has a 95 % interval (low, high) over n questions or replications; `difference` is from the first law, paired by
    question or replication. For a time, `horizon` is the longest spell and `censored` the share of spells whose end was not
    seen; if most spells are estimated to outlast `horizon`, `beyond` has the same value and there is no mean. A law without
    belief has no brier. `left_out` lists measures that a law does not have. `failures` lists the replications in which a
    user-defined memory failed; if it failed in all of them, its rows have no values.
    """

    frame: pl.DataFrame
    title: str
    left_out: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    @classmethod
    def concat(cls, parts: Sequence[LawTable]) -> LawTable:
        left_out = tuple(line for part in parts for line in part.left_out)
        titles = dict.fromkeys(part.title for part in parts)
        return cls(frame=pl.concat(part.frame for part in parts), title="; ".join(titles), left_out=left_out)

    def figure(self) -> Sheet:
        """Plot one panel per metric, in which each law has a row with its interval."""
        from malsim.showing.plots.studies.laws import law_table

        return law_table(self.frame, title=self.title)

    def json(self) -> str:
        numbers = pl.when(pl.col(pl.Float64).is_finite()).then(pl.col(pl.Float64))
        return json.dumps(self.frame.with_columns(numbers).to_dicts(), indent=1, allow_nan=False)

    def write(self, folder: Path) -> list[Path]:
        """Write laws.parquet, laws.json, laws.png and laws.html, and return their paths."""
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
            for (law,), law_part in part.group_by("law", maintain_order=True):
                cells = {row["metric"]: _cell(row) for row in law_part.to_dicts()}
                lines.append(f"    {law!s:<{wide}}" + "".join(f"{cells.get(name, '-'):>26}" for name in metrics))
        for (metric,), times in self.frame.drop_nulls("censored").group_by("metric", maintain_order=True):
            shares = " ".join(f"{law} {share:.0%}" for law, share in times.select("law", "censored").iter_rows())
            longest = float(times["horizon"].to_numpy().max())
            lines.append(f"  {metric}: spells up to {longest:g} d; not seen to their end: {shares}")
        lines += [f"  failed: {line}" for line in self.failures]
        return "\n".join([*lines, *(f"  skipped: {line}" for line in self.left_out)])


def _cell(row: Mapping[str, float | None]) -> str:
    if row["beyond"] is not None:
        return f"> {row['beyond']:g} d"
    if row["value"] is None:
        return "-"
    if row["low"] is None:
        return f"{row['value']:.3f}"
    return f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def law_rows(answers: Mapping[str, pl.DataFrame], questions: pl.DataFrame, *, data: str, seed: int) -> pl.DataFrame:
    """Score each law's answers (right, probability; one row per question), with intervals from a bootstrap over objects."""
    objects = questions["object"].rank("dense").to_numpy().astype(np.int64) - 1
    weights = resamples(int(objects.max(initial=-1)) + 1, RESAMPLES, seed=seed)
    returned = questions["returned"].to_numpy()
    rows: list[dict[str, object]] = []
    first: dict[str, tuple[Array, Array]] = {}
    for law, answer in answers.items():
        right, probability = answer["right"].to_numpy(), answer["probability"].cast(pl.Float64).to_numpy()
        measures = {"accuracy": (right, np.ones(len(right), dtype=bool))}
        if returned.any():
            measures["returned"] = (right, returned)
        if not np.isnan(probability).any() and len(probability):
            measures["brier"] = (squared_error(probability, right), np.ones(len(right), dtype=bool))
        for metric, (values, mask) in measures.items():
            draws = _resampled_means(weights, objects[mask], values[mask])
            row = {"data": data, "law": law, "metric": metric, "value": float(values[mask].mean()), "n": int(mask.sum())}
            row |= zip(("low", "high"), ends(draws), strict=True)
            base = first.setdefault(metric, (values, draws))
            if base[0] is not values:
                difference = float(values[mask].mean() - base[0][mask].mean())
                row |= zip(DIFFERENCE, (difference, *ends(draws - base[1])), strict=True)
            rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA).with_columns(pl.col(pl.Float64).fill_nan(None))


def _resampled_means(weights: Ints, objects: Ints, values: Array) -> Array:
    """Return the mean of `values` in each resample of the objects, or NaN for a resample without values."""
    totals, counts = (np.bincount(objects, part, minlength=weights.shape[1]) for part in (values, np.ones(len(values))))
    return ratio(weights @ totals, weights @ counts)
