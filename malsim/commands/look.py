"""Look inside a store or a run: print a reader's push, or explain every term of one cell.

malsim look memory.sqlite --query pump             mini-index for a query
malsim look memory.sqlite --signals all            also one line per firing standing signal
malsim look memory.sqlite dec_a3ee                 one cell in full
malsim look scenarios/poisoner.toml --at 30        push that the run's reader received on that day
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from malsim.base.finite import day_of

if TYPE_CHECKING:
    from malsim.memory import Memory, Rules
    from malsim.memory.push import Push
    from malsim.memory.store import Store

HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", metavar="STORE", help="store, such as memory.sqlite (never changed), or scenario")
    cell = "cell to print: handle or its beginning, key, or HANDLE@vN; with #FIELD.PATH only that field"
    add("cell", nargs="?", metavar="CELL", help=cell)
    add("--query", default="", metavar="TEXT", help="topic of the mini-index")
    raised = "add a line per firing signal among these, or all; without names: list the store's own signals"
    add("--signals", nargs="?", const="", metavar="A,B", help=raised)
    at = "day to show, past or future: a number, or a date if the store has a date for day 0"
    add("--at", metavar="DAY", help=at)
    add("--limit", type=int, default=10, metavar="N", help="maximum number of lines (10)")
    add("--budget", type=int, default=900, metavar="WORDS", help="maximum number of words (900)")
    add("--rep", type=int, default=0, metavar="K", help="replication (0)")
    add("--scope", metavar="NAME", help="scope of the store (default: the common scope)")
    add("--rules", metavar="FILE", help="evaluate under these rules: a TOML file, default or recall_v5")
    add("--set", action="append", default=[], metavar="rules.NAME=VALUE", help="change one rule; repeatable")


def main(args: argparse.Namespace) -> int:
    from malsim.memory import Rules
    from malsim.memory.explain import rewritten_lines
    from malsim.memory.store import Store
    from malsim.netlist.shipped.store_wires import wire_lines

    if args.store.endswith(".toml"):
        return _look_at_run(args)
    rules = Rules.read(args.rules or "default").set(*args.set)
    with Store(args.store, write=False) as store:
        if args.signals == "":
            print(*wire_lines(store.recorded, store.standing), sep="\n")
            return 0
        at = None if args.at is None else day_of(args.at, store.start, where="--at")
        args.rep = args.rep if args.scope is None else store.known_scope(args.scope)
        options = {"rep": args.rep, "rules": rules, "now": store.day if at is None else at}
        as_recorded = at is None and not (args.rules or args.set)
        lines = _signal_lines(args.signals, store, at, rules, args.scope) if args.signals and not args.cell else []
        push = {"budget_words": args.budget, "limit": args.limit, "surfaced": lines, **options}
        if args.cell:
            view = (store if as_recorded else _memory_at(store, at, rules)).expand(args.cell, **options)
            print(view)
            lines = [] if view.field else rewritten_lines(store.updates(view.cell["handle"], rep=args.rep, day=at))
            print(*(["", *lines] if lines else []), sep="\n", end="\n" if lines else "")
        elif as_recorded:  # `Store.mini_index` reads the index without loading the memory
            counts = next(iter(store.ticks.select("cells", "edges").tail(1).rows()), (0, 0))
            print(_text(store.mini_index(args.query, **push), counts, store, options["now"], args.query))
        else:
            memory = _memory_at(store, at, rules)
            counts = (memory.cells.height, memory.edges.height)
            print(_text(memory.mini_index(args.query, **push), counts, store, options["now"], args.query))
    return 0


def _look_at_run(args: argparse.Namespace) -> int:
    from malsim import api
    from malsim.base.errors import UsageError
    from malsim.sim.replay.fork import push_on

    for name in ("query", "signals", "rules", "scope"):
        if getattr(args, name):
            hint = "name a store; the scenario defines the task, signals and rules of a run"
            raise UsageError("this option needs a store", where=f"--{name}", given=getattr(args, name), hint=hint)
    scenario = api.read(args.store)
    scenario = scenario.replace(rules=scenario.rules.set(*args.set))
    start = None if scenario.start is None else scenario.start.isoformat()
    day, rep = scenario.days if args.at is None else day_of(args.at, start, where="--at"), args.rep or scenario.first
    push = push_on(scenario, day, rep)
    print(push.memory.expand(args.cell, rep=rep, now=push.day, rules=scenario.rules) if args.cell else push)
    return 0


def _signal_lines(signals: str, store: Store, at: float | None, rules: Rules, scope: str | None) -> list[str]:
    from malsim.netlist.shipped import lines_of_readings, readings, surfaced_names

    memory, now = (store.memory, store.day or 0.0) if at is None else (_memory_at(store, at, rules), at)
    memory = store.within(memory, scope)
    return lines_of_readings(readings(memory, surfaced_names(signals), now=now, rules=rules))


def _memory_at(store: Store, at: float | None, rules: Rules) -> Memory:
    """Return the memory as of a day: as recorded if there was a tick on that day, otherwise after one more tick."""
    from malsim.memory import tick

    if at is None:
        return tick(store.memory, store.day or 0.0, rules)
    memory = store.at(at)
    return memory if at in store.ticks["t"].to_list() else tick(memory, at, rules)


def _day_text(day: float | None, start: str | None) -> str:
    from datetime import date, timedelta

    if day is None:
        return "no day yet"
    try:
        return f"day {day:g}" + (f" ({date.fromisoformat(start) + timedelta(days=day)})" if start else "")
    except OverflowError:  # the date would be outside the range that Python supports
        return f"day {day:g}"


def _text(push: Push, counts: tuple[int, int], store: Store, now: float | None, query: str) -> str:
    cells, edges = counts
    if push.lines:
        text = str(push)
    elif not cells:
        text = "no cells yet"
    elif query:
        text = f"no visible cell contains a word of {query!r}; without --query the top cells are listed"
    else:
        text = "no visible cells"
    days = f"on {_day_text(now, store.start)}; last written on {_day_text(store.day, store.start)}"
    return f"{text}\n{cells} cells, {edges} edges {days}"
