"""Judge memories by axioms, duties and the price of a lie: exit with 1 if an axiom is broken or a duty fails.

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
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.judging.axioms.engine.subject import Subject
    from malsim.judging.judgement import Judgement

HEADING = "memories"
ROOT = Path(__file__).resolve().parents[2]


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    memories = "laws, presets of rules, package.module:factory or mcp:COMMAND (code is run); default: all laws"
    add("memory", nargs="*", help=memories)
    add(
        "--only",
        action="append",
        default=[],
        choices=("axioms", "duties", "price"),
        help="judge only this section; repeatable",
    )
    add("--case", action="append", default=[], metavar="NAME", help="judge only this axiom, duty or strategy; repeatable")
    add("--set", action="append", default=[], metavar="law.NAME=VALUE", help="change a parameter of the law; repeatable")
    add("--on", metavar="STORE", help="draw claims and gaps from a store or a file that malsim import reads")
    add("--fact", metavar="NAME", help="with --on: price of overturning the answer about this object")
    add("--seed", type=int, default=0, help="seed of the draws (0)")
    add("--draws", type=int, metavar="N", help="streams per axiom and draws per duty (20; 4 for axioms of the graph)")
    add("--limit", type=float, default=10.0, metavar="S", help="time limit in seconds for each call to your own memory (10)")
    add("--honest", type=int, default=3, metavar="K", help="price: number of honest writers (3)")
    add("--most", type=int, default=12, metavar="N", help="price: maximum number of steps per strategy (12)")
    add("--zoo", action="store_true", help="run the defects in scenarios/zoo: all, or only those named")
    add("--planted", action="store_true", help="measure how often axioms find planted defects (needs the repository)")
    add("--list", action="store_true", help="list axioms, duties and strategies")
    add("--json", action="store_true", help="print one JSON object with a key for each section")
    add("--junit", metavar="FILE", help="write JUnit XML")
    add("--html", metavar="FILE", help="write a self-contained page with every witness")
    add("-o", "--output", type=Path, metavar="DIR", help="folder for figures (duties and prices; with --zoo, defects)")


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
    result = judge(subjects, questions, lambda memories, what: progress(memories, what=what, unit="memory"))
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
        raise UsageError("--set needs a law", given=", ".join(args.set), hint="run malsim judge LAW --set …")
    settings = law_settings(args.set)
    return [memory_of(name, settings=settings, limit=args.limit) for name in args.memory] or every_subject()


def _list(args: argparse.Namespace) -> int:
    from malsim.judging.axioms.engine.axiom import shipped_axioms
    from malsim.judging.duties.plots import every_duty
    from malsim.judging.prices.worlds import STRATEGIES

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
    """Write the figures. Unless memories are named, leave out laws that were not compared with the project they model."""
    from malsim.laws import unproven_laws

    priced = {price.memory for price in result.prices.prices} if result.prices else set()
    without = [] if args.memory else [name for name in unproven_laws() if name in priced]
    result.save_figures(args.output, without=without)
    if without:
        print(f"not drawn, because they were not compared with their source: {', '.join(without)}", file=sys.stderr)


def _planted(args: argparse.Namespace) -> int:
    """Print each axiom's detection rate. Return 1 if a defect is missed or a sound memory is reported as broken."""
    from malsim.base.errors import UsageError
    from malsim.base.progress import progress

    if args.memory:
        raise UsageError("--planted does not accept memories", given=", ".join(args.memory), hint="leave them out")
    if not (ROOT / "tests").is_dir():
        hint = "clone the repository, and install it with pip install -e '.[test,bench]'"
        raise UsageError("--planted needs malsim's repository, not just the installed package", hint=hint)
    sys.path.insert(0, str(ROOT))
    planted = import_module("tests.judging.axioms.planted.detection")
    rates = planted.detection(
        args.case, streams=args.draws or 20, seeds=range(args.seed, args.seed + planted.SEARCHES),
        watch=lambda defects: progress(defects, what="axioms", unit="defect"),
    )  # fmt: skip
    print(rates.rates.write_json() if args.json else rates)
    return 1 if rates.not_found or rates.alarms else 0


def _zoo(args: argparse.Namespace) -> int:
    from malsim.judging.axioms.zoo import DEFECTS, find_defect, sides

    results = [sides(defect) for defect in (map(find_defect, args.memory) if args.memory else DEFECTS)]
    print(*results, sep="\n")
    if args.output:
        args.output.mkdir(parents=True, exist_ok=True)
        for result in results:
            result.figure().savefig(args.output / f"{result.defect.name}.png")
        print(f"  {args.output}/: {len(results)} figures")
    return 0 if all(result.distinguished for result in results) else 1
