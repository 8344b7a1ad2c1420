"""Find the settings that a metric depends on: by varying them one at a time, and by Sobol indices over ranges.

malsim sensitivity scenarios/poisoner.toml --replications 16 --metric brier
malsim sensitivity scenarios/poisoner.toml --replications 16 --range rules.damping=0.2:1 --range rules.support_ceiling=0:0.9
"""

from __future__ import annotations

import argparse
from pathlib import Path

from malsim.base.files.outputs import save_files
from malsim.lab.space.scenario_options import set_arguments, under_law

HEADING = "tune"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    set_arguments(parser)
    add("scenario", metavar="SCENARIO", help="scenario file, such as scenarios/poisoner.toml")
    ranges_help = "range of a setting; repeatable (default: every rule)"
    add("--range", action="append", default=[], metavar="NAME=LOW:HIGH", help=ranges_help)
    add("--metric", default="brier", metavar="METRIC", help="measure, property or metric of a series (brier)")
    add("--points", type=int, default=64, metavar="N", help="points of the Sobol sequence, a power of two (64)")
    add("--replications", type=int, metavar="N", help="independent replications per point")
    add("--workers", type=int, metavar="N", help="number of processes (1)")
    add("-o", "--output", type=Path, metavar="DIR", help="also write frames and figures to this folder")
    add("--quiet", action="store_true", help="show no progress bar")


def main(args: argparse.Namespace) -> int:
    from malsim import api
    from malsim.commands.sweep import ranges
    from malsim.lab.sensitivity import sensitivity

    scenario = under_law(api.read(args.scenario), args)
    if args.replications is not None:
        scenario = scenario.replace(replications=args.replications)
    settings = {"metric": args.metric, "points": args.points, "workers": args.workers, "progress": not args.quiet}
    result = sensitivity(scenario, ranges(args.range, "--range") or None, **settings)
    print(result)
    if args.output:
        contents = {
            "tornado.parquet": result.tornado, "indices.parquet": result.frame, "pairs.parquet": result.pairs,
            "tornado.png": result.plot.tornado(scenario.name),
            "indices.png": None if result.frame is None else result.plot.indices(scenario.name),
        }  # fmt: skip
        save_files(args.output, {name: content for name, content in contents.items() if content is not None})
        print(f"  {args.output}/: {', '.join(sorted(path.name for path in args.output.iterdir()))}")
    return 0
