"""Run a scenario under other clocks: ticks often and seldom, late, missed, doubled; say what that changes.

malsim cadence scenarios/mutual_dispute.toml --period 10min --period 1w
"""

from __future__ import annotations

import argparse
from pathlib import Path

from malsim.base.files.outputs import save_files
from malsim.base.finite import day
from malsim.lab.space.scenario_options import set_arguments, under_law

HEADING = "tune and study"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    set_arguments(parser)
    add("scenario", metavar="SCENARIO", help="a scenario file, such as scenarios/mutual_dispute.toml")
    add(
        "--period", action="append", metavar="TIME", help="a tick period, such as 10min; may be repeated; default 1min to 1w"
    )
    add("--days", type=day, metavar="N", help="how long to run; default the scenario's own, at least 7 and at most 14")
    add("--replications", type=int, metavar="N", help="how many independent replications to run at once")
    add("-o", "--output", type=Path, metavar="DIR", help="also write the frames and the figure there")
    add("--quiet", action="store_true", help="show no progress bar")


def main(args: argparse.Namespace) -> int:
    """Run, say; exit 1 if a law is broken."""
    from malsim import api
    from malsim.lab.cadence import cadence

    scenario = under_law(api.read(args.scenario), args)
    if args.replications is not None:
        scenario = scenario.replace(replications=args.replications)
    periods = {"periods": args.period} if args.period else {}
    result = cadence(scenario, days=args.days, progress=not args.quiet, **periods)
    print(result)
    if args.output:
        contents = {f"{name}.parquet": getattr(result, name) for name in ("frame", "laws", "paths")}
        save_files(args.output, contents | {"cadence.png": result.plot(scenario.name)})
        print(f"  {args.output}/: frame.parquet, laws.parquet, paths.parquet, cadence.png")
    return 0 if result.holds else 1
