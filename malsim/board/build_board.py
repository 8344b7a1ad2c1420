"""Build the board: a job a row and family, each kept in a file of its own, so that a board that was killed goes on."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from malsim.base.errors import MalsimError, UsageError
from malsim.base.files.outputs import save_text
from malsim.board.chances import LOOP
from malsim.board.families import FAMILIES, Family, find_families, metrics_of
from malsim.board.figures import BoardSize, Figure
from malsim.board.places import noise_grid, standing
from malsim.lab.studies.pool import executor_of, results
from malsim.sim.record.manifest import versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from malsim.board.board_rows import BoardRow

SLOW_HERE = "not asked: it takes too long"
TIMED = ("cost a call",)  # what differs from one run to the next


@dataclass(frozen=True)
class BoardJob:
    """The figures of a row in a family; `key` is the hash of all that they depend on."""

    row: BoardRow
    family: str
    size: BoardSize
    key: str

    def __call__(self) -> dict[str, Any]:
        """Run it; what a memory does wrong stands in its cells."""
        family, start = FAMILIES[self.family], time.process_time()
        try:
            figures = family.measure(self.row, self.size)
        except MalsimError as problem:
            figures = [Figure(metric.name, text=f"error: {problem}") for metric in family.metrics]
        seconds = round(time.process_time() - start, 3)
        return {"key": self.key, "row": self.row.name, "family": self.family, "seconds": seconds,
                "figures": [figure.json() for figure in figures]}  # fmt: skip


@dataclass(frozen=True)
class MemoryBoard:
    """Rows, families and the figures, by metric and row; `ran` says how many jobs were run now, of all."""

    rows: tuple[BoardRow, ...]
    families: tuple[Family, ...]
    size: BoardSize
    figures: dict[str, dict[str, Figure]]
    keys: dict[str, str]
    seconds: dict[str, float]
    ran: int
    bundles: tuple[dict[str, Any], ...] = ()

    def data(self) -> dict[str, Any]:
        """The board as plain data; all that differs from one run to the next stands under `times`."""
        metrics = metrics_of(self.families)
        cells = [self._cell(row, family, metric.name) for row in self.rows for family in self.families
                 for metric in family.metrics if row.name in self.figures[metric.name]]  # fmt: skip
        times = {"seconds": self.seconds, **{name: {row: figure.value for row, figure in self.figures[name].items()}
                                             for name in TIMED if name in self.figures}}  # fmt: skip
        size = {"replications": self.size.replications, "seed": self.size.seed,
                "claims": [each.rstrip("/").rpartition("/")[2] for each in self.size.claims]}  # fmt: skip
        return {
            "board": 1, "versions": versions(), "size": size,
            "metrics": [{"name": one.name, "family": family.name, "unit": one.unit, "better": one.better,
                         "sentence": one.sentence, "ranked": one.ranked}
                        for family in self.families for one in family.metrics],
            "rows": [{"name": row.name, "kind": row.kind, "memory": row.memory, "version": row.version,
                      "missing": row.missing, **row.sheet()} for row in self.rows],
            "cells": cells, "standing": standing(metrics, self.figures),
            "noise": noise_grid(LOOP[0], self.figures[LOOP[0].name]) if LOOP[0].name in self.figures else {},
            "times": times,
        }  # fmt: skip

    def _cell(self, row: BoardRow, family: Family, metric: str) -> dict[str, Any]:
        figure = self.figures[metric][row.name].json()
        if metric in TIMED and figure["value"] is not None:
            figure |= {"value": None, "text": ""}
        return {"row": row.name, **figure, "hash": self.keys.get(f"{row.name}/{family.name}", ""), "seed": self.size.seed,
                "commands": family.shown_by(row, self.size)}  # fmt: skip


def board(
    rows: Sequence[BoardRow], families: Sequence[str] = (), *, size: BoardSize | None = None, folder: Path,
    workers: int | None = 1, executor: Any = None, watch: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> MemoryBoard:  # fmt: skip
    """Measure rows in families, and keep each job's figures in `folder/cells`; what is there already is not run again.

    Parameters
    ----------
    rows
        Of `shipped_rows`, `find_rows` or `own_row`; one whose package is not installed says so in its cells.
    families
        By name; all if empty.
    workers, executor
        Processes (1: none but this one), or an executor or Dask client of one's own.
    """
    size, kinds = size or BoardSize(), find_families(families)
    if not size.claims:
        kinds = [family for family in kinds if family.name != "claims"]
    jobs = [BoardJob(row, family.name, size, family.key(row, size)) for row in rows for family in kinds
            if not row.missing and family.name not in row.left_out]  # fmt: skip
    place = folder / "cells"
    _make(place)
    waiting = [job for job in jobs if not (place / f"{job.key}.json").is_file()]
    for data in _run(waiting, workers, executor, watch):
        save_text(place / f"{data['key']}.json", json.dumps(data))
    figures: dict[str, dict[str, Figure]] = {metric.name: {} for metric in metrics_of(kinds)}
    keys, seconds = {}, {}
    for job in jobs:
        data = json.loads((place / f"{job.key}.json").read_text(encoding="utf-8"))
        keys[f"{job.row.name}/{job.family}"], seconds[f"{job.row.name}/{job.family}"] = data["key"], data["seconds"]
        for each in data["figures"]:
            figures[each["metric"]][job.row.name] = Figure.read(each)
    for row in rows:
        for metric, own in figures.items():
            own.setdefault(row.name, Figure(metric, text=row.missing or SLOW_HERE))
    return MemoryBoard(tuple(rows), tuple(kinds), size, figures, keys, seconds, len(waiting))


def _make(place: Path) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UsageError("no folder can be made here", where=str(place), given=os.strerror(problem.errno or 0)) from problem


def _run(jobs: Sequence[BoardJob], workers: int | None, executor: Any,
         watch: Callable[[Sequence[str]], Iterable[str]]) -> Iterator[dict[str, Any]]:  # fmt: skip
    """What the jobs give, each as soon as it is done."""
    names = iter(watch([f"{job.row.name}/{job.family}" for job in jobs]))
    if executor is None and workers == 1:
        for job in jobs:
            next(names, None)
            yield job()
        next(names, None)
        return
    with executor_of(executor, workers=workers) as pool:
        for data in results(pool, [partial(job) for job in jobs]):
            next(names, None)
            yield data
    next(names, None)


def read_board(path: Path) -> dict[str, Any]:
    """A board.json; raises `UsageError` for a file that is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise UsageError("cannot be read as a board", where=str(path), given=str(problem)[:80]) from problem
    if not isinstance(data, dict) or data.get("board") != 1:
        raise UsageError("not a board", where=str(path), hint="`malsim board -o DIR` writes DIR/board.json")
    return data
