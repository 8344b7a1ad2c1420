"""Search for the rules with the lowest loss on scenarios or real claims; save them if they hold up.

malsim tune scenarios/poisoner.toml --space rules.challenge_ceiling=0.1:0.9 --objective brier -o rules.toml
malsim tune claims_folder --space rules.calibration=none,brier,overconfidence --space rules.support_ceiling=0:0.9
malsim tune scenarios/poisoning/direct.toml --space rules.damping=0.5:1 --objective accuracy --keep "gap >= 2" --budget 32
malsim tune a.toml b.toml --require "always (eff(obs_a1a1) >= 0.3)" --space rules.damping=0.2:1
"""

from __future__ import annotations

import argparse
import json
import math
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.lab.space.scenario_options import set_arguments, under_law

if TYPE_CHECKING:
    from malsim.lab.tuning import TuningResult

HEADING = "tune"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("problems", nargs="+", metavar="SCENARIO|DIR", help="scenario files or folders of claims with truth")
    add("--space", action="append", required=True, metavar="NAME=LOW:HIGH|A,B", help="setting with its range or choices")
    add(
        "--objective",
        action="append",
        metavar="MEASURE",
        help="metric to minimise (default: brier); with two, find a Pareto front",
    )
    add(
        "--require",
        action="append",
        default=[],
        metavar="PROPERTY",
        help="instead maximise this property's worst margin",
    )
    add("--keep", action="append", default=[], metavar="BOUND", help='bound that every point must meet, such as "gap >= 3"')
    add("--holdout", action="append", metavar="SCENARIO|DIR", help="held-out problems (default: half of them)")
    add("--rules", metavar="FILE", help="start from these rules: a TOML file, a preset, or FILE.py:FORMULA")
    set_arguments(parser)
    add("--budget", type=int, default=256, metavar="N", help="number of points, 32 or more (256)")
    add("--replications", type=int, default=16, metavar="N", help="minimum number of replications per scenario (16)")
    add("--seed", type=int, default=0, metavar="N", help="seed of the search (0)")
    add("--workers", type=int, default=1, metavar="N", help="number of processes; the result does not depend on it")
    add("--json", action="store_true", help="print one JSON object")
    add("-o", "--output", type=Path, metavar="FILE", help="write the rules to this file and a figure next to it")


def main(args: argparse.Namespace) -> int:
    """Search for better rules and print the result. Return 1 if none are recommended."""
    from malsim.api import read
    from malsim.commands.sweep import ranges
    from malsim.lab.studies.pool import executor_of
    from malsim.lab.tuning import tune
    from malsim.memory import Rules

    objective = args.objective if args.objective is None or len(args.objective) > 1 else args.objective[0]
    settings: dict[str, Any] = {
        "objective": objective, "requirements": args.require, "keep": args.keep, "holdout": args.holdout,
        "budget": args.budget, "replications": args.replications, "seed": args.seed, "progress": not args.json,
        "rules": Rules.read(args.rules) if args.rules else None,
    }  # fmt: skip
    space = ranges(args.space, "--space")
    changed = bool(args.law or args.set)
    problems = [under_law(read(path), args) if changed and Path(path).is_file() else path for path in args.problems]
    with executor_of(workers=args.workers) if args.workers > 1 else nullcontext() as executor:
        result = tune(problems, space=space, executor=executor, **settings)
    print(json.dumps(_summary(result), indent=1) if args.json else result)
    if args.output:
        stem = args.output.with_suffix("")
        figures = {
            stem.with_name("-".join(filter(None, (stem.name, name))) + ".png"): figure
            for name, figure in result.figures().items()
        }
        for path, figure in figures.items():
            figure.savefig(path)
        if result.recommended:
            result.write(args.output)
        if not args.json:
            print(f"  {', '.join(map(str, [*([args.output] if result.recommended else []), *figures]))}")
    return 0 if result.recommended else 1


def _summary(result: TuningResult) -> dict[str, Any]:
    names = ("objectives", "best", "interval", "gap", "recommended", "reason", "notes")
    triples = {name: getattr(result, name) for name in ("loss", "gain", "held_out", "held_gain")}
    finite = {
        name: values and [None if math.isnan(value) else value for value in values] for name, values in triples.items()
    }
    rows = {"margins": None if result.margins is None else result.margins.to_dicts(), "front": result.front.to_dicts()}
    return {name: getattr(result, name) for name in names} | finite | rows
