"""Run a scenario: write its frames and figures, and print a summary.

malsim run scenarios/mutual_dispute.toml
malsim run scenarios/mutual_dispute.toml --vary rules.challenge_ceiling=0.3,0.45,0.6
malsim run scenarios/claims/machines.csv --vary rules.challenge_ceiling=0.3,0.45,0.6
malsim run --manifest out/dispute/manifest.json      repeat a run and report differences
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.lab.space.scenario_options import memory_arguments, set_arguments

if TYPE_CHECKING:
    from malsim.sim.settings.scenario import Scenario

HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("scenario", nargs="?", metavar="SCENARIO", help="scenario file; with --vary also claims or a store")
    what.add_argument("--manifest", type=Path, metavar="FILE", help="repeat the run of this manifest.json and compare")
    add("--vary", metavar="NAME=V,V,…", help="run once per value of a setting and draw all runs in one figure")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for frames and figures (default: out/NAME)")
    add("--rules", metavar="FILE", help="run under these rules: a TOML file, a preset, or FILE.py:FORMULA")
    set_arguments(parser)
    memory_arguments(parser)
    add("--replications", type=int, metavar="N", help="number of independent replications")
    add("--replication", type=int, metavar="K", help="run only this replication")
    add("--seed", type=int, metavar="N", help="seed of the run")
    add(
        "--from",
        dest="source",
        metavar="STORE",
        help="start from the memory of a store, or of a file that malsim import reads",
    )
    add("--strict", action="store_true", help="exit 1 if the gate refused a claim")
    add("--html", type=Path, metavar="FILE", help="write a self-contained interactive page")
    add("--vcd", type=Path, metavar="FILE", help="write the netlist's signals for a waveform viewer")
    add("--no-plots", action="store_true", help="write no figures")


def main(args: argparse.Namespace) -> int:
    """Run the scenario and write its outputs. With `--manifest`, return 1 if the repeated run differs."""
    if args.manifest:
        from malsim.scenario.rerun import rerun

        comparison = rerun(args.manifest)
        print(comparison)
        return 0 if comparison.same else 1
    from malsim import api
    from malsim.base.errors import ProcessError
    from malsim.base.files.outputs import save_text, set_aside
    from malsim.sim.why.refused_claims import event_count

    if args.vary:
        return _vary(args)
    scenario = _scenario(args)
    folder = args.output or Path("out") / scenario.name
    try:
        run = api.run(scenario)
    except ProcessError as problem:
        if problem.run is not None:
            problem.run.write(folder)
        raise
    before = None if args.output else set_aside(folder)
    paths = run.write(folder)
    if not args.no_plots:
        paths += run.plot.save(folder)
    if args.html:
        save_text(args.html, run.page())
    if args.vcd:
        save_text(args.vcd, run.vcd())
    print(run)
    print(_file_lines(folder, paths, before))
    if args.html:
        print(f"  {args.html}: open it in a browser; click a line to see why it has that value")
    return 2 if run.failures else int(args.strict and event_count(run.events, run.bands, scenario.replications) > 0)


def _file_lines(folder: Path, paths: list[Path], before: Path | None) -> str:
    lines = [f"  {folder}/: {', '.join(path.name for path in paths)}"]
    return "\n".join([*lines, *([f"  {before}/: previous run"] if before else [])])


def _scenario(args: argparse.Namespace) -> Scenario:
    from malsim import api
    from malsim.lab.space.scenario_options import under_law, with_memory
    from malsim.memory import Rules
    from malsim.scenario.file.initial_store import initial_memory_from

    scenario = with_memory(api.read(args.scenario, allow_code=args.allow_code), args)
    scenario = under_law(scenario, args, rules=Rules.read(args.rules, allow_code=args.allow_code) if args.rules else None)
    changes = {name: getattr(args, name) for name in ("replications", "seed") if getattr(args, name) is not None}
    if args.replication is not None:
        changes |= {"first": args.replication, "replications": 1}
    if args.source:
        changes["initial_memory"] = initial_memory_from(args.source)
    return scenario.replace(**changes)


def _vary(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError
    from malsim.base.files.outputs import save_files, set_aside
    from malsim.commands.sweep import ranges
    from malsim.lab.family import family

    if args.html:
        hint = "leave out --vary; --set NAME=VALUE --html FILE writes the page of one run"
        raise UsageError("--html and --vary cannot be combined", hint=hint)
    if ":" in args.vary or "=" not in args.vary:
        raise UsageError("not a list of values", where="--vary", given=args.vary, allowed="NAME=V,V,…",
                         hint="write --vary rules.challenge_ceiling=0.3,0.45,0.6")  # fmt: skip
    ((name, values),) = ranges([args.vary], "--vary").items()
    subject = _scenario(args) if Path(args.scenario).suffix == ".toml" else args.scenario
    runs = family(subject, name, values)
    folder = args.output or Path("out") / runs.name
    columns = [column for column in ("effective", "currency") if column in runs.frame.columns]
    columns = [column for column in columns if runs.frame[column].count()] or ["effective"]
    figures = {} if args.no_plots else {f"{column}.png": runs.plot(column) for column in columns}
    before = None if args.output else set_aside(folder)
    paths = save_files(folder, {"cells.parquet": runs.frame, **figures})
    print(runs)
    print(_file_lines(folder, paths, before))
    return 0
