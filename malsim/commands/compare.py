"""Compare laws and memories on scenarios, files of claims, stores or recorded logs.

malsim compare scenarios/poisoner.toml scenarios/sleeper.toml --laws mal,graphiti,last_write --replications 200
malsim compare claims/ --laws last_write,graphiti,mal --ask 30d --without rumour --json
malsim compare claims.csv.gz --truth truth.csv.gz --contradictions mutual       one law, scored against simpler laws
malsim compare log.jsonl --laws records --confidence 0.7                        final beliefs of a law
malsim compare scenarios/triage_popular.toml --policies all --weekly 5,10       which disputes people should review
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.lab.space.scenario_options import memory_arguments, with_limits

if TYPE_CHECKING:
    from malsim.lab.studies.laws import LawTable
    from malsim.lab.studies.laws.replay_report import ReplayReport
    from malsim.lab.studies.triage import TriageTable
    from malsim.sim.settings.scenario import Scenario

HEADING = "memories"
REPLICATIONS, REVIEWED = 100, 40


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("what", nargs="+", metavar="SCENARIO|CLAIMS", help="scenario files, folders with claims and truth, or one file: "
        "claims, a store, a recorded log, or any file that malsim import reads")  # fmt: skip
    add("--laws", default="", metavar="A,B", help="laws (or all), presets or your own memories; the first is the baseline")
    add("--set", action="append", default=[], metavar="NAME=VALUE",
        help="change a setting of the scenarios, or of the law for one file of claims; repeatable")  # fmt: skip
    memory_arguments(parser)
    add("--rules", metavar="FILE", help="on one file of claims with mal: a preset or a TOML file with [rules]")
    add("--metric", default="accuracy,harm", metavar="M,M", help="on scenarios: metrics (accuracy,harm)")
    add("--replications", type=int, metavar="N", help="on scenarios: replications per scenario (100; 40 with --policies)")
    add("--policies", default="", metavar="A,B", help="on scenarios with [reviewers]: triage policies to compare, or all")
    add("--weekly", default="", metavar="N,N", help="with --policies: reviews per week (default: as in the scenario)")
    add("--ask", default="0d", metavar="TIME", help="on claims: time from a change of truth to the question (0d)")
    add(
        "--without",
        action="append",
        default=[],
        metavar="WRITER",
        help="on claims: leave out this writer's claims; repeatable",
    )
    add("--truth", metavar="FILE", help="on one file of claims: table of object, value and optionally valid_from")
    add("--confidence", type=float, metavar="NUMBER", help="confidence of claims that state none")
    add("--contradictions", choices=("mutual", "forward"), default="mutual", help="on one file of claims with mal (mutual)")
    add("--on-bad-rows", choices=("stop", "skip"), default="stop", help="on claims: what to do with bad rows (stop)")
    add("--strict", action="store_true", help="on one file of claims: exit 1 if the gate refused a claim")
    add("--seed", type=int, metavar="N", help="seed of the scenarios, or of the draws on claims (0)")
    add("--json", action="store_true", help="print the rows as one JSON list")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for the table, figure and page")


def main(args: argparse.Namespace) -> int:
    table = _table(args)
    print(table.json() if args.json else table)
    if args.output:
        paths = table.write(args.output)
        if not args.json:
            print(f"  {args.output}/: {', '.join(path.name for path in paths)}")
    failures = getattr(table, "failures", ())
    if args.json and failures:
        sys.stderr.write("".join(f"malsim: {line}\n" for line in failures))
    return 2 if failures else int(args.strict and getattr(table, "refusals", 0) > 0)


def _table(args: argparse.Namespace) -> LawTable | ReplayReport | TriageTable:
    from malsim.base.errors import UsageError

    if args.policies or args.weekly:
        return _policies(args)
    if all(source.endswith(".toml") for source in args.what):
        return _on_scenarios(args)
    folders = [Path(source) for source in args.what if any(Path(source).glob("claims.*"))]
    if len(folders) == len(args.what) and len(_laws(args)) > 1:
        return _on_folders(folders, args)
    if len(args.what) > 1 or args.policies:
        hint = "name only scenarios, only folders of claims with at least two laws, or one file of claims"
        raise UsageError("these inputs cannot be compared in one table", given=", ".join(args.what), hint=hint)
    return _on_claims(args)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _laws(args: argparse.Namespace) -> list[str]:
    """Return the laws and memories named on the command line. Raise `UsageError` if a law does not exist."""
    from malsim.laws import find_law, shipped_laws
    from malsim.memory.rules import PRESETS

    laws = list(shipped_laws()) if args.laws == "all" else _words(args.laws)
    for law in laws:
        if ":" not in law and law not in PRESETS:
            find_law(law, where="--laws")
    return laws


def _scenarios(args: argparse.Namespace, law: str | None = None) -> list[Scenario]:
    from malsim.lab.space.scenario_options import under_law
    from malsim.scenario.file.scenario_file import read
    from malsim.sim.settings.scenario import check_size

    args.law = law
    scenarios = [under_law(read(path, allow_code=args.allow_code), args, strict=True) for path in args.what]
    if args.seed is not None:
        scenarios = [scenario.replace(seed=args.seed) for scenario in scenarios]
    for scenario in scenarios:
        check_size(scenario.replace(replications=args.replications))
    return scenarios


def _on_scenarios(args: argparse.Namespace) -> LawTable:
    from malsim.adapters.engine.adapter import Adapter
    from malsim.base.errors import UsageError
    from malsim.lab.studies.laws import compare_on_scenarios

    args.replications = REPLICATIONS if args.replications is None else args.replications
    laws, scenarios = _laws(args), _scenarios(args)
    adapters = [scenario.adapter for scenario in scenarios if scenario.adapter and not args.memory]
    adapters += [Adapter.of(name) for name in (*laws, *args.memory) if ":" in name]
    memories = [name for name in laws if ":" not in name] + [with_limits(item, args) for item in dict.fromkeys(adapters)]
    if not memories:
        raise UsageError("nothing to compare", where="--laws", hint="name laws, or your own memory with --memory")
    return compare_on_scenarios(scenarios, memories, metrics=_words(args.metric), replications=args.replications)


def _policies(args: argparse.Namespace) -> TriageTable:
    from malsim.base.errors import UsageError
    from malsim.base.finite import finite
    from malsim.lab.studies.triage import TriageTable, compare_policies
    from malsim.sim.settings.reader import TRIAGE

    laws = _laws(args)
    if len(laws) > 1 or args.memory:
        given = ", ".join([*laws, *args.memory])
        raise UsageError("policies can only be compared under one law", where="--policies", given=given, hint="name one law")
    args.replications = REVIEWED if args.replications is None else args.replications
    policies = TRIAGE if args.policies in ("", "all") else _words(args.policies)
    try:
        weekly = [finite(float(word), where="--weekly") for word in _words(args.weekly)]
    except ValueError:
        raise UsageError("not a number", where="--weekly", given=args.weekly, allowed="N,N,…") from None
    return TriageTable.concat(
        compare_policies(scenario, policies=policies, weekly=weekly, replications=args.replications)
        for scenario in _scenarios(args, next(iter(laws), None))
    )


def _on_folders(folders: list[Path], args: argparse.Namespace) -> LawTable:
    from malsim.base.errors import UsageError
    from malsim.lab.studies.laws import LawTable, compare_on_claims, read_folder
    from malsim.sim.world.clock import DAY, span

    laws = _laws(args)
    _check_laws(laws, args)
    if args.set or args.rules:
        given = ", ".join([*args.set, args.rules or ""])
        raise UsageError("settings can only be changed for a single law", where="--set", given=given, hint="name one law")
    after, seed = span(args.ask, where="--ask") / DAY, args.seed or 0
    tables = []
    for folder in folders:
        claims, truth = read_folder(folder, on_bad_rows=args.on_bad_rows)
        data = folder.resolve().name
        tables.append(compare_on_claims(claims, truth, laws, ask_after=after, without=args.without, data=data, seed=seed))
    return LawTable.concat(tables)


def _check_laws(laws: list[str], args: argparse.Namespace) -> None:
    """Raise `UsageError` if the user's own memories are named, since they cannot run on a file of claims."""
    from malsim.base.errors import UsageError

    if memories := ", ".join([*args.memory, *(law for law in laws if ":" in law)]):
        problem, hint = "only laws can be compared on a file of claims", "compare your own memory on scenarios"
        raise UsageError(problem, where="--laws", given=memories, hint=hint)


