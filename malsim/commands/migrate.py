"""Bring an older store to the present schema; in one transaction, with a copy of what it was kept beside it."""

from __future__ import annotations

import argparse
from pathlib import Path

HEADING = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", type=Path, metavar="STORE", help="a store's file; its copy becomes STORE.v3")


def main(args: argparse.Namespace) -> int:
    """Migrate, say where the copy is."""
    from malsim.memory.store.migrate import migrate
    from malsim.memory.tables.layout import VERSION

    copy = migrate(args.store)
    print(f"{args.store}: version {VERSION}; {'nothing to do' if copy is None else f'what it was is kept as {copy}'}")
    return 0
