"""Tick a store: recompute every score for a given day, under the store's rules.

malsim store tick memory.sqlite                    one day after the last write
malsim store tick memory.sqlite --now 90 --signals contradiction-load,dependency-rot
malsim store tick memory.sqlite --signals all
malsim store tick memory.sqlite --webhook https://hooks.example/T0     post this tick's alarms
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.finite import day_of

if TYPE_CHECKING:
    import polars as pl

    from malsim.scenario.history.webhook import Webhook


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", metavar="STORE", help="store, such as memory.sqlite")
    at = "day of the tick: a number or a date (default: one day after the last write)"
    add("--now", metavar="DAY", help=at)
    add("--signals", metavar="A,B", help="also print these standing signals, or all")
    add("--webhook", metavar="URL", help="post each alarm of this tick as JSON; exit 2 if a post fails")
    add("--rules", metavar="FILE", help="use these rules: a TOML file, default, recall_v5 or governed")


def main(args: argparse.Namespace) -> int:
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
        raise StoreError("no such store", where=args.store, hint="create one: malsim import FILE -o memory.sqlite")
    rules = store_rules(args.rules)
    webhook = Webhook.of(args.webhook) if args.webhook else None
    with Store(args.store) as store:
        last = store.day or 0.0
        now = last + 1.0 if args.now is None else day_of(args.now, store.start, where="--now")
        if now < last:
            raise UsageError(
                "a store cannot tick before the day of its last write",
                where="--now",
                given=now,
                allowed=f"{last:g} or later",
            )
        before = store.effective
        count = store.events.height
        memory = store.tick(now, rules)
        events = store.events.slice(count)
        change = np.nan_to_num(memory.column("effective") - before)
        row = int(abs(change).argmax()) if change.any() else None
        farthest = "" if row is None else f", {store.handle(row)} farthest, by {change[row]:+.3g}"
    print(f"day {now:g}: {memory.height} cells, {np.count_nonzero(change)} moved{farthest}")
    for line in event_lines(events):
        print(f"  {line}")
    for reading in readings(memory, names, now=now, rules=rules) if names else []:
        print(reading)
    return _post(events, webhook, args.store) if webhook else 0


def _post(events: pl.DataFrame, webhook: Webhook, store: str) -> int:
    """Post each alarm to the webhook. If a post fails, print the reason to stderr and return 2."""
    import polars as pl

    from malsim.sim.agent.netlist_runner import ALARMS

    for row in events.filter(pl.col("kind").is_in(ALARMS)).to_dicts():
        if problem := webhook.post({"malsim": 1, "store": Path(store).name, **row}):
            print(f"malsim: {webhook.redacted}: the alarm was not posted: {problem}", file=sys.stderr)
            return 2
    return 0
