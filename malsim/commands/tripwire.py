"""Score or design a tripwire: detections, misses, false alarms, and whether the tripwire still works.

malsim tripwire scenarios/tripwire.malnet --scenario scenarios/tripwire.toml --html scorecard.html -o scorecard.png
malsim tripwire --scenario scenarios/tripwire.toml                       the scenario's own netlist
malsim tripwire a.malnet b.malnet --scenario scenarios/tripwire.toml     compare in one table, with CUSUM and EWMA
malsim tripwire design --arl0 2000 --delay 5 --shift 2 -o wire.malnet    design from run lengths, test on fresh seeds
malsim tripwire design --arl0 2000 --delay 5 --scenario scenarios/tripwire.toml --signal low
malsim tripwire design out/tripwire --speak 10:14 --silent 1:9           design from days of a recorded run or store
malsim tripwire scenarios/tripwire.malnet --prove "always (bad and not ack implies tripped)"    for all inputs
malsim tripwire --scenario scenarios/tripwire_poisoned.toml --prove safety       the scenario's own netlist, for all inputs
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.files.outputs import save_text
from malsim.lab.space.scenario_options import set_arguments, under_law
from malsim.scenario.judge.proof_options import proof_arguments, prove_each

if TYPE_CHECKING:
    from malsim.lab.tripwire.study.scorecard import Scorecard

HEADING = "test"
OUTPUTS = "figure (.png, .svg), scores (.json) or truth table (.csv); a design: .malnet; --prove: .toml"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("netlists", nargs="*", metavar="FILE", help="netlists (default: the scenario's netlist); or the word design")
    set_arguments(parser)
    add("--scenario", metavar="FILE", help="scenario to test on, with [[episode]]s and checks")
    add("--alarm", metavar="SIGNAL", help="alarm bit (default: output of the only latch)")
    add("--replications", type=int, metavar="N", help="number of replications")
    add("--quick", action="store_true", help="skip mutants and faults, which take one run each")
    add("--strict", action="store_true", help="also exit 1 if a mutant other than a moved level is not caught")
    add("--junit", type=Path, metavar="FILE", help="write JUnit XML with a test case per safety answer and mutant")
    add("--html", type=Path, metavar="FILE", help="write one self-contained page")
    add("-o", "--output", type=Path, metavar="FILE", help=OUTPUTS)
    proof_arguments(parser)
    design = parser.add_argument_group("design")
    design.add_argument("--arl0", type=float, metavar="TICKS", help="minimum mean time to a false alarm")
    design.add_argument("--delay", type=float, metavar="TICKS", help="maximum mean time to detection")
    design.add_argument("--shift", type=float, help="shift to detect, in the signal's unit (1)")
    design.add_argument(
        "--noise", type=float, nargs=3, default=(0.0, 1.0, 0.0), metavar=("MEAN", "SIGMA", "CORRELATION"),
        help="noise of the signal without faults; the correlation is that of successive ticks (0 1 0)",
    )  # fmt: skip
    design.add_argument(
        "--signal", metavar="NAME", help="estimate noise and shift from the scenario's quiet ticks and episodes"
    )
    design.add_argument(
        "--speak", metavar="DAYS", help="design RUN or STORE: days on which the alarm must be on, such as 6:9,33:"
    )
    design.add_argument("--silent", metavar="DAYS", help="days on which the alarm must be off")
    design.add_argument("--seed", type=int, default=0, help="seed of the simulation (0)")


def main(args: argparse.Namespace) -> int:
    """Print the scorecard. Return 1 if the tripwire fails or its silence proves nothing."""
    from malsim.api import read
    from malsim.base.errors import UsageError
    from malsim.lab.tripwire.study.validate import validate

    if args.netlists[:1] == ["design"]:
        return _design_by_example(args) if args.speak or args.silent else _design(args)
    if args.prove:
        return _prove(args)
    if not args.scenario:
        raise UsageError("--scenario is missing", hint="add --scenario FILE.toml")
    scenario = under_law(read(args.scenario), args)
    if args.replications:
        scenario = scenario.replace(replications=args.replications)
    if len(args.netlists) > 1:
        from malsim.lab.tripwire.study.validate import compare_tripwires
        from malsim.showing.pages.tripwire_page import score_lines

        print("\n".join(score_lines(compare_tripwires(args.netlists, scenario, alarm=args.alarm))))
        return 0
    netlist = Path(args.netlists[0]) if args.netlists else None
    scorecard = validate(netlist, scenario, alarm=args.alarm, mutate=not args.quick, faults=not args.quick)
    print(scorecard)
    if args.html:
        save_text(args.html, scorecard.html)
        print(f"wrote {args.html}")
    if args.junit:
        from malsim.lab.tripwire.study.exports import junit_text

        save_text(args.junit, junit_text(scorecard))
    if args.output:
        _save(scorecard, args.output)
        print(f"wrote {args.output}")
    if args.strict and (missing := scorecard.must_be_caught):
        print("mutants that were not caught (--strict):", *missing, sep="\n  ")
        return 1
    return scorecard.verdict.code


def _save(scorecard: Scorecard, path: Path) -> None:
    if path.suffix == ".json":
        from malsim.lab.tripwire.study.exports import json_text

        save_text(path, json_text(scorecard))
    elif path.suffix == ".csv":
        save_text(path, scorecard.card.csv if scorecard.card else "")
    else:
        scorecard.figure.savefig(path)


def _prove(args: argparse.Namespace) -> int:
    from malsim import api
    from malsim.base.errors import UsageError
    from malsim.netlist import load, read

    if args.scenario and not args.netlists and (config := api.read(args.scenario).netlist):
        return prove_each(config.net, config.document, args.prove, args)
    if len(args.netlists) != 1:
        given, hint = (
            " ".join(args.netlists) or "none",
            "name one .malnet file, or add --scenario FILE to prove the scenario's netlist",
        )
        raise UsageError("a proof needs exactly one netlist", given=given, hint=hint)
    document = read(args.netlists[0])
    return prove_each(load(document).net, document, args.prove, args)


def _design(args: argparse.Namespace) -> int:
    """Design a tripwire that meets the target run lengths, and write it. Return 1 if no tripwire meets the targets."""
    from malsim.base.errors import UsageError
    from malsim.lab.tripwire.runs.observation import Noise, noise_of
    from malsim.lab.tripwire.study.alarm_design import design_tripwire

    if args.arl0 is None or args.delay is None:
        raise UsageError("a design needs two targets", hint="add --arl0 TICKS and --delay TICKS")
    noise, shift = Noise(*args.noise), 1.0
    if args.scenario:
        if not args.signal:
            raise UsageError("--signal is missing", hint="add --signal NAME, the name of a numeric signal of the netlist")
        noise, shift = noise_of(args.scenario, args.signal, alarm=args.alarm)
        print(f"{args.signal}: mean {noise.mean:.4g}, sigma {noise.sigma:.3g}, correlation {noise.correlation:.2g}")
    design = design_tripwire(args.arl0, args.delay, noise=noise, shift=args.shift or shift, seed=args.seed)
    print(design)
    if args.output and args.output.suffix == ".malnet":
        save_text(args.output, design.text)
    elif args.output:
        design.figure.savefig(args.output)
    if args.output:
        print(f"wrote {args.output}")
    return 0 if design.reached else 1


def _design_by_example(args: argparse.Namespace) -> int:
    """Design a tripwire that fires on some given days and not on others, and write it. Return 1 if there is none."""
    from malsim.base.errors import UsageError
    from malsim.lab.tripwire.study.example_design import design_from_examples

    if len(args.netlists) != 2 or not (args.speak and args.silent):  # noqa: PLR2004  # the word design and the source
        hint = "run malsim tripwire design out/RUN --speak 10:14 --silent 1:9"
        raise UsageError("a design from examples needs one run or store, --speak and --silent", hint=hint)
    design = design_from_examples(args.netlists[1], args.speak, args.silent, seed=args.seed + 1)
    print(design)
    if args.output and design.watches:
        save_text(args.output, design.text)
        print(f"wrote {args.output}")
    return 0 if design.watches else 1
