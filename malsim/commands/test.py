"""Judge scenarios by their own checks: exit 0 all passed, 1 a check failed, 2 something could not be judged."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.files.outputs import save_text
from malsim.base.limits import Limits
from malsim.lab.space.scenario_options import memory_arguments, set_arguments, under_law, with_memory

if TYPE_CHECKING:
    from malsim.lab.suite.mutation import MutationScore
    from malsim.memory import Rules
    from malsim.scenario.history.judge_history import HistorySource
    from malsim.scenario.judge.suite_summary import Suite
    from malsim.sim.settings.scenario import Scenario


HEADING = "judge"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="PATH", help="scenario files, or folders of them")
    add("--check", action="append", metavar="NAME", help="judge only the check of this name; may be repeated")
    add("--rules", metavar="FILE", help="judge under these rules instead: a TOML file, default or recall_v5")
    set_arguments(parser)
    memory_arguments(parser)
    add(
        "--on", metavar="STORE",
        help="let each memory begin with a store, or what malsim import reads; a file of checks alone is judged over what "
        "really happened in it",
    )  # fmt: skip
    add("--events", type=Path, metavar="LOG", help="judge what any memory logged as JSON lines; see malsim docs watch")
    add("--seed", type=int, metavar="N", help="another seed")
    add("--seeds", type=int, metavar="N", help="also judge on the N next seeds; say which checks hang on theirs")
    add(
        "--power", type=int, nargs="?", const=0, metavar="N",
        help="also say how often each check fails on a fresh seed though nothing is wrong, from N replications (200)",
    )  # fmt: skip
    add("--replications", type=int, metavar="N", help="how many independent replications to judge")
    add("--replication", type=int, metavar="K", help="judge this one replication alone")
    add("--strict", action="store_true", help="exit 1 if the gate refused a claim")
    add("--junit", type=Path, metavar="FILE", help="write JUnit XML, failures and errors apart")
    add("--html", type=Path, metavar="FILE", help="write one HTML file with a picture of each check")
    add("--mutate", action="store_true", help="also break the suite, one thing at a time, and name what no check notices")
    add("--mutants", type=int, metavar="N", help="break N of these things alone, spread evenly over all; implies --mutate")
    add("--approve", action="store_true", help="show what changed against the [baseline] of each file; record it on yes")
    add("--yes", action="store_true", help="with --approve: record without asking")
    add("--plot", type=Path, metavar="FILE", help="with --approve: where the plot goes; default out/NAME/baseline.png")


def main(args: argparse.Namespace) -> int:
    """Judge each file, print a line a check, and say how many passed."""
    from malsim.base.errors import UsageError

    if args.approve:
        return _approve(args)
    suite = _suite(args)
    if not (suite.unread or any(one.scenario.checks or one.error for one in suite.judged)):
        hint = "write a [[check]]" if not args.check else "see the names in the file"
        raise UsageError("no check was found", given=", ".join(map(str, args.paths)), hint=hint)
    for line in suite.lines():
        print(line)
    if args.junit:
        save_text(args.junit, suite.junit())
    if args.html:
        from malsim.showing.pages.suite import report

        save_text(args.html, report(suite))
    if (args.mutate or args.mutants is not None) and not suite.exit_code:
        print(_score(suite, Limits.of(args), args.mutants))
    codes = [suite.exit_code]
    if args.seeds is not None:
        codes.append(_seeds(suite, args))
    if args.power is not None:
        codes.append(_power(suite, args))
    return max(codes)


def _approve(args: argparse.Namespace) -> int:
    """Record each file's baseline on yes; 1 if the answer was no."""
    from malsim.lab.suite.approval import approve
    from malsim.scenario.judge.suite_summary import scenario_files

    limits = Limits.of(args)
    return max(
        approve(str(path), limits=limits, say=print, yes=args.yes, plot=args.plot) for path in scenario_files(args.paths)
    )


def _seeds(suite: Suite, args: argparse.Namespace) -> int:
    from tqdm import tqdm

    from malsim.scenario.judge.fresh_seeds import on_fresh_seeds

    result = on_fresh_seeds(tqdm(suite.judged, unit="scenario", disable=None), args.seeds, limits=Limits.of(args))
    for line in result.lines():
        print(line)
    return result.exit_code


