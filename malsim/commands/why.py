"""Explain the worth of a cell, term by term: in a scenario's run, a store, or a file of claims.

malsim why scenarios/ten_sybils.toml claim-7-522 --at 10
malsim why memory.sqlite dec_a3ee --law records -o why.png
malsim why log.jsonl pump=runs                      a log of malsim agent record: OBJECT=VALUE
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.finite import day
from malsim.base.plain_text import quoted
from malsim.lab.space.scenario_options import set_arguments

if TYPE_CHECKING:
    from malsim.memory.explain import Explanation, LawExplanation


HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SOURCE", help="a scenario, a store, what malsim import reads, or a file of claims")
    add("cell", metavar="CELL", help="a handle or name of a cell; of claims or a log OBJECT=VALUE")
    add("--at", type=day, metavar="DAY", help="the day asked about; default the last")
    add("--rep", type=int, metavar="K", help="of a scenario, the replication; default its first")
    add("--scope", metavar="NAME", help="of a store, the scope; default the common one")
    set_arguments(parser)
    add("-o", "--output", type=Path, metavar="FILE", help="also draw the terms as a waterfall (PNG)")


def main(args: argparse.Namespace) -> int:
    explanation, rewritten = (_of_run(args), []) if args.source.endswith(".toml") else _of_claims(args)
    print(explanation)
    print(f"  {explanation.why}")
    for line in rewritten:
        print(line)
    if args.output:
        from malsim.showing.plots.runs.waterfall import waterfall

        title = f"{explanation.handle} {quoted(explanation.title)} on day {explanation.t:g}"
        waterfall(explanation.terms, explanation.effective, title=title).savefig(args.output)
    return 0


def _of_run(args: argparse.Namespace) -> Explanation | LawExplanation:
    from malsim import api
    from malsim.lab.space.scenario_options import under_law

    scenario = under_law(api.read(args.source), args)
    first = scenario.first if args.rep is None else args.rep
    run = api.run(scenario.replace(first=first, replications=1, record="all"))
    return run.explain(args.cell, args.at)


def _of_claims(args: argparse.Namespace) -> tuple[Explanation | LawExplanation, list[str]]:
    """Explain a cell of a store (with the writers who rewrote it), or a value in other claims under a law of items."""
    from malsim.importers.building.claim_stream import is_memory, stream
    from malsim.lab.studies.laws.claims import explain_claim
    from malsim.memory.tables.connect import is_store
    from malsim.sim.writers.engine.claim_files import read_claims

    law, params = _law(args)
    stored = is_store(Path(args.source))
    if law is None and stored:
        return _of_graph(args)
    claims = stream(args.source, at=args.at).claims if is_memory(args.source) else read_claims(args.source).claims
    explanation = explain_claim(claims, args.cell, law=law or "records", params=params, at=args.at)
    return explanation, _rewritten(args) if stored else []


def _law(args: argparse.Namespace) -> tuple[str | None, dict[str, Any]]:
    """Return the law of items and its parameters; None for the law of the graph."""
    from malsim.lab.space.scenario_options import law_settings

    return args.law, law_settings([text for text in args.set if text.startswith("law.")])


def _of_graph(args: argparse.Namespace) -> tuple[Explanation, list[str]]:
    """Explain a cell of a store: as recorded, or after one more tick if a day or a setting is given."""
    from malsim.memory import Rules, tick
    from malsim.memory.explain import explain
    from malsim.memory.store import Store

    rules = Rules().set(*(text for text in args.set if not text.startswith("law.")))
    with Store(args.source, write=False) as store:
        args.rep = args.rep if args.scope is None else store.known_scope(args.scope)
        memory = store.memory if args.at is None else store.at(args.at)
        day = (store.day or 0.0) if args.at is None else args.at
    memory = memory if args.at is None and not args.set else tick(memory, day, rules)
    return explain(memory, args.cell, t=day, rep=args.rep or 0, rules=rules), _rewritten(args)


def _rewritten(args: argparse.Namespace) -> list[str]:
    from malsim.memory.explain import rewritten_lines
    from malsim.memory.store import Store

    with Store(args.source, write=False) as store:
        return rewritten_lines(store.updates(args.cell, rep=args.rep or 0, day=args.at))
