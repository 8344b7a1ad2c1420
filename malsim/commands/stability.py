"""Check the stability of a scenario's loops: spectral radius, gain margin, critical ceiling and ringing cells."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.files.outputs import save_files

if TYPE_CHECKING:
    from malsim.lab.stability import Stability

MOST_LINES = 12

HEADING = "tune"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="scenario file, such as scenarios/mutual_dispute.toml")
    add("--rules", metavar="FILE", help="run under these rules: a TOML file, default or recall_v5")
    add("--set", action="append", default=[], metavar="rules.NAME=VALUE", help="change one rule; repeatable")
    add("--seed", type=int, metavar="N", help="seed of the run")
    add("--cures", action="store_true", help="also compare remedies")
    add("--json", action="store_true", help="print one JSON object")
    add("-o", "--output", type=Path, metavar="DIR", help="also write the figures and the frame of cells to this folder")


def main(args: argparse.Namespace) -> int:
    from malsim import api
    from malsim.lab.stability import cures, stability
    from malsim.memory import Rules

    scenario = api.read(args.scenario)
    rules = (Rules.read(args.rules) if args.rules else scenario.rules).set(*args.set)
    scenario = scenario.replace(rules=rules, seed=scenario.seed if args.seed is None else args.seed)
    run = api.run(scenario)
    result = stability(run)
    comparison = cures(run) if args.cures else None
    paths = list[Path]()
    if args.output:
        figures = {} if comparison is None else {"cures.png": comparison.figure()}
        paths = [*result.plot.save(args.output), *save_files(args.output, {**figures, "cells.parquet": result.cells})]
    if args.json:
        table = {} if comparison is None else {"cures": comparison.table.to_dicts()}
        print(json.dumps(result.summary() | table, indent=1))
        return 0
    print("\n".join([str(result), *_cell_lines(result)]))
    if comparison is not None:
        print(comparison)
    if paths:
        print(f"  {args.output}/: {', '.join(path.name for path in paths)}")
    return 0


def _cell_lines(result: Stability) -> list[str]:
    ringing = result.ringing
    lines = [
        f"  {row['cell']:<16} swings by {row['amplitude'] or 0.0:.3f} about {row['fixed']:.3f}"
        + (f", loop of |λ| {row['radius']:.3f}" if row["radius"] is not None else ", on no loop")
        for row in ringing.head(MOST_LINES).to_dicts()
    ]
    return lines + ([f"  … and {ringing.height - MOST_LINES} more"] if ringing.height > MOST_LINES else [])
