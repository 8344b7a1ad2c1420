"""List the standing signals, or read them on a store.

malsim signals                                 the palette, axis by axis
malsim signals dependency-rot                  one signal's text, to copy and change
malsim signals memory.sqlite                   number of rows each fires on, the worst row, the action
"""

from __future__ import annotations

import argparse

from malsim.base.finite import day

STORE = (".sqlite", ".sqlite3", ".db")
HEADING = "wire"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="only these signals; a store may stand here too")
    add("--on", metavar="STORE", help="say what each reads on a store, which is not changed")
    add("--ticks", type=int, default=1, metavar="N", help="with --on: the last N ticks, for signals of rates (1)")
    add("--every", type=day, default=1.0, metavar="DAYS", help="with --on: between two ticks (1)")
    add("--scope", metavar="NAME", help="with --on: within this scope of the store; default what is everybody's")


def main(args: argparse.Namespace) -> int:
    from malsim.base.errors import UsageError
    from malsim.netlist.shipped import catalogue, signal_named

    stores = [name for name in args.names if name.endswith(STORE)]
    names = [signal_named(name).name for name in args.names if name not in stores]
    store = args.on or next(iter(stores), None)
    for name, value in (("--ticks", args.ticks), ("--every", args.every)):
        if not 0 < value < 1e6:  # noqa: PLR2004
            raise UsageError("a number out of bounds", where=name, given=value, allowed="above 0")
    if store is not None:
        return _read(store, names or list(catalogue()), args.ticks, args.every, args.scope)
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


def _read(store: str, names: list[str], ticks: int, every: float, scope: str | None) -> int:
    from malsim.memory.store import Store
    from malsim.netlist.shipped import readings

    with Store(store, write=False) as file:
        memory, now = file.within(file.memory, scope), file.day or 0.0
    for signal in readings(memory, names, now=now, ticks=ticks, every=every):
        print(signal)
    return 0
