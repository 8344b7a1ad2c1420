"""Search for the writes, noise and settings that break a check; write what is found as a scenario that fails again.

malsim falsify scenarios/worked_example.toml --check "always (eff(dec_a3ee) >= 0.3)" --budget 100
malsim falsify my.toml --check "always (eff(dec_a3ee) >= 0.2)" --writes 6 --parameter rules.damping=0.1:0.9
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from malsim.base.files.outputs import save_text
from malsim.lab.space.scenario_options import set_arguments, under_law

HEADING = "test"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="a scenario file")
    add("--check", required=True, metavar="NAME", help="one of its checks, or a property")
    add("--budget", type=int, default=500, metavar="RUNS", help="most runs of the search (500)")
    add("--writes", type=int, default=4, help="most claims put in (4); 0 for settings alone")
    add("--writer", action="append", default=[], metavar="NAME", help="who may write; repeat")
    add("--target", action="append", default=[], metavar="HANDLE", help="what may be written about; repeat")
    add("--relation", action="append", default=[], metavar="NAME", help="supports, contradicts …; repeat")
    add("--parameter", action="append", default=[], metavar="NAME=LOW:HIGH", help="also vary this setting; repeat")
    set_arguments(parser)
    add("--seed", type=int, default=0, help="of the search (0); the scenario keeps its own")
    add("--workers", type=int, default=1, help="processes that share the runs (1); what is found is the same")
    add("-o", "--output", type=Path, metavar="FILE", help="default NAME.broken.toml next to the scenario")


def main(args: argparse.Namespace) -> int:
    """Search, shrink, write; exit 1 where it was broken."""
    from malsim.api import read
    from malsim.commands.sweep import ranges
    from malsim.lab.falsify import falsify
    from malsim.lab.studies.pool import executor_of

    options: dict[str, Any] = {"relations": tuple(args.relation)} if args.relation else {}
    with executor_of(workers=args.workers) if args.workers > 1 else nullcontext() as executor:
        result = falsify(
            under_law(read(args.scenario), args, strict=True), args.check, budget=args.budget, writes=args.writes,
            writers=args.writer, targets=args.target, parameters=ranges(args.parameter, "--parameter"), seed=args.seed,
            executor=executor, **options,
        )  # fmt: skip
    print(result)
    if not result.broken:
        return 0
    path = args.output or Path(args.scenario).with_suffix(".broken.toml")
    save_text(path, result.text)
    print(f"wrote {path}, which fails again: malsim test {path}")
    return 1
