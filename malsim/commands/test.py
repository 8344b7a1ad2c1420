"""Judge scenarios by their own checks: exit 0 all passed, 1 a check failed, 2 something could not be judged."""

from __future__ import annotations

import argparse
import shlex
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.files.outputs import save_text
from malsim.base.progress import progress
from malsim.lab.space.scenario_options import memory_arguments, set_arguments, under_law, with_memory

if TYPE_CHECKING:
    from malsim.memory import Rules
    from malsim.scenario.baseline.band_compare import Comparison
    from malsim.scenario.checks.checks import BaselineCheck
    from malsim.scenario.judge.suite_summary import Suite
    from malsim.sim.run import Run
    from malsim.sim.settings.scenario import Scenario


HEADING = "test"


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
    add("--seed", type=int, metavar="N", help="another seed")
    add("--seeds", type=int, metavar="N", help="also judge on the N next seeds; list the checks that depend on theirs")
    add("--replications", type=int, metavar="N", help="how many independent replications to judge")
    add("--replication", type=int, metavar="K", help="judge this one replication alone")
    add("--strict", action="store_true", help="exit 1 if the gate refused a claim")
    add("--junit", type=Path, metavar="FILE", help="write JUnit XML, failures and errors apart")
    add("--html", type=Path, metavar="FILE", help="write one HTML file with a picture of each check")
    add("--format", choices=("text", "github"), default="text", help="github: also annotate each failure at file and line")
    add("--approve", action="store_true", help="show what changed against the [baseline] of each file; record it on yes")
    add("--yes", action="store_true", help="with --approve: record without asking")
    add("--plot", type=Path, metavar="FILE", help="with --approve: where the plot goes; default out/NAME/baseline.png")


def main(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError

    if args.approve:
        return _approve(args)
    from malsim.scenario.judge.ci_output import closing, github_lines

    suite = _suite(args)
    if not (suite.unread or any(item.scenario.checks or item.error for item in suite.judged)):
        hint = "write a [[check]]" if not args.check else "see the names in the file"
        raise UsageError("no check was found", given=", ".join(map(str, args.paths)), hint=hint)
    goals = suite.goals()
    for line in closing(suite.judged, goals, suite.options):
        print(line)
    for judged, outcome in goals if args.format == "github" else ():
        print("\n".join(github_lines(judged, [outcome])))
    print(suite.summary())
    if args.junit:
        save_text(args.junit, suite.junit())
    if args.html:
        from malsim.showing.pages.suite import report

        save_text(args.html, report(suite))
    return suite.exit_code if args.seeds is None else max(suite.exit_code, _seeds(suite, args))


def _approve(args: argparse.Namespace) -> int:
    """Record each file's baseline on yes; 1 if the answer was no."""
    from malsim.scenario.baseline.approval import approve
    from malsim.scenario.file.scenario_file import read
    from malsim.scenario.judge.suite_summary import scenario_files

    draw = partial(_draw_baseline, args.plot)
    return max(approve(read(path), say=print, draw=draw, yes=args.yes) for path in scenario_files(args.paths))


def _draw_baseline(path: Path | None, check: BaselineCheck, run: Run, comparison: Comparison) -> None:
    """Draw the run and the baseline."""
    from malsim.base.files.outputs import save_files
    from malsim.scenario.judge.judge import Judged, Outcome
    from malsim.scenario.picture import picture
    from malsim.showing.plots.runs.checked import checked

    outcome = Outcome(check=check, status="fail", message=str(comparison), comparison=comparison)
    panels = picture(Judged(scenario=run.scenario, outcomes=(outcome,), run=run))
    title = f"{run.scenario.name}: now (blue) and the baseline's band (grey)"
    if figure := panels and checked(
        panels.lines, panels.regions, panels.bands, panels.events, panels.witnesses, title=title
    ):
        target = path or Path("out") / run.scenario.name / "baseline.png"
        save_files(target.parent, {target.name: figure})
        print(f"drawn in {target}")


def _seeds(suite: Suite, args: argparse.Namespace) -> int:
    from tqdm import tqdm

    from malsim.scenario.judge.fresh_seeds import on_fresh_seeds

    result = on_fresh_seeds(tqdm(suite.judged, unit="scenario", disable=None), args.seeds)
    for line in result.lines():
        print(line)
    return result.exit_code


def _suite(args: argparse.Namespace) -> Suite:
    """Judge each file and print what came of it as it ends."""
    from malsim.base.errors import MalsimError
    from malsim.memory import Rules
    from malsim.scenario.file.scenario_file import read
    from malsim.scenario.history.judge_history import judge_history
    from malsim.scenario.judge.ci_output import file_lines, github_lines
    from malsim.scenario.judge.judge import Judged, judge
    from malsim.scenario.judge.suite_summary import Suite, scenario_files
    from malsim.sim.settings.scenario import Scenario

    rules = Rules.read(args.rules) if args.rules else None
    files, results, unread = scenario_files(args.paths), list[Judged](), list[tuple[str, str]]()
    options = _options(args)
    for path in progress(files, what="test", unit="file", delay=0.0):
        at, start = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
        try:
            scenario = read(path, allow_code=args.allow_code)
            recording = _recording(args, scenario)
            scenario = scenario if recording else with_memory(scenario, args)
            scenario = _with_options(scenario, args, rules, begins=recording is None)
            if not (scenario.checks or not args.check):
                continue
            judged = judge_history(scenario, recording) if recording else judge(scenario)
        except MalsimError as problem:
            unread.append((str(path), str(problem)))
            judged = Judged(scenario=Scenario(path=str(path)), error=str(problem))
        else:
            judged = replace(judged, seconds=time.perf_counter() - start, started=at)
            results.append(judged)
        lines = [*file_lines(judged, options, strict=args.strict)]
        lines += github_lines(judged, judged.outcomes) if args.format == "github" else ()
        print("\n".join(lines), flush=True)
    return Suite(tuple(results), tuple(unread), options, strict=args.strict)


def _options(args: argparse.Namespace) -> str:
    """Return the options under which a reproduction judges the same."""
    options = f" --rules {shlex.quote(args.rules)}" if args.rules else ""
    options += f" --law {shlex.quote(args.law)}" if args.law else ""
    options += "".join(f" --memory {shlex.quote(name)}" for name in args.memory)
    options += "".join(f" --set {shlex.quote(text)}" for text in args.set)
    options += "".join(
        f" --{flag.replace('_', '-')} {shlex.quote(str(value))}"
        for flag in ("on", "mapping", "call_limit")
        if (value := getattr(args, flag)) is not None
    )
    return options + (" --allow-code" if args.allow_code else "")


def _recording(args: argparse.Namespace, scenario: Scenario) -> Path | None:
    """Return the store whose history is to be judged; None where the scenario is to be run."""
    from malsim.base.errors import UsageError
    from malsim.scenario.file.scenario_file import holds_checks_alone

    if not (args.on and holds_checks_alone(scenario)):
        return None
    for flag in ("law", "memory", "set", "rules", "seed", "replications", "replication"):
        if getattr(args, flag) not in (None, [], False):
            raise UsageError(
                f"--{flag} changes a simulation, and this happened", where=scenario.path, hint=f"leave out --{flag}"
            )
    return Path(args.on)


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
