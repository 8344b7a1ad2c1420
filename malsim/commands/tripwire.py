"""Score a tripwire: what it catches, what it misses, how often it cries wolf, and whether it is alive.

malsim tripwire scenarios/tripwire.malnet --scenario scenarios/tripwire.toml --html scorecard.html -o scorecard.png
malsim tripwire --scenario scenarios/tripwire.toml                       the scenario's own netlist
malsim tripwire a.malnet b.malnet --scenario scenarios/tripwire.toml     side by side, CUSUM and EWMA beside them
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from malsim.sim.script import Scenario

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("netlists", nargs="*", metavar="FILE", help="netlists; default the scenario's own")
    parser.add_argument("--scenario", metavar="FILE", help="where it is tried, with its [[episode]]s and checks")
    parser.add_argument("--alarm", metavar="SIGNAL", help="the bit that is the alarm; default what its one latch writes")
    parser.add_argument("--replications", type=int, metavar="N", help="run so many lives instead")
    parser.add_argument("--quick", action="store_true", help="leave out the mutants and the faults, a run each")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write one self-contained page")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="draw it, as .png or .svg")


def main(args: argparse.Namespace) -> int:
    """Say it; exit 1 where its silence proves nothing."""
    from malsim.api import read
    from malsim.errors import UsageError
    from malsim.tripwires import validate

    if not args.scenario:
        raise UsageError("a tripwire is tried in a scenario", hint="--scenario FILE.toml")
    scenario = read(args.scenario)
    if args.replications:
        scenario = scenario.replace(replications=args.replications)
    if len(args.netlists) > 1:
        return _compare(args, scenario)
    netlist = Path(args.netlists[0]) if args.netlists else None
    made = validate(netlist, scenario, alarm=args.alarm, mutate=not args.quick, faults=not args.quick)
    print(made)
    if args.html:
        args.html.write_text(made.html, encoding="utf-8")
        print(f"wrote {args.html}")
    if args.output:
        made.figure.savefig(args.output)
        print(f"wrote {args.output}")
    return 0 if made.receipt.verdict.startswith("alive") else 1


def _compare(args: argparse.Namespace, scenario: Scenario) -> int:
    from malsim.lab.tripwire.said import compared
    from malsim.tripwires import compare_tripwires

    print(compared(compare_tripwires(args.netlists, scenario, alarm=args.alarm)))
    return 0
