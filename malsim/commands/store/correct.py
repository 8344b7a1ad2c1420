"""Correct a cell that was wrong from the start, on behalf of a person.

malsim store correct memory.sqlite dec_a3ee --by ann --instead "use PostgreSQL"       and state the right claim
malsim store correct memory.sqlite obs_9c1f --by ann --rules governed                 if the right claim is unknown
malsim store correct memory.sqlite obs_9c1f --by ann --instead "the port is 9090" --value 9090 --rules governed
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from malsim.commands.store.forget import at_store, cell_arguments

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    cell_arguments(parser)
    add = parser.add_argument
    add("--instead", metavar="TEXT", help="right claim on one line (default: unknown)")
    add("--value", metavar="VALUE", help="with --instead: value of the cell's object: a number or text")
    add("--confidence", type=float, metavar="P", help="with --instead: confidence (default: the cell's)")


def main(args: argparse.Namespace) -> int:
    from malsim.agents.service import verdict_text
    from malsim.base.errors import UsageError
    from malsim.lab.space.scenario_options import number_or_text

    if args.instead is None and (args.value is not None or args.confidence is not None):
        raise UsageError("--instead is missing", where="malsim store correct", hint="add --instead TEXT")
    fields: dict[str, Any] = {} if args.value is None else {"value": number_or_text(args.value)}
    with at_store(args) as service:
        print(verdict_text(service.correct(args.cell, args.instead or "", args.confidence, **fields)))
    return 0
