"""List the standing signals, or read them on a store; or measure each: delay, misses, false alarms.

malsim signals                                 the palette, axis by axis
malsim signals dependency-rot                  one signal's text, to copy and change
malsim signals memory.sqlite                   how many rows each fires on, where it is worst, and what it asks for
malsim signals --scorecard                     one table: fires, silent, delay, misses, ARL0, each with its interval
malsim signals --scorecard --seed 40 --json
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.finite import day

if TYPE_CHECKING:
    import polars as pl

STORE = (".sqlite", ".sqlite3", ".db")


HEADING = "wire"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="only these signals; a store may stand here too")
    add("--on", metavar="STORE", help="say what each reads on a store, which is not changed")
    add("--ticks", type=int, default=1, metavar="N", help="with --on: the last N ticks, for signals of rates (1)")
    add("--every", type=day, default=1.0, metavar="DAYS", help="with --on: between two ticks (1)")
    add("--scope", metavar="NAME", help="with --on: within this scope of the store; default what is everybody's")
    add("--scorecard", action="store_true", help="measure each on its streams and on ordinary work (needs the repository)")
    add(
        "--seeds",
        type=int,
        default=10,
        metavar="N",
        help="with --scorecard: streams of work that each fault is put into (10)",
    )
    add("--quiet-streams", type=int, default=20, metavar="N", help="with --scorecard: streams that ARL0 is measured on (20)")
    add("--seed", type=int, default=0, metavar="N", help="with --scorecard: of the first stream; the others follow (0)")
    add("--json", action="store_true", help="with --scorecard: print one JSON list of rows instead")
    add("-o", "--output", type=Path, metavar="FILE", help="with --scorecard: also write the table there")


def main(args: argparse.Namespace) -> int:
    """List, read or measure."""
    from malsim.base.errors import UsageError
    from malsim.netlist.shipped import catalogue, signal_named

    stores = [name for name in args.names if name.endswith(STORE)]
    names = [signal_named(name).name for name in args.names if name not in stores]
    store = args.on or next(iter(stores), None)
    for name, value in (
        ("--ticks", args.ticks),
        ("--seeds", args.seeds),
        ("--quiet-streams", args.quiet_streams),
        ("--every", args.every),
    ):
        if not 0 < value < 1e6:  # noqa: PLR2004
            raise UsageError("a number out of bounds", where=name, given=value, allowed="above 0")
    if args.seed < 0:
        raise UsageError("a seed below 0", where="--seed", given=args.seed, allowed="0 or more")
    if args.scorecard:
        return _scorecard(names, args)
    if store is not None:
        return _read(store, names or list(catalogue()), args.ticks, args.every, args.scope)
    if names:
        print("\n".join(signal_named(name).text for name in names), end="")
        return 0
    axis = ""
    for one in catalogue().values():
        if one.axis != axis:
            axis = one.axis
            print(f"{axis}:")
        print(f"  {one.name:<27} {one.display:<9} {one.rule}")
        print(f"  {'':<37} acts: {one.acts}")
    return 0


def _read(store: str, names: list[str], ticks: int, every: float, scope: str | None) -> int:
    from malsim.memory.store import Store
    from malsim.netlist.shipped import readings

    with Store(store, write=False) as file:
        memory, now = file.within(file.memory, scope), file.day or 0.0
    for one in readings(memory, names, now=now, ticks=ticks, every=every):
        print(one)
    return 0


def _scorecard(names: list[str], args: argparse.Namespace) -> int:
    """Print the table; exit code 1 where a signal misses its fault or fires on what is benign."""
    from malsim.base.files.outputs import save_table
    from malsim.repository import from_repository

    measure = from_repository("tests.netlist.standing.scorecard", where="malsim signals --scorecard")
    table: pl.DataFrame = measure.scorecard(names, seeds=args.seeds, quiet=args.quiet_streams, first_seed=args.seed)
    print(table.write_json() if args.json else _table_text(table))
    if args.output:
        save_table(args.output, table)
    return 0 if _sound(table) else 1


def _table_text(table: pl.DataFrame) -> str:
    lines = [f"{'signal':<27} {'shown':<9} fires silent {'delay':>19} {'misses':>17} {'ARL0':>7}  95 %"]
    for row in table.iter_rows(named=True):
        delay = "–" if row["delay"] is None else f"{row['delay']:.1f}"
        if row["delay_low"] is not None:
            delay += f" [{row['delay_low']:.1f}, {row['delay_high']:.1f}]"
        misses = f"{row['misses']:.2f} [{row['misses_low']:.2f}, {row['misses_high']:.2f}]"
        more = ">" if not row["alarms"] else " "
        fires, silent = ("yes" if row[name] else "NO" for name in ("fires", "silent"))
        lines.append(
            f"{row['signal']:<27} {row['shown']:<9} {fires:<5} {silent:<6} {delay:>19} {misses:>17}"
            f" {more + format(row['arl0'], '.1f'):>7}  {row['arl0_low']:.1f} to {row['arl0_high'] or float('inf'):.1f}"
        )
    lines.append("delay and ARL0 in ticks of a run; a fault comes among ordinary work, ARL0 is on ordinary work alone")
    return "\n".join(lines)


def _sound(table: pl.DataFrame) -> bool:
    return bool(table["fires"].all() and table["silent"].all())
