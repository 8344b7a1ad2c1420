"""Look inside a store: the mini-index a reader would be pushed, or one cell with every term explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from malsim.memory import Memory, Rules
    from malsim.memory.store import Store

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("store", metavar="STORE", help="a store's file, such as memory.sqlite; it is only read")
    parser.add_argument("cell", nargs="?", metavar="CELL", help="a handle, a key or HANDLE@vN: this cell, opened")
    parser.add_argument("--query", default="", metavar="TEXT", help="what the mini-index is to be about")
    parser.add_argument("--at", type=float, metavar="DAY", help="as it stood on this day, or will stand if nobody writes")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="most lines; default 10")
    parser.add_argument("--budget", type=int, default=900, metavar="WORDS", help="most words; default 900")
    parser.add_argument("--rep", type=int, default=0, metavar="K", help="the replication; default 0")
    parser.add_argument("--rules", metavar="FILE", help="worth under these rules: a TOML file, default or recall_v5")
    parser.add_argument(
        "--set", action="append", default=[], metavar="rules.NAME=VALUE", help="change one rule; may be repeated"
    )


def main(args: argparse.Namespace) -> int:
    """Open, look, print."""
    from malsim.memory import Rules
    from malsim.memory.store import Store

    rules = Rules.read(args.rules or "default").set(*args.set)
    with Store(args.store, write=False) as store:
        asked = {"rep": args.rep, "rules": rules, "now": store.day if args.at is None else args.at}
        push = {"budget_words": args.budget, "limit": args.limit, **asked}
        if args.at is None and not (args.rules or args.set):
            print(store.expand(args.cell, **asked) if args.cell else _listed(store, store.mini_index(args.query, **push)))
            return 0
        memory = _seen(store, args.at, rules)
        print(memory.expand(args.cell, **asked) if args.cell else _listed(store, memory.mini_index(args.query, **push)))
    return 0


def _seen(store: Store, at: float | None, rules: Rules) -> Memory:
    """The memory as a reader sees it: as recorded where a write was made on that very day, else one tick from there."""
    from malsim.memory import tick

    if at is None:
        return tick(store.memory, store.day or 0.0, rules)
    memory = store.at(at)
    return memory if at in store.ticks["t"].to_list() else tick(memory, at, rules)


def _listed(store: Store, push: object) -> str:
    day = "never written to" if store.day is None else f"last written on day {store.day:g}"
    since = f" (day 0 is {store.start})" if store.start else ""
    return f"{push}\n{store.memory!r}, {day}{since}" if str(push) else f"nothing found in {store.memory!r}, {day}{since}"
