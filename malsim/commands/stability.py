"""Check whether a scenario's loop is stable: verdict, spectral radius, gain margin, critical ceiling, ringing cells."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.files.outputs import save_files

if TYPE_CHECKING:
    from malsim.lab.stability import Cures, Stability

MOST_LINES = 12


HEADING = "tune"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="a scenario file, such as scenarios/mutual_dispute.toml")
    add("--rules", metavar="FILE", help="run under these rules instead: a TOML file, default or recall_v5")
    add("--set", action="append", default=[], metavar="rules.NAME=VALUE", help="change one rule; may be repeated")
    add("--seed", type=int, metavar="N", help="another seed")
    add("--cures", action="store_true", help="also compare what can be done about it")
    add("--json", action="store_true", help="print one JSON object instead")
    add("-o", "--output", type=Path, metavar="DIR", help="also write the figures and the cells' frame there")


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
    paths = _write(result, comparison, args.output) if args.output else []
    if args.json:
        beside = {} if comparison is None else {"cures": comparison.table.to_dicts()}
        print(json.dumps(result.summary() | beside, indent=1))
        return 0
    print("\n".join([str(result), *_cells(result)]))
    if comparison is not None:
        print(comparison)
    if paths:
        print(f"  {args.output}/: {', '.join(path.name for path in paths)}")
    return 0


def _cells(result: Stability) -> list[str]:
    ringing = result.ringing
    lines = [
        f"  {row['cell']:<16} swings by {row['amplitude'] or 0.0:.3f} about {row['fixed']:.3f}"
        + (f", loop of |λ| {row['radius']:.3f}" if row["radius"] is not None else ", on no loop")
        for row in ringing.head(MOST_LINES).to_dicts()
    ]
    return lines + ([f"  … and {ringing.height - MOST_LINES} more"] if ringing.height > MOST_LINES else [])


def _write(result: Stability, comparison: Cures | None, folder: Path) -> list[Path]:
    cures = {} if comparison is None else {"cures.png": comparison.figure()}
    return [*result.plot.save(folder), *save_files(folder, {**cures, "cells.parquet": result.cells})]
