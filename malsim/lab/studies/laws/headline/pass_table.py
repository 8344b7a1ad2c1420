"""Who passes which question of the headline: a table to read, a figure, a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from malsim.base.files.outputs import save_files
from malsim.lab.studies.laws.headline.world import SIGHTS

if TYPE_CHECKING:
    from pathlib import Path

    from malsim.showing.plots.style import Sheet

BAR = 0.9  # of the answers
HONEST, WAYS = (1, 3, 4), len(SIGHTS)
PASSED = "{passed} [{low}, {high}] of {rows}"


@dataclass(frozen=True, repr=False)
class HeadlineTable:
    """A row a law, question, number of honest writers and way of seeing: the share that is right with its 95 % interval.

    The questions: `changed` to a new value, `returned` to a former one, both without gossips; and all of them with gossips.
    A law passes a row where .9 or more are right. How many it passes has an interval: by the lower ends, and by the upper.
    """

    frame: pl.DataFrame
    replications: int

    @property
    def passes(self) -> pl.DataFrame:
        """A row a law, by rows passed, from `low` to `high`; a column each question and number of honest writers."""
        rows = self.frame.with_columns(passes=pl.col("value") >= BAR)
        passed = {name: (pl.col(end) >= BAR).sum() for name, end in (("passed", "value"), ("low", "low"), ("high", "high"))}
        order = rows.group_by("law", maintain_order=True).agg(rows=pl.len(), **passed)
        cells = rows.group_by("law", "question", "honest", maintain_order=True).agg(pl.col("passes").sum())
        cells = cells.with_columns(cell=pl.format("{} · {}", "question", "honest"))
        places = cells["question"].unique(maintain_order=True).to_list()
        cells = cells.sort(pl.col("question").replace_strict(places, range(len(places))), "honest", maintain_order=True)
        wide = cells.pivot("cell", index="law", values="passes")
        return order.join(wide, on="law", maintain_order="left").sort("passed", descending=True, maintain_order=True)

    def figure(self) -> Sheet:
        """A row a law, a column a question and number of honest writers: how many of the ways of seeing it passes."""
        from malsim.showing.plots.studies.headline_table import headline_figure

        return headline_figure(self.passes, bar=BAR, ways=list(SIGHTS), passed=PASSED)

    def json(self) -> str:
        """The rows as one JSON list."""
        return json.dumps(self.frame.to_dicts(), indent=1, allow_nan=False)

    def write(self, folder: Path) -> list[Path]:
        """Write headline.parquet, headline.json and headline.png; returns the paths."""
        contents = {"headline.parquet": self.frame, "headline.json": self.json() + "\n", "headline.png": self.figure()}
        return save_files(folder, contents)

    def __repr__(self) -> str:
        """A table a person reads."""
        questions, passes = self.frame["question"].unique(maintain_order=True).to_list(), self.passes
        wide = max(map(len, passes["law"])) + 1
        lines = [
            f"{self.replications} draws of each world; passed: {BAR:g} or more are right [by the lower, by the upper ends]",
            f"a cell: how many of {WAYS} ways of seeing a change ({', '.join(SIGHTS)}) pass, 1 / 3 / 4 honest writers",
            "  " + " " * wide + "".join(f"{name:>{_wide(name)}}" for name in questions) + f"{'passed':>18}",
        ]
        for row in passes.to_dicts():
            cells = [" / ".join(str(row.get(f"{question} · {honest}", "-")) for honest in HONEST) for question in questions]
            texts = [f"{cell:>{_wide(name)}}" for name, cell in zip(questions, cells, strict=True)]
            lines.append(f"  {row['law']:<{wide}}" + "".join(texts) + f"{PASSED.format(**row):>18}")
        return "\n".join(lines)


def _wide(name: str) -> int:
    """How wide a column of this name is: what stands in it has up to eleven letters."""
    return max(len(name), 11) + 2
