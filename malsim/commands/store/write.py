"""Write a claim to a store, through the gate.

malsim store write memory.sqlite --writer ann --title "pump 3 runs" --confidence .8 --topics plant --source log:41
malsim store write memory.sqlite --writer bob --title "pump 3 stands still" --confidence .6 --edge "contradicts dec_a3ee -.8"
malsim store write memory.sqlite --writer bob --kind prg --title watch --confidence .7 --body "addf watch tick"
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from malsim.base.finite import day_of

ENDS = (2, 3)


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("store", metavar="STORE", help="store; created with its ten cells if it does not exist")
    add("--writer", required=True, metavar="NAME", help="name of the writer")
    add("--title", required=True, metavar="TEXT", help="claim on one line")
    add("--body", metavar="TEXT", help="full text of the claim")
    add("--kind", default="obs", metavar="KIND", help="one of dec obs bel tsk obj rsk ref ver hyp prg (obs)")
    add("--confidence", type=float, required=True, metavar="P", help="the writer's confidence, above 0 and at most 1")
    add("--topics", metavar="A,B", help="topics")
    add("--source", action="append", default=[], metavar="REF", help="reference to a source; repeatable")
    add(
        "--edge",
        action="append",
        default=[],
        metavar='"RELATION CELL [WEIGHT]"',
        help="relation to another cell; repeatable",
    )
    add("--now", metavar="DAY", help="day: a number or a date (default: day of the last write)")
    add("--rules", metavar="FILE", help="use these rules: a TOML file, default or recall_v5")


def main(args: argparse.Namespace) -> int:
    """Write the claim and print the verdict. Return 1 if the gate refuses the claim."""
    from malsim.agents.service import verdict_text
    from malsim.memory.store import Store
    from malsim.memory.store.store_rules import store_rules
    from malsim.netlist.programs import checked

    edges, existed = [_edge(text) for text in args.edge], Path(args.store).exists()
    if not existed and args.now is not None:
        day_of(args.now, None, where="--now")  # fail before the store is created
    rules = store_rules(args.rules)
    with Store(args.store) as store:
        now = (store.day or 0.0) if args.now is None else day_of(args.now, store.start, where="--now")
        store.bootstrap(now)
        claim = {
            "writer": args.writer, "title": args.title, "body": args.body, "kind": args.kind, "confidence": args.confidence,
            "t": now, "source_refs": args.source, "edges": edges,
            "topics": args.topics.split(",") if args.topics else [],
        }  # fmt: skip
        claim = {name: value for name, value in claim.items() if value not in (None, [])}
        verdict = store.admit(checked([claim]), rules).row(0, named=True)
    if not existed:
        print(f"created {args.store}", file=sys.stderr)
    print(verdict_text(verdict))
    return int(verdict["verdict"] == "refused")


def _edge(text: str) -> dict[str, Any]:
    """Parse an edge such as `supports obs_9c1f .6`. If the weight is omitted, use the relation's default."""
    from malsim.base.errors import UsageError
    from malsim.memory.schema import WEIGHTS

    words = text.split()
    if len(words) not in ENDS or words[0] not in WEIGHTS:
        raise UsageError(
            "not an edge", where="--edge", given=text,
            allowed=f"a relation ({', '.join(WEIGHTS)}), a cell, and optionally a weight",
            hint='write "RELATION CELL [WEIGHT]", such as "contradicts dec_a3ee -.8"',
        )  # fmt: skip
    try:
        weight = float(words[2]) if len(words) == ENDS[1] else WEIGHTS[words[0]]
    except ValueError:
        hint = 'write "RELATION CELL [WEIGHT]", such as "supports obs_9c1f .6"'
        raise UsageError("the weight is not a number", where="--edge", given=text, hint=hint) from None
    return {"relation": words[0], "target": words[1], "weight": weight}
