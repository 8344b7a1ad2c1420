"""Put memories to the axioms that any sound memory keeps; exit 1 if one is broken, with the smallest witness found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from malsim.axioms.engine.matrix import Matrix

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("law", nargs="*", help="a law, or package.module:factory, whose code is run; all laws if left out")
    parser.add_argument("--axiom", metavar="NAME", help="this axiom alone")
    parser.add_argument("--seed", type=int, default=0, help="of the search (0)")
    parser.add_argument(
        "--limit", type=float, default=10.0, metavar="S", help="seconds a call of your own memory may take (10)"
    )
    parser.add_argument("--list", action="store_true", help="print the axioms, a sentence each")
    parser.add_argument("--json", action="store_true", help="print one JSON list of law, axiom, verdict, witness")
    parser.add_argument("--html", metavar="FILE", help="write a page that opens offline, with a picture a witness")


def main(args: argparse.Namespace) -> int:
    """Search, show, say."""
    from malsim.axioms.engine.axiom import find_axiom, shipped_axioms
    from malsim.axioms.engine.matrix import matrix
    from malsim.axioms.engine.subjects import every_subject, subject_of
    from malsim.progress import progress

    if args.list:
        for axiom in shipped_axioms().values():
            print(f"{axiom.name:<22} {axiom.sentence}")
        return 0
    asked = [find_axiom(args.axiom)] if args.axiom else None
    subjects = [subject_of(name, limit=args.limit) for name in args.law] if args.law else every_subject()
    found = matrix(subjects, asked, seed=args.seed, watch=lambda those: progress(those, what="axioms", unit="law"))
    if args.html:
        from malsim.axioms.engine.page import write_page

        write_page(found, subjects, args.html)
    _print(found, json=args.json)
    return 2 if found.errors else 1 if found.broken else 0


def _print(found: Matrix, *, json: bool) -> None:
    if json:
        from json import dumps

        print(dumps(found.frame.to_dicts(), indent=1, ensure_ascii=False))
        return
    from malsim.axioms.engine.show import coloured

    print(coloured(found))