def _power(suite: Suite, args: argparse.Namespace) -> int:
    from tqdm import tqdm

    from malsim.scenario.judge.power import POOL, chances

    watched = tqdm(suite.judged, unit="scenario", disable=None)
    result = chances(watched, args.power or POOL, limits=Limits.of(args))
    for line in result.lines():
        print(line)
    return result.exit_code


def _score(suite: Suite, limits: Limits, count: int | None) -> MutationScore:
    from tqdm import tqdm

    from malsim.lab.suite.mutation import evenly, score, suite_mutants

    mutants = suite_mutants(suite.judged)
    sample = mutants if count is None else evenly(mutants, count)
    return score(suite.judged, limits=limits, cases=tqdm(sample, unit="mutant", disable=None))


def _suite(args: argparse.Namespace) -> Suite:
    from malsim.base.errors import MalsimError
    from malsim.memory import Rules
    from malsim.scenario.file.scenario_file import read
    from malsim.scenario.history.judge_history import judge_history
    from malsim.scenario.judge.judge import judge
    from malsim.scenario.judge.suite_summary import Suite, scenario_files

    rules = Rules.read(args.rules) if args.rules else None
    limits = Limits.of(args)
    results, unread = [], []
    for path in scenario_files(args.paths):
        try:
            scenario = read(path, allow_code=args.allow_code)
            recording = _recording(args, scenario)
            scenario = scenario if recording else with_memory(scenario, args)
            scenario = _with_options(scenario, args, rules, begins=recording is None)
            if scenario.checks or not args.check:
                results.append(
                    judge_history(scenario, recording, limits=limits) if recording else judge(scenario, limits=limits)
                )
        except MalsimError as problem:
            unread.append((str(path), str(problem)))
    options = f" --rules {shlex.quote(args.rules)}" if args.rules else ""
    options += f" --law {shlex.quote(args.law)}" if args.law else ""
    options += "".join(f" --memory {shlex.quote(name)}" for name in args.memory)
    options += "".join(f" --set {shlex.quote(text)}" for text in args.set)
    options += "".join(
        f" --{flag.replace('_', '-')} {shlex.quote(str(value))}"
        for flag in ("on", "mapping", "call_limit")
        if (value := getattr(args, flag)) is not None and not args.events
    )
    options += " --allow-code" if args.allow_code else ""
    return Suite(tuple(results), tuple(unread), options + limits.flags, strict=args.strict)


def _recording(args: argparse.Namespace, scenario: Scenario) -> HistorySource | None:
    """What really happened, where that is to be judged; None where the scenario is to be run."""
    from malsim.base.errors import UsageError
    from malsim.scenario.file.scenario_file import holds_checks_alone
    from malsim.scenario.history.judge_history import HistorySource

    if not args.events and not (args.on and holds_checks_alone(scenario)):
        return None
    flags = ("law", "memory", "set", "rules", "mutate", "mutants", "power", "seed", "replications", "replication")
    options = {f"--{name}": getattr(args, name) for name in flags}
    for flag, given in options.items():
        if given not in (None, [], False):
            raise UsageError(
                f"{flag} changes a simulation, and this happened", where=scenario.path, hint=f"leave out {flag}"
            )
    if args.events and args.on:
        raise UsageError("one history at a time", given=f"--on {args.on} --events {args.events}", hint="name one of them")
    return HistorySource(args.events, log=True) if args.events else HistorySource.of(Path(args.on))


def _with_options(scenario: Scenario, args: argparse.Namespace, rules: Rules | None, *, begins: bool) -> Scenario:
    changes = {name: getattr(args, name) for name in ("seed", "replications") if getattr(args, name) is not None}
    if args.replication is not None:
        changes |= {"first": args.replication, "replications": 1}
    scenario = under_law(scenario, args, rules=rules, strict=True)
    if args.on and begins:
        from malsim.scenario.file.initial_store import initial_memory_from

        changes["initial_memory"] = initial_memory_from(args.on)
    if args.check:
        changes["checks"] = tuple(check for check in scenario.checks if check.name in args.check)
    return scenario.replace(**changes) if changes else scenario
