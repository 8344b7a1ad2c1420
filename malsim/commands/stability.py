"""Say whether a scenario's loop is stable: verdict, spectral radius, gain margin, critical ceiling, ringing cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.outputs import save_table

if TYPE_CHECKING:
    import argparse

    from malsim.lab.stability import Cures, Stability

__all__ = ["arguments", "main"]

MOST_LINES = 12


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario file, such as scenarios/mutual_dispute.toml")
    parser.add_argument("--rules", metavar="FILE", help="run under these rules instead: a TOML file, default or recall_v5")
    parser.add_argument(
        "--set", action="append", default=[], metavar="rules.NAME=VALUE", help="change one rule; may be repeated"
    )
    parser.add_argument("--cures", action="store_true", help="also compare what can be done about it")
    parser.add_argument(
        "--real",
        action="append",
        default=[],
        metavar="DIR",
        help="with --cures: a folder of claims to answer; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="also write the figures and the cells' frame there")


def main(args: argparse.Namespace) -> int:
    """Run, analyse, say."""
    from malsim import api
    from malsim.lab.stability import cures, stability
    from malsim.memory import Rules

    scenario = api.read(args.scenario)
    rules = (Rules.read(args.rules) if args.rules else scenario.rules).set(*args.set)
    scenario = scenario.replace(rules=rules)
    run = api.run(scenario)
    found = stability(run)
    compared = cures(run, real=args.real) if args.cures or args.real else None
    written = _write(found, compared, args.output) if args.output else []
    if args.json:
        beside = {} if compared is None else {"cures": compared.table.to_dicts(), "real": compared.real.to_dicts()}
        print(json.dumps(found.summary() | beside, indent=1))
        return 0
    print("\n".join([str(found), *_cells(found)]))
    if compared is not None:
        print(compared)
    if written:
        print(f"  {args.output}/: {', '.join(path.name for path in written)}")
    return 0


def _cells(found: Stability) -> list[str]:
    ringing = found.ringing
    lines = [
        f"  {row['cell']:<16} swings by {row['amplitude'] or 0.0:.3f} about {row['fixed']:.3f}"
        + (f", loop of |λ| {row['radius']:.3f}" if row["radius"] is not None else ", on no loop")
        for row in ringing.head(MOST_LINES).to_dicts()
    ]
    return lines + ([f"  … and {ringing.height - MOST_LINES} more"] if ringing.height > MOST_LINES else [])


def _write(found: Stability, compared: Cures | None, folder: Path) -> list[Path]:
    paths = found.plot.save(folder)
    if compared is not None:
        paths.append(folder / "cures.png")
        compared.figure().savefig(paths[-1])
    return [*paths, save_table(folder / "cells.parquet", found.cells)]
