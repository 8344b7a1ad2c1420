"""Meter one value live, as LinuxCNC's halmeter does: an address of a store, a netlist, or the end of a run.

malsim meter dec_a3ee-scores-eff memory.sqlite          as the store stands, read again whenever another process writes to it
malsim meter alarm.out alarm.malnet                     a tick after each reading
malsim meter "mean(cell-scores-eff)" scenarios/mutual_dispute.toml --samples 5

In a terminal it follows until Ctrl-C; elsewhere it says the value once, or as often as --samples asks.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from malsim.lab.shell import Session


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    from malsim.commands import hal

    add("address", metavar="ADDRESS", help="a pin, a parameter, a signal, or an address of the graph")
    hal.targets(parser)
    add("--samples", type=int, metavar="N", help="stop after so many readings")
    add("--every", type=float, default=0.1, metavar="SECONDS", help="in a terminal, between readings (0.1)")


def main(args: argparse.Namespace) -> int:
    """Read, show, wait, again."""
    import sys
    import time

    from malsim.lab.shell.listing import read

    live = sys.stdout.isatty()
    left = args.samples if args.samples is not None else None if live else 1
    try:
        for session in _sessions(args):
            if left is not None and left < 1:
                break
            line = f"day {session.day:g}  {args.address}  {read(session, args.address)}"
            print(f"\r{line}\033[K" if live else line, end="" if live else "\n", flush=True)
            left = None if left is None else left - 1
            time.sleep(args.every if live and left != 0 else 0.0)
    except KeyboardInterrupt:  # how one leaves a meter
        pass
    if live:
        print()
    return 0


def _sessions(args: argparse.Namespace) -> Iterator[Session]:
    """A session for each reading: a store as it stands by then, of anything else one tick further each time."""
    from malsim.commands import hal
    from malsim.memory.store import Store

    target = hal.opened(args)
    session, home = target.session, target.home
    if home is None or home.suffix == ".malnet":
        while True:
            yield session
            session = session.stepped()
    with Store(home, write=False) as store:
        while True:
            memory = store.memory
            if memory is not session.memory:
                session = replace(session, memory=memory, day=store.day or 0.0)
            yield session
