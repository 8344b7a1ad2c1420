"""Update fields of a cell in a store, but not its claim; new text is screened.

malsim store update memory.sqlite dec_a3ee --writer ann --verification checked
malsim store update memory.sqlite dec_a3ee --writer ann --body "measured again: 12 ms" --now 41
"""

from __future__ import annotations

import argparse
from typing import Any

from malsim.base.finite import day

TEXTS = ("body", "summary", "verification", "stability")
LISTS = ("topics", "entities", "source_refs")


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", metavar="STORE", help="store, such as memory.sqlite")
    add("cell", metavar="CELL", help="handle or key")
    add("--writer", required=True, metavar="NAME", help="name of the writer")
    add("--now", type=day, metavar="DAY", help="day of the update (default: day of the last write)")
    for name in TEXTS:
        add(f"--{name}", metavar="TEXT", help=f"new {name}")
    for name in LISTS:
        add(f"--{name.replace('_', '-')}", metavar="A,B", help=f"new {name.replace('_', ' ')}")
    add("--rules", metavar="FILE", help="use these rules: a TOML file, default, recall_v5 or governed")


def main(args: argparse.Namespace) -> int:
    from pathlib import Path

    from malsim.base.errors import StoreError, UsageError
    from malsim.memory.store import Store
    from malsim.memory.store.store_rules import store_rules

    fields: dict[str, Any] = {name: text for name in TEXTS if (text := getattr(args, name)) is not None}
    fields |= {name: text.split(",") for name in LISTS if (text := getattr(args, name)) is not None}
    if not fields:
        allowed = ", ".join(f"--{name}".replace("_", "-") for name in (*TEXTS, *LISTS))
        raise UsageError("nothing to update", given=args.cell, allowed=allowed)
    if not Path(args.store).is_file():
        raise StoreError("no such store", where=args.store)
    rules = store_rules(args.rules)
    with Store(args.store) as store:
        now = args.now if args.now is not None else store.day or 0.0
        store.update(args.cell, writer=args.writer, now=now, rules=rules, **fields)
        print(f"{args.cell}: {', '.join(fields)} updated by {args.writer} on day {now:g}")
    return 0
