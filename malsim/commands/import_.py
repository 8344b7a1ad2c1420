"""Bring a Recall store or archive into a store of malsim's, or prime a store from another one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "source", metavar="SOURCE", help="a Recall database or JSON archive, or a store that lends what it speaks of"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="STORE", help="the store to write")


def main(args: argparse.Namespace) -> int:
    """Read, write, report."""
    from malsim.memory import Memory
    from malsim.memory.bootstrap import bootstrap, prime
    from malsim.memory.importers.recall import import_recall
    from malsim.memory.store import Store
    from malsim.memory.tables.connect import is_store

    if is_store(Path(args.source)):
        lender = Memory.open(args.source)
        with Store(args.output) as store:
            before = store.memory
            day = store.day or 0.0
            store.save(prime(bootstrap(before, t=day), lender, t=day), t=day)
            print(f"{args.output}: {store.memory!r}, {store.memory.cells.height - before.cells.height} cells new")
        return 0
    came = import_recall(args.source)
    with Store(args.output) as store:
        store.save(came.memory, start=came.start)
    print(f"{args.output}: {came.memory!r}, day 0 is {came.start}\n{came}")
    return 0
