"""The options of the commands that prove: `--prove`, `--assume`, `--ticks`, `--timeout`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from malsim.netlist.wiring import Net

__all__ = ["proof_arguments", "prove_each", "prove_same"]


def proof_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    group = parser.add_argument_group("proofs, for all inputs (pip install 'malsim[prove]'; malsim docs proofs)")
    add = group.add_argument
    add(
        "--prove",
        action="append",
        default=[],
        metavar="PROPERTY",
        help="settle it for all inputs; safety: ready-made questions",
    )
    add("--assume", action="append", default=[], metavar="PROPERTY", help="only for inputs that keep: always (…); repeat")
    add("--ticks", type=int, default=40, metavar="N", help="follow runs so far where induction does not close (40)")
    add("--timeout", type=float, default=60.0, metavar="SECONDS", help="for each property (60)")


def prove_each(net: Net, properties: Sequence[str], args: argparse.Namespace) -> int:
    """Print each answer; 1 where one is refuted or not decided."""
    from malsim.base.progress import progress
    from malsim.proof.prove import prove
    from malsim.proof.questions import safety

    options = _options(args)
    sound = True
    for text in progress(list(properties), what="prove", unit="property"):
        if text == "safety":
            answers = safety(net, **options)
            print(*answers, sep="\n")  # noqa: T201  # the commands' own words
            sound = sound and all(one.sound for one in answers)
            continue
        proof = prove(net, text, **options)
        print(proof)  # noqa: T201
        sound = sound and proof.result.startswith("proved")
    return 0 if sound else 1


def prove_same(before: Net, after: Net, args: argparse.Namespace) -> int:
    """Print whether what leaves two nets is ever different; 1 where it is, or that is not decided."""
    from malsim.base.errors import UsageError
    from malsim.proof.prove import prove
    from malsim.proof.same_outputs import beside, same

    if args.prove != ["same"]:
        raise UsageError("two netlists are proved the same", given=" ".join(args.prove), hint="--prove same")
    proof = prove(beside(before, after), same(before, after), **_options(args))
    print(proof)  # noqa: T201
    return 0 if proof.result.startswith("proved") else 1


def _options(args: argparse.Namespace) -> dict[str, Any]:
    from malsim.base.errors import UsageError

    if args.ticks < 1 or not 0 < args.timeout < float("inf"):
        given = f"--ticks {args.ticks} --timeout {args.timeout:g}"
        raise UsageError("a proof looks at some ticks, for some time", given=given, allowed="above 0")
    return {"assume": args.assume, "ticks": args.ticks, "timeout": args.timeout}
