"""Judge memories: by the axioms of a sound memory, by duties, by the price of a lie; exit 1 if one breaks or fails.

malsim judge my_package.my_module:MyMemory --html judged.html
malsim judge append governed --case change.B --case F6
malsim judge majority mal --only price -o out
malsim judge membrane --only axioms --set law.half_life=7 --on memory.sqlite
malsim judge mal --only price --on memory.sqlite --fact release
malsim judge both_facts_gone --zoo -o out/zoo
malsim judge --planted --case echo-independence
malsim judge "mcp:npx -y @modelcontextprotocol/server-memory" --json
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.judging.axioms.engine.subject import Subject
    from malsim.judging.judgement import Judgement

HEADING = "memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "memory",
        nargs="*",
        help="a law, a preset of rules, package.module:factory or mcp:COMMAND, whose code is run; all laws if left out",
    )
    add("--only", action="append", default=[], choices=("axioms", "duties", "price"), help="this section alone; repeatable")
    add("--case", action="append", default=[], metavar="NAME", help="this axiom, duty or strategy alone; repeatable")
    add("--set", action="append", default=[], metavar="law.NAME=VALUE", help="change a law's number")
    add("--on", metavar="STORE", help="draw claims and gaps from a store, or from what malsim import reads")
    add("--fact", metavar="NAME", help="with --on: price what it takes to overturn the answer about this object")
    add("--seed", type=int, default=0, help="of the draws (0)")
    add("--draws", type=int, metavar="N", help="streams of an axiom, draws of a duty (20; 4 for axioms of the graph)")
    add("--limit", type=float, default=10.0, metavar="S", help="seconds a call of your own memory may take (10)")
    add("--honest", type=int, default=3, metavar="K", help="price: honest writers who say the truth (3)")
    add("--most", type=int, default=12, metavar="N", help="price: steps of each strategy that are tried (12)")
    add("--zoo", action="store_true", help="run defects that shipped (scenarios/zoo; all, or those named)")
    add("--planted", action="store_true", help="how often axioms find the defects planted for them (needs the repository)")
    add("--list", action="store_true", help="print axioms, duties and strategies, a sentence each")
    add("--json", action="store_true", help="print one JSON object with a key for each section")
    add("--junit", metavar="FILE", help="write JUnit XML, failures and errors apart")
    add("--html", metavar="FILE", help="write a page that opens offline, with every witness")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for figures (duties, prices; with --zoo a figure a defect)")


def main(args: argparse.Namespace) -> int:
    from malsim.base.files.outputs import save_text
    from malsim.base.progress import progress
    from malsim.judging.questions import Questions, judge

    for option, other in ((args.list, _list), (args.zoo, _zoo), (args.planted, _planted)):
        if option:
            return other(args)
    questions = Questions(
        only=tuple(args.only), cases=tuple(args.case), seed=args.seed, draws=args.draws, on=args.on, fact=args.fact,
        honest=args.honest, most=args.most,
    )  # fmt: skip
    subjects = _subjects(args)
    result = judge(subjects, questions, lambda those, what: progress(those, what=what, unit="memory"))
    if args.json:
        from json import dumps

        print(dumps(result.rows(), indent=1, ensure_ascii=False))
    else:
        print(result)
    for path, make in ((args.junit, result.junit), (args.html, result.page)):
        if path:
            save_text(path, make())
    if args.output:
        _draw(args, result)
    return result.exit_code


def _subjects(args: argparse.Namespace) -> list[Subject]:
    from malsim.base.errors import UsageError
    from malsim.judging.axioms.engine.subjects import every_subject
    from malsim.judging.duties.engine.assessment import memory_of
    from malsim.lab.space.scenario_options import law_settings

    if args.set and not args.memory:
        raise UsageError("the law is not named", where="--set", given=", ".join(args.set), hint="name it: malsim judge LAW")
    settings = law_settings(args.set)
    return [memory_of(name, settings=settings, limit=args.limit) for name in args.memory] or every_subject()


def _list(args: argparse.Namespace) -> int:
    from malsim.judging.axioms.engine.axiom import shipped_axioms
    from malsim.judging.duties.plots import every_duty
    from malsim.judging.prices.strategies import STRATEGIES

    if not args.only or "axioms" in args.only:
        for axiom in shipped_axioms().values():
            print(f"{axiom.name:<22} axiom        {axiom.sentence}")
    if not args.only or "duties" in args.only:
        for duty in every_duty().values():
            print(f"{duty.name:<22} {duty.kind:<12} {duty.sentence}")
    if not args.only or "price" in args.only:
        for name in STRATEGIES:
            print(f"{name:<22} strategy     see `malsim docs price`")
    return 0


def _draw(args: argparse.Namespace, result: Judgement) -> None:
    """Write the figures; if no memory was named, without models that were not compared with their source."""
    from malsim.laws import unproven_laws

    priced = {price.memory for price in result.prices.prices} if result.prices else set()
    without = [] if args.memory else [name for name in unproven_laws() if name in priced]
    result.save_figures(args.output, without=without)
    if without:
        print(f"not drawn, because no run compares them with their source: {', '.join(without)}", file=sys.stderr)


def _planted(args: argparse.Namespace) -> int:
    """Print the detection rate of each axiom; 1 where a defect is not found, or a sound memory is said to be broken."""
    from malsim.base.errors import UsageError
    from malsim.base.progress import progress
    from malsim.repository import from_repository

    if args.memory:
        raise UsageError("asks the planted memories", where="--planted", given=", ".join(args.memory), hint="leave it out")
    planted = from_repository("tests.judging.axioms.planted.detection", where="malsim judge --planted")
    rates = planted.detection(
        args.case, streams=args.draws or 20, seeds=range(args.seed, args.seed + planted.SEARCHES),
        watch=lambda those: progress(those, what="axioms", unit="defect"),
    )  # fmt: skip
    print(rates.rates.write_json() if args.json else rates)
    return 1 if rates.not_found or rates.alarms else 0


def _zoo(args: argparse.Namespace) -> int:
    """Run each defect beside its repair; 1 where the checks do not tell them apart."""
    from malsim.judging.axioms.zoo import DEFECTS, find_defect, sides

    results = [sides(defect) for defect in (map(find_defect, args.memory) if args.memory else DEFECTS)]
    print(*results, sep="\n")
    if args.output:
        args.output.mkdir(parents=True, exist_ok=True)
        for item in results:
            item.figure().savefig(args.output / f"{item.defect.name}.png")
        print(f"  {args.output}/: {len(results)} pictures")
    return 0 if all(item.distinguished for item in results) else 1
