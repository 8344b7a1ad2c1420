"""Erase the content of a cell from a store, on behalf of a person; no copy remains in the file.

malsim store forget memory.sqlite obs_9c1f --by ann
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.finite import day_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from malsim.agents.service import MemoryService


def arguments(parser: argparse.ArgumentParser) -> None:
    cell_arguments(parser)


def main(args: argparse.Namespace) -> int:
    with at_store(args) as service:
        print(service.forget(args.cell))
    return 0


def cell_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments shared by all commands that change a cell on behalf of a person."""
    add = parser.add_argument
    add("store", metavar="STORE", type=Path, help="store, such as memory.sqlite")
    add("cell", metavar="CELL", help="handle or key")
    add("--by", required=True, metavar="NAME", help="name of the person")
    add("--scope", default="", metavar="NAME", help="scope of the cell")
    add("--now", metavar="DAY", help="day: a number or a date (default: day of the last write)")
    add("--rules", metavar="FILE", help="use these rules: a TOML file, default, recall_v5 or governed")


@contextmanager
def at_store(args: argparse.Namespace) -> Iterator[MemoryService]:
    """Open the store on behalf of the person named in the arguments."""
    from malsim.agents.service import MemoryService
    from malsim.base.errors import StoreError
    from malsim.memory.store import Store
    from malsim.memory.store.store_rules import store_rules

    if not args.store.is_file():
        raise StoreError("no such store", where=str(args.store))
    rules = store_rules(args.rules)
    with Store(args.store, write=False) as store:
        store.known_scope(args.scope)
        day = (store.day or 0.0) if args.now is None else day_of(args.now, store.start, where="--now")
    service = MemoryService(args.store, writer=args.by, rules=rules, scope=args.scope, clock=lambda: day, person=True)
    try:
        yield service
    finally:
        service.close()
