"""Run a scenario file: write its frames and figures, and say what happened."""

from __future__ import annotations

import argparse
from pathlib import Path

from malsim.lab.space.scenario_options import memory_arguments, set_arguments

HEADING = "run and look"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="a scenario file, such as scenarios/mutual_dispute.toml")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for frames and figures; default out/NAME")
    add("--rules", metavar="FILE", help="run under these rules instead: a TOML file, default or recall_v5")
    set_arguments(parser)
    memory_arguments(parser)
    add("--replications", type=int, metavar="N", help="how many independent replications to run at once")
    add("--replication", type=int, metavar="K", help="run only the replication of this number")
    add("--seed", type=int, metavar="N", help="another seed")
    add("--from", dest="source", metavar="STORE", help="let the memory begin with a store, or what malsim import reads")
    add("--strict", action="store_true", help="exit 1 if the gate refused a claim")
    add("--html", type=Path, metavar="FILE", help="write one page that opens offline: lines, zoom, why?")
    add("--no-plots", action="store_true", help="write frames only")


def main(args: argparse.Namespace) -> int:
    """Read, run, write, say."""
    from malsim import api
    from malsim.base.errors import ProcessError
    from malsim.base.files.outputs import save_text
    from malsim.lab.space.scenario_options import under_law, with_memory
    from malsim.memory import Rules
    from malsim.scenario.file.initial_store import initial_memory_from
    from malsim.sim.why.refused_claims import refusal_count

    scenario = with_memory(api.read(args.scenario, allow_code=args.allow_code), args)
    scenario = under_law(scenario, args, rules=Rules.read(args.rules) if args.rules else None)
    changes = {name: getattr(args, name) for name in ("replications", "seed") if getattr(args, name) is not None}
    if args.replication is not None:
        changes |= {"first": args.replication, "replications": 1}
    if args.source:
        changes["initial_memory"] = initial_memory_from(args.source)
    scenario = scenario.replace(**changes)
    folder = args.output or Path("out") / scenario.name
    try:
        run = api.run(scenario)
    except ProcessError as problem:
        if problem.run is not None:
            problem.run.write(folder)
        raise
    paths = run.write(folder)
    if not args.no_plots:
        paths += run.plot.save(folder)
    if args.html:
        save_text(args.html, run.page())
    print(run)
    print(f"  {folder}/: {', '.join(path.name for path in paths)}")
    if args.html:
        print(f"  {args.html}: open it in a browser; click a line to be told why it is where it is")
    return 2 if run.failures else int(args.strict and refusal_count(run.events, run.bands, scenario.replications) > 0)
