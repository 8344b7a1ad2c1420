"""Say whether a scenario's loop is stable: verdict, spectral radius, gain margin, critical ceiling, ringing cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.scenario.limits import Limits

if TYPE_CHECKING:
    import argparse

    from malsim.workbench import Stability

__all__ = ["arguments", "main"]

MOST_LINES = 12


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario file, such as scenarios/mutual_dispute.toml")
    parser.add_argument("--rules", metavar="FILE", help="run under these rules instead: a TOML file, default or recall_v5")
    parser.add_argument(
        "--set", action="append", default=[], metavar="rules.NAME=VALUE", help="change one rule; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="also write the figures and the cells' frame there")
    Limits.options(parser.add_argument)


def main(args: argparse.Namespace) -> int:
    """Run, analyse, say."""
    from malsim import api
    from malsim.memory import Rules
    from malsim.workbench import stability

    scenario = api.read(args.scenario)
    rules = (Rules.read(args.rules) if args.rules else scenario.rules).set(*args.set)
    scenario = scenario.replace(rules=rules)
    Limits.of(args).check(scenario)
    found = stability(api.run(scenario))
    written = _write(found, args.output) if args.output else []
    if args.json:
        print(json.dumps(found.summary(), indent=1))
        return 0
    print(found)
    print("\n".join(_cells(found)))
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


def _write(found: Stability, folder: Path) -> list[Path]:
    paths = found.plot.save(folder)
    paths.append(folder / "cells.parquet")
    found.cells.write_parquet(paths[-1])
    return paths
