"""Look inside a store or a run: the push a reader gets, or one cell with every term explained.

malsim look memory.sqlite --query pump             the mini-index about something
malsim look memory.sqlite --signals all            with a line for each standing signal that fires
malsim look memory.sqlite dec_a3ee                 one cell, opened
malsim look scenarios/poisoner.toml --at 30        the push that the reader of a run got that day
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from malsim.base.finite import day_of

if TYPE_CHECKING:
    from malsim.memory import Memory, Rules
    from malsim.memory.push import Push
    from malsim.memory.push.expand import Expanded
    from malsim.memory.store import Store


HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", metavar="STORE", help="a store's file, such as memory.sqlite, which is only read, or a scenario")
    add(
        "cell",
        nargs="?",
        metavar="CELL",
        help="a handle or its beginning, a key or HANDLE@vN: this cell, opened; with #FIELD.PATH only that field",
    )
    add("--query", default="", metavar="TEXT", help="what the mini-index is to be about")
    raised = "raise a line for each of these surfaced signals that fires, or all; without names: the store's own wires"
    add("--signals", nargs="?", const="", metavar="A,B", help=raised)
    at = "as it stood on this day, or will stand if nobody writes; a number, or a date where the store has one for day 0"
    add("--at", metavar="DAY", help=at)
    add("--limit", type=int, default=10, metavar="N", help="most lines; default 10")
    add("--budget", type=int, default=900, metavar="WORDS", help="most words; default 900")
    add("--rep", type=int, default=0, metavar="K", help="the replication; default 0")
    add("--scope", metavar="NAME", help="within this scope of a store; default what is everybody's")
    add("--rules", metavar="FILE", help="worth under these rules: a TOML file, default or recall_v5")
    add("--set", action="append", default=[], metavar="rules.NAME=VALUE", help="change one rule; may be repeated")


def main(args: argparse.Namespace) -> int:
    from malsim.memory import Rules
    from malsim.memory.store import Store

    if args.store.endswith(".toml"):
        return _of_run(args)
    rules = Rules.read(args.rules or "default").set(*args.set)
    with Store(args.store, write=False) as store:
        if args.signals == "":
            return _wires(store)
        at = None if args.at is None else day_of(args.at, store.start, where="--at")
        args.rep = args.rep if args.scope is None else store.known_scope(args.scope)
        options = {"rep": args.rep, "rules": rules, "now": store.day if at is None else at}
        as_recorded = at is None and not (args.rules or args.set)
        lines = _signal_lines(args.signals, store, at, rules, args.scope) if args.signals and not args.cell else []
        push = {"budget_words": args.budget, "limit": args.limit, "surfaced": lines, **options}
        if args.cell:
            view = (store if as_recorded else _memory_at(store, at, rules)).expand(args.cell, **options)
            print("\n".join([str(view), *_rewritten(store, view, at, args.rep)]))
        elif as_recorded:  # the file's own index is asked, and nothing else is read
            counts = next(iter(store.ticks.select("cells", "edges").tail(1).rows()), (0, 0))
            print(_text(store.mini_index(args.query, **push), counts, store, options["now"], args.query))
        else:
            memory = _memory_at(store, at, rules)
            counts = (memory.cells.height, memory.edges.height)
            print(_text(memory.mini_index(args.query, **push), counts, store, options["now"], args.query))
    return 0


def _wires(store: Store) -> int:
    """List the signals of the wires in the store, with their values and when they last changed."""
    from malsim.netlist.shipped.store_wires import wire_lines

    print(*wire_lines(store.recorded, store.standing), sep="\n")
    return 0


def _of_run(args: argparse.Namespace) -> int:
    from malsim import api
    from malsim.base.errors import UsageError
    from malsim.sim.replay.turn_push import push_on

    for name in ("query", "signals", "rules", "scope"):
        if getattr(args, name):
            hint = "a run's reader has a task, and its scenario says which signals and rules there are"
            raise UsageError("this is for stores", where=f"--{name}", given=getattr(args, name), hint=hint)
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
    own = store.within(memory, scope)
    return lines_of_readings(readings(own, surfaced_names(signals), now=now, rules=rules))


def _rewritten(store: Store, view: Expanded, day: float | None, rep: int) -> list[str]:
    """Return lines on who rewrote the cell since it was claimed; empty if one field alone was requested."""
    from malsim.memory.explain import rewritten_lines

    lines = [] if view.field else rewritten_lines(store.updates(view.cell["handle"], rep=rep, day=day))
    return ["", *lines] if lines else []


def _memory_at(store: Store, at: float | None, rules: Rules) -> Memory:
    """Return the memory as a reader sees it: as recorded if a tick was made on that day, else after one more tick."""
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
    except OverflowError:  # no calendar goes so far
        return f"day {day:g}"


def _text(push: Push, counts: tuple[int, int], store: Store, now: float | None, query: str) -> str:
    cells, edges = counts
    if push.lines:
        text = str(push)
    elif not cells:
        text = "no cell was there yet"
    elif query:
        text = f"no cell that may be shown holds a word of {query!r}; without --query the cells ranked first are listed"
    else:
        text = "no cell may be shown"
    days = f"on {_day_text(now, store.start)}; last written on {_day_text(store.day, store.start)}"
    return f"{text}\n{cells} cells, {edges} edges {days}"
