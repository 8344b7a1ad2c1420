"""Tick a store: every score as of a day, under its rules.

malsim store tick memory.sqlite                    a day after the last write
malsim store tick memory.sqlite --now 90 --signals contradiction-load,dependency-rot
malsim store tick memory.sqlite --signals all
malsim store tick memory.sqlite --webhook https://hooks.example/T0     post what its tripwires say
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.finite import day_of

if TYPE_CHECKING:
    import polars as pl

    from malsim.memory.graph.arrays import Array
    from malsim.memory.store import Store
    from malsim.scenario.history.webhook import Webhook


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", metavar="STORE", help="a store's file, such as memory.sqlite")
    at = "the day of the tick, a number or a date; default a day after the last write"
    add("--now", metavar="DAY", help=at)
    add("--signals", metavar="A,B", help="then say what these standing signals read, or all")
    add("--webhook", metavar="URL", help="post each alarm of this tick as JSON; exit 2 if one could not be posted")
    add("--rules", metavar="FILE", help="under these rules: a TOML file, default, recall_v5 or governed")


def main(args: argparse.Namespace) -> int:
    """Tick, say how far effective moved."""
    import numpy as np

    from malsim.base.errors import StoreError, UsageError
    from malsim.memory.store import Store
    from malsim.memory.store.store_rules import store_rules
    from malsim.netlist import event_lines
    from malsim.netlist.shipped import catalogue, readings, signal_named
    from malsim.scenario.history.webhook import Webhook

    picks = [*catalogue()] if args.signals == "all" else args.signals.split(",") if args.signals else []
    names = [signal_named(name).name for name in picks]
    if not Path(args.store).is_file():
        raise StoreError("no such store", where=args.store, hint="make one: malsim import FILE -o memory.sqlite")
    rules = store_rules(args.rules)
    webhook = Webhook.of(args.webhook) if args.webhook else None
    with Store(args.store) as store:
        last = store.day or 0.0
        now = last + 1.0 if args.now is None else day_of(args.now, store.start, where="--now")
        if now < last:
            raise UsageError("a store does not tick back", where="--now", given=now, allowed=f"{last:g} or later")
        before = store.effective
        count = store.events.height
        memory = store.tick(now, rules)
        news = store.events.slice(count)
        change = np.nan_to_num(memory.column("effective") - before)
        most = _most(store, change)
    print(f"day {now:g}: {memory.height} cells, {np.count_nonzero(change)} moved{most}")
    for line in event_lines(news):
        print(f"  {line}")
    for reading in readings(memory, names, now=now, rules=rules) if names else []:
        print(reading)
    return _post(news, webhook, args.store) if webhook else 0


def _post(news: pl.DataFrame, webhook: Webhook, store: str) -> int:
    """Post each alarm; return 2, after naming the failure on stderr, if one could not be posted."""
    import polars as pl

    from malsim.sim.agent.netlist_runner import ALARMS

    for row in news.filter(pl.col("kind").is_in(ALARMS)).to_dicts():
        if problem := webhook.post({"malsim": 1, "store": Path(store).name, **row}):
            print(f"malsim: {webhook.redacted}: the alarm was not posted: {problem}", file=sys.stderr)
            return 2
    return 0


def _most(store: Store, change: Array) -> str:
    if not change.any():
        return ""
    row = int(abs(change).argmax())
    return f", {store.handle(row)} farthest, by {change[row]:+.3g}"
