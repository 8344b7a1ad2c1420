"""Measure the price of a lie and of the truth: claims, identities, days.

malsim price majority mal my_memory:Latest -o price.png
malsim price records --honest 5 --json
malsim price mal --on memory.sqlite --fact release
malsim price records --search 200
malsim price --all -o price.png --html price.html
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from malsim.judging.prices.prices import PriceTable

HEADING = "memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("memory", nargs="*", help="a law, a preset of rules, package.module:factory or mcp:COMMAND, whose code is run")
    add("--all", action="store_true", help="every shipped law and preset")
    add("--honest", type=int, default=3, metavar="K", help="honest writers who say the truth (3)")
    add("--most", type=int, default=12, metavar="N", help="steps of each strategy that are tried (12)")
    add("--strategy", action="append", default=[], metavar="NAME", help="this strategy of a liar alone; repeatable")
    add("--on", metavar="STORE", help="begin from a store's claims, or from what malsim import reads")
    add("--fact", metavar="NAME", help="with --on: the object whose answer is to be overturned")
    add("--limit", type=float, default=10.0, metavar="S", help="seconds a call of your own memory may take (10)")
    add("--search", type=int, metavar="BUDGET", help="look for cheaper lies than the strategies', in so many streams")
    add("--seed", type=int, default=0, help="of the search (0)")
    add("--json", action="store_true", help="print doubt and price by strategy and way")
    add("--html", metavar="FILE", help="write a page that opens offline")
    add("-o", "--output", metavar="FILE", help="write the figure")


def main(args: argparse.Namespace) -> int:
    """Count, show, write."""
    table = _prices(args)
    if args.json:
        from json import dumps

        print(dumps(table.counts(), indent=1))
    else:
        print(table)
    if args.search is not None:
        _search(args, table)
    if args.html:
        from malsim.judging.prices.price_page import write_page

        write_page(table, args.html)
    if args.output:
        _draw(table, args)
    return 0


def _draw(table: PriceTable, args: argparse.Namespace) -> None:
    """Write the figure; of all memories only those that are no model, or a model equal to its source."""
    import sys

    from malsim.laws import unproven_laws

    without = [name for name in unproven_laws() if args.all and name not in args.memory]
    table.figure(without=without).savefig(args.output)
    if without:
        print(f"not drawn, as no run beside their source proves them: {', '.join(without)}", file=sys.stderr)


def _search(args: argparse.Namespace, table: PriceTable) -> None:
    """Look for cheaper lies in the closed world, one memory after the other."""
    import sys

    from malsim.base.errors import UsageError
    from malsim.judging.axioms.engine.subjects import subject_of
    from malsim.judging.prices import closed_world
    from malsim.lab.falsify.price_search import search_price

    if args.on or args.search < 1:
        raise UsageError("needs the closed world and a budget", where="--search", given=args.search, allowed="1 and more")
    world = closed_world(args.honest, most=args.most)
    for one in table.prices:
        result = search_price(subject_of(one.memory, limit=args.limit), world, one, budget=args.search, seed=args.seed)
        print(result, file=sys.stderr if args.json else sys.stdout)


def _prices(args: argparse.Namespace) -> PriceTable:
    from malsim.base.errors import UsageError
    from malsim.base.progress import progress
    from malsim.judging.axioms.engine.subjects import every_subject
    from malsim.judging.prices import price, price_on

    if not args.memory and not args.all:
        raise UsageError("which memory?", where="price", hint="name one, or --all")
    if bool(args.on) != bool(args.fact):
        raise UsageError("a store and a fact of it go together", where="--on, --fact", hint="give both")
    memories = [*args.memory, *(every_subject() if args.all else [])]

    watch = partial(progress, what="price", unit="memory")
    about: dict[str, Any] = {"most": args.most, "strategies": args.strategy, "limit": args.limit, "watch": watch}
    if args.on:
        return price_on(args.on, args.fact, *memories, **about)
    return price(*memories, honest=args.honest, **about)
