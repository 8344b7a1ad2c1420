"""Correct what a cell of a store says, as a person: it was wrong all along.

malsim store correct memory.sqlite dec_a3ee --by ann --instead "use PostgreSQL"       and say what is right
malsim store correct memory.sqlite obs_9c1f --by ann --rules governed                 nobody knows what is right
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
    add("--instead", metavar="TEXT", help="what is right, in one line; without it, nobody knows")
    add("--value", metavar="VALUE", help="with --instead: the value of the cell's object, a number or a word")
    add("--confidence", type=float, metavar="P", help="with --instead: what to bet on it (that of the cell)")


def main(args: argparse.Namespace) -> int:
    """Correct it; print the verdict and what was taken back."""
    from malsim.agents.service import verdict_text
    from malsim.base.errors import UsageError

    if args.instead is None and (args.value is not None or args.confidence is not None):
        raise UsageError("no cell to correct", where="malsim store correct", hint="say what is right with --instead")
    fields: dict[str, Any] = {} if args.value is None else {"value": _value(args.value)}
    with at_store(args) as service:
        print(verdict_text(service.correct(args.cell, args.instead or "", args.confidence, **fields)))
    return 0


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
