"""Follow a live store, another memory or a log, and report what fails or trips: checks and tripwires; it is only read.

malsim watch memory.sqlite --checks checks.toml --every 10s
malsim watch --events log.jsonl --checks checks.toml --once
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.scenario.history.follow import Follower, Sighting
    from malsim.scenario.history.webhook import Webhook
    from malsim.sim.settings.scenario import Scenario

UNASKED = 2
DEFAULT = """
why = "What any memory keeps."
[[check]]
name = "beliefs are beliefs"
axiom = "bounds"
[[check]]
name = "a read is no verification"
axiom = "read-idempotence"
[[check]]
name = "a sweep repeated changes nothing"
axiom = "anchor"
[[check]]
name = "age raises nothing"
axiom = "monotone-age"
"""


HEADING = "judge"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", nargs="?", type=Path, metavar="STORE", help="the store to follow, or what malsim import reads; only read")
    add("--events", type=Path, metavar="LOG", help="follow what any memory logs as JSON lines instead")
    add("--confidence", type=float, metavar="NUMBER", help="of claims in a memory that state none")
    add("--checks", type=Path, metavar="FILE", help="checks and a netlist; default: what any memory keeps")
    add("--every", default="10s", metavar="TIME", help="how often to look; default 10s")
    add("--once", action="store_true", help="look once: exit 1 where a check fails or a tripwire tripped")
    add("--exit-on-fail", action="store_true", help="stop with exit 1 at the first bad news")
    add("--webhook", metavar="URL", help="also post each as JSON; the address is never repeated in full")


def main(args: argparse.Namespace) -> int:
    """Look, tell, wait, look again."""
    from malsim.base.errors import UsageError
    from malsim.base.limits import Limits
    from malsim.scenario.history.follow import Follower
    from malsim.scenario.history.judge_history import HistorySource
    from malsim.scenario.history.webhook import Webhook
    from malsim.sim.world.clock import span

    if (args.store is None) == (args.events is None):
        raise UsageError("what is to be watched?", hint="name a store, or --events LOG")
    every = span(args.every, where="--every") / 1000
    webhook = Webhook.of(args.webhook) if args.webhook else None
    recording = (
        HistorySource(args.events, log=True) if args.events else HistorySource.of(args.store, confidence=args.confidence)
    )
    follower = Follower(_checks(args.checks), recording, Limits.of(args))
    waiting: list[Sighting] = []
    bad = False
    try:
        while True:
            news = _look(follower, patient=bool(follower.at) and not args.once)
            bad = bad or any(one.bad for one in news)
            waiting = _report(news, waiting, recording.path, webhook)
            if args.once or (args.exit_on_fail and bad):
                break
            time.sleep(every)
    except KeyboardInterrupt:
        pass
    _unread(follower)
    if args.once and not bad:
        count = len(follower.scenario.checks) - len(follower.unread)
        print(f"{recording.path}: {count} of {len(follower.scenario.checks)} checks judged, none fails")
    return int(bad) or (UNASKED if args.once and follower.unasked else 0)


def _checks(path: Path | None) -> Scenario:
    from malsim.base.errors import UsageError
    from malsim.scenario.file.scenario_file import parse, read

    scenario = read(path) if path else parse(DEFAULT, name="default", where="the default checks")
    if not scenario.checks and scenario.netlist is None:
        raise UsageError("nothing is checked", given=str(path), hint="write a [[check]] or a [netlist]")
    return scenario


def _look(follower: Follower, *, patient: bool) -> list[Sighting]:
    """What is new; once it has been read, a history that cannot be read now is looked for again later."""
    from malsim.base.errors import MalsimError

    try:
        return follower.look()
    except MalsimError as problem:
        if not patient:
            raise
        print(f"not read this time: {problem}", file=sys.stderr, flush=True)
        return []


def _report(news: list[Sighting], waiting: list[Sighting], source: Path, webhook: Webhook | None) -> list[Sighting]:
    """Print what is new and post it; what could not be posted, for the next look."""
    for one in news:
        print(f"{source}: {one}", flush=True)
    if webhook is None:
        return []
    queue = [*waiting, *news]
    for place, one in enumerate(queue):
        if problem := webhook.post(one.as_json(source.name)):
            message = f"{webhook.redacted}: not posted, {len(queue) - place} wait for the next look: {problem}"
            print(message, file=sys.stderr, flush=True)
            return queue[place:]
    return []


def _unread(follower: Follower) -> None:
    """Say in the end what could not be asked, and what was left out."""
    for name, problem in follower.unread.items():
        print(f"skipped: {name}: {problem}", file=sys.stderr)
    if follower.left_out:
        print(follower.left_out, file=sys.stderr)
