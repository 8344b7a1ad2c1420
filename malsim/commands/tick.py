"""Tick a store: every score as of a day, under its rules.

malsim tick memory.sqlite                    a day after the last write
malsim tick memory.sqlite --now 41 --signals contradiction-load,dependency-rot
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from malsim.finite import day

if TYPE_CHECKING:
    import argparse

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("store", metavar="STORE", help="a store's file, such as memory.sqlite")
    parser.add_argument("--now", type=day, metavar="DAY", help="the day of the tick; default a day after the last write")
    parser.add_argument("--signals", metavar="A,B", help="then say what these standing signals read")
    parser.add_argument("--rules", metavar="FILE", help="under these rules: a TOML file, default or recall_v5")


def main(args: argparse.Namespace) -> int:
    """Tick, say how far effective moved."""
    from pathlib import Path

    import numpy as np

    from malsim.errors import StoreError, UsageError
    from malsim.memory import Rules
    from malsim.memory.store import Store
    from malsim.netlist.shipped import readings, signal_named

    names = [signal_named(name).name for name in args.signals.split(",")] if args.signals else []
    if not Path(args.store).is_file():
        raise StoreError("no such store", where=args.store, hint="make one: malsim import FILE -o memory.sqlite")
    rules = Rules.read(args.rules or "default")
    with Store(args.store) as store:
        last = store.day or 0.0
        now = last + 1.0 if args.now is None else args.now
        if now < last:
            raise UsageError("a store does not tick back", where="--now", given=now, allowed=f"{last:g} or later")
        before = store.memory.column("effective").copy()
        memory = store.tick(now, rules)
    moved = np.abs(np.nan_to_num(memory.column("effective") - before))
    print(
        f"day {now:g}: {memory.height} cells, {np.count_nonzero(moved > 0)} moved, by {moved.max(initial=0.0):.3g} at most"
    )
    for one in readings(memory, names, now=now, rules=rules) if names else []:
        print(
            f"{one.signal.name}: fires on {one.firing} of {one.rows}",
            *(f"{label} {value:.3g}" for label, value in one.highest),
        )
    return 0
