"""Measure what a suite's checks notice: break its scenarios one thing at a time; the score, and the worst that nobody saw.

malsim mutate scenarios                              # 6 things of each scenario and 40 of the rules, drawn by the seed
malsim mutate scenarios/poisoner.toml --each 100 --rules 0
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.errors import UsageError
from malsim.base.files.outputs import save_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from malsim.base.limits import Limits
    from malsim.lab.suite.mutation import Fate, MutationScore
    from malsim.sim.settings.scenario import Scenario

EACH, RULES, TRIED = 6, 40, 12
SAID = {"broke off": "broke off", "equivalent": "change nothing that is recorded", "impossible": "cannot be made"}


HEADING = "judge"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="PATH", help="scenario files, or folders of them")
    add("--each", type=int, default=EACH, metavar="N", help=f"most mutants of a scenario's own; default {EACH}")
    add("--rules", type=int, default=RULES, metavar="N", help=f"most mutants of the rules; default {RULES}")
    add("--tried", type=int, default=TRIED, metavar="N", help=f"try a rule in the N quickest scenarios; default {TRIED}")
    add("--seed", type=int, default=0, metavar="N", help="the seed that draws them; default 0")
    add("--json", action="store_true", help="print the shares noticed as one JSON list")
    add("--worst", type=int, default=5, metavar="N", help="how many survivors to name; default 5")
    add("-o", "--output", type=Path, metavar="FILE", help="write every mutant's fate as Parquet or CSV")


def main(args: argparse.Namespace) -> int:
    """Judge, break, count; exit 1 where a scenario does not pass as it is, which is left out."""
    from malsim.base.limits import Limits
    from malsim.lab.suite.mutation import MutationScore
    from malsim.scenario.judge.suite_summary import scenario_files

    limits, paths = Limits.of(args), scenario_files(args.paths)
    fates, passed = _of_scenarios(paths, args, limits)
    if not any(one.checks for one in passed):
        raise UsageError("no scenario with checks that pass", given=", ".join(map(str, args.paths)))
    result = MutationScore((*fates, *_of_rules(passed, args, limits)))
    print(json.dumps(result.shares) if args.json else "\n".join(_lines(result, args.worst)))
    if args.output:
        save_table(args.output, result.frame)
    return int(len(passed) < len(paths))


def _of_scenarios(paths: Sequence[Path], args: argparse.Namespace, limits: Limits) -> tuple[list[Fate], list[Scenario]]:
    """The fates of scenarios' own mutants, one scenario's runs in memory at a time, and the scenarios that pass."""
    from tqdm import tqdm

    from malsim.lab.suite.mutation import sample_mutants, score, suite_mutants
    from malsim.scenario.file.scenario_file import read
    from malsim.scenario.judge.judge import judge

    fates: list[Fate] = []
    passed: list[Scenario] = []
    for path in tqdm(paths, unit="scenario", disable=None):
        base = judge(read(path), limits=limits)
        if base.status != "pass":
            why = f"left out, as it does not pass as it is{base.error and f': {base.error}'}"
            print(f"{base.scenario.path}: {why}", file=sys.stderr if args.json else sys.stdout)
            continue
        passed.append(base.scenario)
        if base.scenario.checks:
            own = sample_mutants(suite_mutants([base]), each=args.each, rules=0, tries=0, seed=args.seed)
            fates += score([base], limits=limits, cases=own).fates
    return fates, passed


def _of_rules(passed: Sequence[Scenario], args: argparse.Namespace, limits: Limits) -> Sequence[Fate]:
    """The fates of mutants of the rules, in the quickest of the scenarios that pass."""
    from tqdm import tqdm

    from malsim.lab.suite.mutation import quickest, sample_mutants, score, suite_mutants
    from malsim.scenario.judge.judge import judge

    tried = quickest(one for one in passed if one.checks)[: args.tried]
    suite = [judge(scenario, limits=limits) for scenario in tried] if args.rules else []
    rules = sample_mutants(suite_mutants(suite), each=0, rules=args.rules, tries=args.tried, seed=args.seed)
    return score(suite, limits=limits, cases=tqdm(rules, unit="mutant", disable=None)).fates


def _lines(result: MutationScore, worst: int) -> list[str]:
    """A line an owner, the score, the worst survivors."""
    width = max(map(len, result.table["owner"]), default=0)
    lines = [
        f"{row['owner']:<{width}}  {row['killed']:>3} of {row['scored']:<3} noticed"
        + "".join(f", {row[kind]} {text}" for kind, text in SAID.items() if row[kind])
        for row in result.table.rows(named=True)
    ]
    survivors = [f"  {one.change:.4f}  {one.owner}: {one.mutant}" for one in result.worst(worst)]
    head = ["unnoticed, though the mean effective moved most:"] if survivors else []
    return [*lines, result.summary, *head, *survivors]
