"""Test the duties of memories: corrections that hold, forgetting that is complete; exit 1 where a duty fails.

malsim conformance my_package.my_module:MyMemory --html conformance.html
malsim conformance append overwrite governed -o duties.png
malsim conformance "mcp:npx -y @modelcontextprotocol/server-memory" --json
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.judging.axioms.engine.subject import Subject


HEADING = "memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "memory",
        nargs="*",
        help="a law, a reference, package.module:factory or mcp:COMMAND, whose code is run; all laws if left out",
    )
    add("--cell", action="append", metavar="NAME", help="this cell alone; may be repeated")
    add("--set", action="append", default=[], metavar="law.NAME=VALUE", help="change a law's number")
    add("--on", metavar="STORE", help="draw unrelated claims and gaps from a store, or from what malsim import reads")
    add("--seed", type=int, default=0, help="of the draws (0)")
    add("--draws", type=int, default=20, metavar="N", help="of names, gaps and unrelated claims (20)")
    add("--limit", type=float, default=10.0, metavar="S", help="seconds a call of your own memory may take (10)")
    add("--list", action="store_true", help="print the cells, a sentence each")
    add("--json", action="store_true", help="print one JSON list of memory, cell, kind, verdict, why, witness")
    add("--junit", metavar="FILE", help="write JUnit XML, failures and errors apart")
    add("-o", "--output", metavar="FILE", help="write the figure, a row a memory")
    add("--html", metavar="FILE", help="write a page that opens offline, with every witness")


def main(args: argparse.Namespace) -> int:
    """Play, judge, show."""
    from malsim.base.errors import UsageError
    from malsim.base.files.outputs import save_text
    from malsim.base.progress import progress
    from malsim.judging.duties.engine.assessment import ERROR, FAILS, assess_all
    from malsim.judging.duties.engine.duty import every_duty, find_duty
    from malsim.judging.duties.engine.reports import junit, page, text

    if args.list:
        for cell in every_duty().values():
            print(f"{cell.name:<13} {cell.kind:<12} {cell.sentence}")
        return 0
    if args.draws < 1:
        raise UsageError("too few", where="--draws", given=args.draws, allowed="1 and more")
    cells = [find_duty(name) for name in args.cell] if args.cell else None
    subjects = _subjects(args)
    table = assess_all(
        subjects, cells, seed=args.seed, draws=args.draws,
        watch=lambda those: progress(those, what="conformance", unit="memory"),
    )  # fmt: skip
    for path, make in ((args.junit, junit), (args.html, page)):
        if path:
            save_text(path, make(table))
    if args.output:
        table.figure().savefig(args.output)
    if args.json:
        from json import dumps

        print(dumps(table.frame.to_dicts(), indent=1, ensure_ascii=False))
    else:
        print(text(table))
    return 2 if table.having(ERROR) else 1 if table.having(FAILS) else 0


def _subjects(args: argparse.Namespace) -> list[Subject]:
    from malsim.base.errors import UsageError
    from malsim.judging.axioms.engine.subjects import every_subject
    from malsim.judging.axioms.own_claims import on_claims
    from malsim.judging.duties.engine.assessment import memory_of
    from malsim.lab.space.scenario_options import law_settings

    if args.set and not args.memory:
        hint = "name it: malsim conformance LAW"
        raise UsageError("which law is meant?", where="--set", given=", ".join(args.set), hint=hint)
    settings = law_settings(args.set)
    subjects = [memory_of(name, settings=settings, limit=args.limit) for name in args.memory] or every_subject()
    return on_claims(subjects, args.on) if args.on else subjects
