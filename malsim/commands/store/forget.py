"""Erase what a cell of a store says, as a person; no page of the file holds it any more.

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
    """Erase it; print how many cells are gone."""
    with at_store(args) as service:
        print(service.forget(args.cell))
    return 0


def cell_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command by which a person changes a cell."""
    add = parser.add_argument
    add("store", metavar="STORE", type=Path, help="a store's file, such as memory.sqlite")
    add("cell", metavar="CELL", help="a handle or a key")
    add("--by", required=True, metavar="NAME", help="the person who does it")
    add("--scope", default="", metavar="NAME", help="the scope that the cell is in")
    add("--now", metavar="DAY", help="the day, a number or a date; default that of the last write")
    add("--rules", metavar="FILE", help="under these rules: a TOML file, default, recall_v5 or governed")


@contextmanager
def at_store(args: argparse.Namespace) -> Iterator[MemoryService]:
    """Open the store for the person whom the arguments name."""
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
