"""List the standing signals, or evaluate them on a store.

malsim signals                                 all signals, by axis
malsim signals dependency-rot                  netlist of one signal, to copy and change
malsim signals memory.sqlite                   firing rows, worst row and action of each signal
"""

from __future__ import annotations

import argparse

from malsim.base.finite import day

STORE = (".sqlite", ".sqlite3", ".db")
HEADING = "wire"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="only these signals; may include a store")
    add("--on", metavar="STORE", help="evaluate the signals on this store, which is never changed")
    add("--ticks", type=int, default=1, metavar="N", help="with --on: number of ticks, for signals that measure rates (1)")
    add("--every", type=day, default=1.0, metavar="DAYS", help="with --on: days between two ticks (1)")
    add("--scope", metavar="NAME", help="with --on: scope of the store (default: the common scope)")


def main(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError
    from malsim.memory.store import Store
    from malsim.netlist.shipped import catalogue, readings, signal_named

    stores = [name for name in args.names if name.endswith(STORE)]
    names = [signal_named(name).name for name in args.names if name not in stores]
    store = args.on or next(iter(stores), None)
    for name, value in (("--ticks", args.ticks), ("--every", args.every)):
        if not 0 < value < 1e6:  # noqa: PLR2004
            raise UsageError("out of bounds", where=name, given=value, allowed="above 0")
    if store is not None:
        with Store(store, write=False) as file:
            memory, now = file.within(file.memory, args.scope), file.day or 0.0
        for reading in readings(memory, names or list(catalogue()), now=now, ticks=args.ticks, every=args.every):
            print(reading)
        return 0
    if names:
        print("\n".join(signal_named(name).text for name in names), end="")
        return 0
    axis = ""
    for signal in catalogue().values():
        if signal.axis != axis:
            axis = signal.axis
            print(f"{axis}:")
        print(f"  {signal.name:<27} {signal.display:<9} {signal.rule}")
        print(f"  {'':<37} acts: {signal.acts}")
    return 0
