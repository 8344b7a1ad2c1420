"""Search for writes, noise and settings that break a check; the result is a failing scenario.

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
    add("scenario", metavar="SCENARIO", help="scenario file")
    add("--check", required=True, metavar="NAME", help="name of a check in the scenario, or a property")
    add("--budget", type=int, default=500, metavar="RUNS", help="maximum number of runs (500)")
    add("--writes", type=int, default=4, help="maximum number of added claims (4); 0 varies only settings")
    add("--writer", action="append", default=[], metavar="NAME", help="writer of added claims; repeatable")
    add("--target", action="append", default=[], metavar="HANDLE", help="target of added claims; repeatable")
    add("--relation", action="append", default=[], metavar="NAME", help="relation of added claims; repeatable")
    add("--parameter", action="append", default=[], metavar="NAME=LOW:HIGH", help="also vary this setting; repeatable")
    set_arguments(parser)
    add("--seed", type=int, default=0, help="seed of the search (0)")
    add("--workers", type=int, default=1, help="number of processes (1); the result does not depend on it")
    add("-o", "--output", type=Path, metavar="FILE", help="file to write (default: NAME.broken.toml next to the scenario)")


def main(args: argparse.Namespace) -> int:
    """Search for a counterexample, shrink it and write it. Return 1 if one was found."""
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
