"""Run a scenario file; write its frames and figures, and say what happened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from malsim.scenario.limits import Limits

if TYPE_CHECKING:
    import argparse

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario file, such as scenarios/mutual_dispute.toml")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder for frames and figures; default out/NAME")
    parser.add_argument("--rules", metavar="FILE", help="run under these rules instead: a TOML file, default or recall_v5")
    parser.add_argument(
        "--set", action="append", default=[], metavar="rules.NAME=VALUE", help="change one rule; may be repeated"
    )
    parser.add_argument("--replications", type=int, metavar="N", help="how many independent lives to run at once")
    parser.add_argument("--replication", type=int, metavar="K", help="live only the life of this number")
    parser.add_argument("--seed", type=int, metavar="N", help="another seed")
    parser.add_argument("--no-plots", action="store_true", help="write frames only")
    Limits.options(parser.add_argument)


def main(args: argparse.Namespace) -> int:
    """Read, run, write, say."""
    from malsim import api
    from malsim.memory import Rules

    scenario = api.read(args.scenario)
    rules = (Rules.read(args.rules) if args.rules else scenario.rules).set(*args.set)
    changes = {name: getattr(args, name) for name in ("replications", "seed") if getattr(args, name) is not None}
    if args.replication is not None:
        changes |= {"first": args.replication, "replications": 1}
    scenario = scenario.replace(rules=rules, **changes)
    Limits.of(args).check(scenario)
    run = api.run(scenario)
    folder = args.output or Path("out") / scenario.name
    written = run.write(folder)
    if not args.no_plots:
        written += run.plot.save(folder)
    print(run)
    print(f"  {folder}/: {', '.join(path.name for path in written)}")
    return 0
