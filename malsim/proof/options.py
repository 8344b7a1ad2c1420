"""The options of the commands that prove: `--prove`, `--assume`, `--ticks`, `--timeout`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from malsim.netlist.wiring import Net

__all__ = ["proof_arguments", "prove_each"]


def proof_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    group = parser.add_argument_group("proofs, for all inputs (pip install 'malsim[prove]'; malsim docs proofs)")
    add = group.add_argument
    add("--prove", action="append", default=[], metavar="PROPERTY", help="settle it for all inputs; repeat")
    add("--assume", action="append", default=[], metavar="PROPERTY", help="only for inputs that keep: always (…); repeat")
    add("--ticks", type=int, default=40, metavar="N", help="follow runs so far where induction does not close (40)")
    add("--timeout", type=float, default=60.0, metavar="SECONDS", help="for each property (60)")


def prove_each(net: Net, properties: Sequence[str], args: argparse.Namespace) -> int:
    """Print each answer; 1 where one is refuted or not decided."""
    from malsim.base.errors import UsageError
    from malsim.base.progress import progress
    from malsim.proof.prove import prove

    if args.ticks < 1 or not 0 < args.timeout < float("inf"):
        raise UsageError(
            "a proof looks at some ticks for some time", given=f"{args.ticks}, {args.timeout}", allowed="above 0"
        )
    answers = []
    for text in progress(list(properties), what="prove", unit="property"):
        answers.append(prove(net, text, assume=args.assume, ticks=args.ticks, timeout=args.timeout))
        print(answers[-1])  # noqa: T201  # the commands' own words
    return 0 if all(one.result.startswith("proved") for one in answers) else 1
