"""Explain the confidence of a cell in a run, a store or a file of claims, term by term.

malsim why scenarios/ten_sybils.toml claim-7-522 --at 10
malsim why memory.sqlite dec_a3ee --law records -o why.png
malsim why log.jsonl pump=runs                      in a recorded log, a cell is OBJECT=VALUE
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from malsim.base.files.outputs import drawable
from malsim.base.finite import day
from malsim.base.plain_text import quoted
from malsim.lab.space.scenario_options import set_arguments

if TYPE_CHECKING:
    from malsim.memory.explain import Explanation, LawExplanation

HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SOURCE", help="scenario, store, file of claims, or any file that malsim import reads")
    add("cell", metavar="CELL", help="handle or name of a cell; for claims or a log: OBJECT=VALUE")
    add("--at", type=day, metavar="DAY", help="day to explain (default: the last)")
    add("--rep", type=int, metavar="K", help="scenario: replication (default: the first)")
    add("--scope", metavar="NAME", help="store: scope (default: the common scope)")
    set_arguments(parser)
    add("-o", "--output", type=Path, metavar="FILE", help="also draw the terms as a waterfall chart (.png, .svg, .pdf)")


def main(args: argparse.Namespace) -> int:
    if args.output:
        drawable(str(args.output))
    explanation, updates = (_explain_run(args), []) if args.source.endswith(".toml") else _explain_claims(args)
    print(explanation)
    print(f"  {explanation.why}")
    for line in updates:
        print(line)
    if args.output:
        from malsim.showing.plots.runs.waterfall import waterfall

        title = f"{explanation.handle} {quoted(explanation.title)} on day {explanation.t:g}"
        waterfall(explanation.terms, explanation.effective, title=title).savefig(args.output)
    return 0


def _explain_run(args: argparse.Namespace) -> Explanation | LawExplanation:
    from malsim import api
    from malsim.lab.space.scenario_options import under_law

    scenario = under_law(api.read(args.source), args)
    first = scenario.first if args.rep is None else args.rep
    run = api.run(scenario.replace(first=first, replications=1, record="all"))
    return run.explain(args.cell, args.at)


def _explain_claims(args: argparse.Namespace) -> tuple[Explanation | LawExplanation, list[str]]:
    """Explain a cell of a store, or a value if `--law` is given or there is no store. Also return the cell's updates."""
    from malsim.importers.building.claim_stream import is_memory, stream
    from malsim.lab.space.scenario_options import law_settings
    from malsim.lab.studies.laws.claims import explain_claim
    from malsim.memory.tables.connect import is_store
    from malsim.sim.writers.engine.claim_files import read_claims

    stored = is_store(Path(args.source))
    if args.law is None and stored:
        return _explain_store(args)
    params = law_settings([text for text in args.set if text.startswith("law.")])
    claims = stream(args.source, at=args.at).claims if is_memory(args.source) else read_claims(args.source).claims
    explanation = explain_claim(claims, args.cell, law=args.law or "records", params=params, at=args.at)
    return explanation, _update_lines(args) if stored else []


def _explain_store(args: argparse.Namespace) -> tuple[Explanation, list[str]]:
    """Explain a cell of a store: as recorded or, if a day or a setting is given, after one more tick."""
    from malsim.memory import Rules, tick
    from malsim.memory.explain import explain
    from malsim.memory.store import Store

    rules = Rules().set(*(text for text in args.set if not text.startswith("law.")))
    with Store(args.source, write=False) as store:
        args.rep = args.rep if args.scope is None else store.known_scope(args.scope)
        memory = store.memory if args.at is None else store.at(args.at)
        day = (store.day or 0.0) if args.at is None else args.at
    memory = memory if args.at is None and not args.set else tick(memory, day, rules)
    return explain(memory, args.cell, t=day, rep=args.rep or 0, rules=rules), _update_lines(args)


def _update_lines(args: argparse.Namespace) -> list[str]:
    from malsim.memory.explain import rewritten_lines
    from malsim.memory.store import Store

    with Store(args.source, write=False) as store:
        return rewritten_lines(store.updates(args.cell, rep=args.rep or 0, day=args.at))
