"""Compare policies that choose disputes for review: on the same replications, at as many reviews.

malsim triage scenarios/triage_popular.toml --weekly 5,10,20 --replications 40
"""

from __future__ import annotations

import argparse
from pathlib import Path

from malsim.lab.space.scenario_options import set_arguments, under_law

HEADING = "tune and study"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    set_arguments(parser)
    add("scenario", nargs="+", metavar="SCENARIO", help="a scenario file with [reviewers]")
    add("--policies", default="", metavar="A,B", help="policies; the others are compared with the first")
    add("--weekly", default="", metavar="N,N", help="reviews a week; default the scenario's own")
    add("--replications", type=int, default=40, metavar="N", help="of each (40)")
    add("--seed", type=int, metavar="N", help="another seed than the scenario's own")
    add("--json", action="store_true", help="print the rows as one JSON list")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for the table and the figure")


def main(args: argparse.Namespace) -> int:
    """Measure, print, write."""
    import polars as pl

    from malsim import api
    from malsim.lab.studies.triage import TriageTable, compare_policies
    from malsim.sim.settings.reviewers import TRIAGE
    from malsim.sim.settings.size import check_size

    policies = _words(args.policies) or TRIAGE
    weekly = [_number(word) for word in _words(args.weekly)]
    frames = []
    for path in args.scenario:
        scenario = under_law(api.read(path), args)
        scenario = scenario if args.seed is None else scenario.replace(seed=args.seed)
        check_size(scenario.replace(replications=args.replications))
        frames.append(compare_policies(scenario, policies=policies, weekly=weekly, replications=args.replications).frame)
    table = TriageTable(frame=pl.concat(frames))
    print(table.json() if args.json else table)
    if args.output:
        paths = table.write(args.output)
        if not args.json:
            print(f"  {args.output}/: {', '.join(path.name for path in paths)}")
    return 0


def _words(given: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in given.split(",") if word.strip())


def _number(word: str) -> float:
    from malsim.base.errors import UsageError
    from malsim.base.finite import finite

    try:
        return finite(float(word), where="--weekly")
    except ValueError:
        raise UsageError("not a number", where="--weekly", given=word) from None