def _on_claims(args: argparse.Namespace) -> LawTable | ReplayReport:
    """Replay a file of claims, or a memory's claims, under one law; or, if the truth is known, compare several laws."""
    from malsim.base.errors import UsageError
    from malsim.lab.studies.laws import compare_on_claims
    from malsim.lab.studies.laws.claims import read_source
    from malsim.lab.studies.laws.replay_report import replay_report
    from malsim.sim.world.clock import DAY, span

    laws, path = _laws(args) or ["mal"], Path(args.what[0])
    _check_laws(laws, args)
    claims, truth, left_out = read_source(path, args.truth, confidence=args.confidence, on_bad_rows=args.on_bad_rows)
    for line in left_out:
        print(line, file=sys.stderr)
    if len(laws) == 1:
        return replay_report(
            claims, truth, law=laws[0], settings=args.set, rules=args.rules, contradictions=args.contradictions,
            seed=args.seed or 0,
        )  # fmt: skip
    if truth is None:
        hint = "add --truth FILE, or name one law to see its answers"
        raise UsageError(
            "several laws can only be compared if the truth is known", where="--laws", given=args.laws, hint=hint
        )
    return compare_on_claims(claims, truth, laws, ask_after=span(args.ask, where="--ask") / DAY,
                             without=args.without, data=path.name, seed=args.seed or 0)  # fmt: skip
