"""Judge scenarios by their checks: exit with 0 if all pass, 1 if a check fails, 2 if a check cannot be judged."""

from __future__ import annotations

import argparse
import shlex
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
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
    add("paths", nargs="+", type=Path, metavar="PATH", help="scenario files or folders")
    add("--check", action="append", metavar="NAME", help="judge only the check with this name; repeatable")
    add("--rules", metavar="FILE", help="judge under these rules: a TOML file, default or recall_v5")
    set_arguments(parser)
    memory_arguments(parser)
    add(
        "--on", metavar="STORE",
        help="start each memory from a store, or from a file that malsim import reads; a file with only checks is "
        "judged on the recorded history",
    )  # fmt: skip
    add("--seed", type=int, metavar="N", help="seed of the run")
    add("--seeds", type=int, metavar="N", help="also judge on the next N seeds and list the checks that depend on the seed")
    add("--replications", type=int, metavar="N", help="number of independent replications")
    add("--replication", type=int, metavar="K", help="judge only this replication")
    add("--strict", action="store_true", help="exit 1 if the gate refused a claim")
    add("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    add("--html", type=Path, metavar="FILE", help="write one HTML file with a figure for each check")
    add("--format", choices=("text", "github"), default="text", help="github: also annotate each failure with file and line")
    add("--approve", action="store_true", help="show changes against each [baseline] and record them after confirmation")
    add("--yes", action="store_true", help="with --approve: record without asking")
    add("--plot", type=Path, metavar="FILE", help="with --approve: file of the figure (default out/NAME/baseline.png)")


def main(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError

    if args.approve:
        from malsim.scenario.file.scenario_file import read
        from malsim.scenario.judge.suite_summary import scenario_files

        return max(_approve(read(path), args.plot, yes=args.yes) for path in scenario_files(args.paths))
    from malsim.scenario.judge.ci_output import closing, github_lines

    suite = _suite(args)
    if not (suite.unread or any(judged.scenario.checks or judged.error for judged in suite.judged)):
        where, hint = " ".join(map(str, args.paths)), "name a check of the file" if args.check else "add a [[check]]"
        raise UsageError("no check was found", where=where, given=args.check and args.check[0], hint=hint)
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
    if args.seeds is None:
        return suite.exit_code
    from malsim.scenario.judge.ci_output import on_fresh_seeds

    lines, code = on_fresh_seeds(progress(suite.judged, what="fresh seeds", unit="scenario"), args.seeds)
    print(*lines, sep="\n")
    return max(suite.exit_code, code)


def _approve(scenario: Scenario, plot: Path | None, *, yes: bool) -> int:
    """Show how a run differs from its baseline, and record the run after confirmation. Return 1 if the user declines."""
    from malsim.base.errors import ScenarioError
    from malsim.scenario.baseline import recording
    from malsim.scenario.checks.checks import BaselineCheck
    from malsim.sim import bench

    path = scenario.path
    check = next((check for check in scenario.checks if isinstance(check, BaselineCheck)), None)
    if check is None:
        hint = 'add [baseline] columns = ["cells.effective"]'
        raise ScenarioError("this scenario has no [baseline]", where=path, hint=hint)
    run = bench.run(scenario)
    frames, comparison = recording.recorded_columns(check.columns, run), None
    try:
        comparison = recording.against_baseline(check, run)
    except ScenarioError as problem:
        problem.hint = None  # the hints say to record the baseline, as this command does
        print(problem)
    if comparison is None:
        print(f"{path}: no usable baseline is recorded yet")
    elif comparison.passed:
        print(f"{path}: {comparison}; nothing to approve")
        return 0
    else:
        _show_differences(check, run, comparison, plot)
    if not (yes or _confirmed(f"record {', '.join(check.columns)} of {scenario.name}? [y/N] ")):
        print("nothing was recorded")
        return 1
    for recorded in recording.write(*recording.location(run), frames):
        print(f"recorded {recorded}")
    print(recording.record_approval(*recording.location(run), check.columns, comparison))
    return 0


def _confirmed(question: str) -> bool:
    with suppress(EOFError):
        return input(question).strip().lower() in ("y", "yes")
    return False


def _show_differences(check: BaselineCheck, run: Run, comparison: Comparison, plot: Path | None) -> None:
    import polars as pl

    from malsim.base.files.outputs import save_files
    from malsim.scenario.baseline.recording import series_left
    from malsim.scenario.judge.judge import Judged, Outcome
    from malsim.scenario.picture import picture
    from malsim.showing.plots.runs.checked import checked

    with pl.Config(
        tbl_rows=20, tbl_cols=9, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True, fmt_str_lengths=40
    ):
        print(comparison.differences)
    print(series_left(comparison))
    outcome = Outcome(check=check, status="fail", message=str(comparison), comparison=comparison)
    panels = picture(Judged(scenario=run.scenario, outcomes=(outcome,), run=run))
    title = f"{run.scenario.name}: now (blue) and the baseline's band (grey)"
    if figure := panels and checked(
        panels.lines, panels.regions, panels.bands, panels.events, panels.witnesses, title=title
    ):
        target = plot or Path("out") / run.scenario.name / "baseline.png"
        save_files(target.parent, {target.name: figure})
        print(f"drawn in {target}")


def _suite(args: argparse.Namespace) -> Suite:
    """Judge the files one by one, and print each result as soon as it is known."""
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
    """Return the command-line options that reproduce this judgement."""
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
    """Return the store whose history is to be judged, or None if the scenario is to be run."""
    from malsim.base.errors import UsageError
    from malsim.scenario.file.scenario_file import holds_checks_alone

    if not (args.on and holds_checks_alone(scenario)):
        return None
    for flag in ("law", "memory", "set", "rules", "seed", "replications", "replication"):
        if getattr(args, flag) not in (None, [], False):
            problem = f"--{flag} changes simulations, but this file checks recorded events"
            raise UsageError(problem, where=scenario.path, hint=f"leave out --{flag}")
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
