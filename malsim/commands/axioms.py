"""Test memories against the axioms of a sound memory; exit 1 if one is broken, with the smallest witness found.

malsim axioms my_package.my_module:MyMemory --html axioms.html
malsim axioms membrane --set law.half_life=7 --on memory.sqlite
malsim axioms --zoo -o out/zoo
malsim axioms --planted --axiom echo-independence
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.judging.axioms.engine.axiom import Axiom
    from malsim.judging.axioms.engine.matrix import Matrix
    from malsim.judging.axioms.engine.subject import Subject


HEADING = "memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("law", nargs="*", help="a law, or package.module:factory, whose code is run; all laws if left out")
    add("--axiom", metavar="NAME", help="this axiom alone")
    add("--set", action="append", default=[], metavar="law.NAME=VALUE", help="change a law's number")
    add("--on", metavar="STORE", help="draw claims from a store, or from what malsim import reads")
    add("--seed", type=int, default=0, help="of the search (0)")
    add("--limit", type=float, default=10.0, metavar="S", help="seconds a call of your own memory may take (10)")
    add("--streams", type=int, metavar="N", help="tries of an axiom (20; 4 where the graph is asked)")
    add(
        "--planted", action="store_true", help="how often each axiom finds the defects planted for it (needs the repository)"
    )
    add("--list", action="store_true", help="print the axioms, a sentence each")
    add("--zoo", action="store_true", help="run defects that shipped (scenarios/zoo; all, or those named)")
    add("--json", action="store_true", help="print one JSON list of law, axiom, verdict, witness")
    add("--html", metavar="FILE", help="write a page that opens offline: a picture a witness, prices beside")
    add("-o", "--output", type=Path, metavar="DIR", help="with --zoo: folder for a picture a defect")


def main(args: argparse.Namespace) -> int:
    """Search, show, say."""
    from malsim.base.errors import UsageError
    from malsim.base.progress import progress
    from malsim.judging.axioms.engine.axiom import find_axiom, shipped_axioms
    from malsim.judging.axioms.engine.matrix import matrix

    if args.list:
        for axiom in shipped_axioms().values():
            print(f"{axiom.name:<22} {axiom.sentence}")
        return 0
    if args.zoo:
        return _zoo(args)
    if args.streams is not None and args.streams < 1:
        raise UsageError("no number of streams", where="--streams", given=args.streams, allowed="1 or more")
    if args.planted:
        return _planted(args)
    axioms: list[Axiom] | None = [find_axiom(args.axiom)] if args.axiom else None
    subjects = _subjects(args)
    verdicts = matrix(subjects, axioms, seed=args.seed, watch=lambda those: progress(those, what="axioms", unit="law"))
    if args.html:
        from malsim.judging.axioms.engine.page import write_page

        write_page(verdicts, subjects, args.html, figures=_prices(subjects))
    _print(verdicts, json=args.json)
    return 2 if verdicts.errors else 1 if verdicts.broken else 0


def _prices(subjects: list[Subject]) -> dict[str, dict[str, str]]:
    """What a lie and the truth cost, in claims (see `malsim price`), of each memory that can be priced."""
    from malsim.base.errors import MalsimError
    from malsim.base.progress import progress
    from malsim.judging.prices.pricing import price_of
    from malsim.judging.prices.worlds import closed_world

    world, lie, truth = closed_world(3, most=12), dict[str, str](), dict[str, str]()
    for subject in progress(subjects, what="prices", unit="law"):
        try:
            price = price_of(subject, world)
        except MalsimError:  # it never answers the truth before the lie begins
            continue
        lie[subject.name] = f"{price.lie_claims or 'over 12'}"
        truth[subject.name] = f"{price.truth_claims or 'over 12'}"
    return {"price of the lie": lie, "price of the truth": truth}


def _subjects(args: argparse.Namespace) -> list[Subject]:
    from malsim.base.errors import UsageError
    from malsim.judging.axioms.engine.subjects import every_subject, subject_of
    from malsim.lab.space.scenario_options import law_settings

    if args.set and not args.law:
        raise UsageError("which law is meant?", where="--set", given=", ".join(args.set), hint="name it: malsim axioms LAW")
    settings = law_settings(args.set)
    subjects = [subject_of(name, settings=settings, limit=args.limit) for name in args.law] or every_subject()
    if args.on:
        from malsim.judging.axioms.own_claims import on_claims

        subjects = on_claims(subjects, args.on)
    return [replace(each, cases=args.streams or each.cases) for each in subjects]


def _planted(args: argparse.Namespace) -> int:
    """The detection rate of each axiom; exit 1 where a defect is not found, or a sound memory is said to be broken."""
    from malsim.base.errors import UsageError
    from malsim.base.progress import progress
    from malsim.repository import from_repository

    if args.law:
        raise UsageError("asks the planted memories", where="--planted", given=", ".join(args.law), hint="leave the law out")
    planted = from_repository("tests.judging.axioms.planted.detection", where="malsim axioms --planted")
    names, seeds = [args.axiom] if args.axiom else [], range(args.seed, args.seed + planted.SEARCHES)
    rates = planted.detection(names, streams=args.streams or 20, seeds=seeds,
                              watch=lambda those: progress(those, what="axioms", unit="defect"))  # fmt: skip
    if args.json:
        print(rates.rates.write_json())
    else:
        print(rates)
    return 1 if rates.not_found or rates.alarms else 0


def _zoo(args: argparse.Namespace) -> int:
    """Each defect beside its repair; exit 1 where the checks do not tell them apart."""
    from malsim.judging.axioms.zoo import DEFECTS, find_defect, sides

    results = [sides(defect) for defect in (map(find_defect, args.law) if args.law else DEFECTS)]
    for each in results:
        print(each)
    if args.output:
        args.output.mkdir(parents=True, exist_ok=True)
        for each in results:
            each.figure().savefig(args.output / f"{each.defect.name}.png")
        print(f"  {args.output}/: {len(results)} pictures")
    return 0 if all(each.distinguished for each in results) else 1


def _print(verdicts: Matrix, *, json: bool) -> None:
    if json:
        from json import dumps

        print(dumps(verdicts.frame.to_dicts(), indent=1, ensure_ascii=False))
        return
    from malsim.judging.axioms.engine.show import verdict_text

    print(verdict_text(verdicts))
