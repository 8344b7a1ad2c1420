"""Command-line options for proofs (`--prove`, `--assume`, `--ticks`) and the functions that carry them out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from malsim.base.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from malsim.netlist import Document
    from malsim.netlist.wiring import Net
    from malsim.scenario.proof.proof import Proof


def proof_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("proofs, for all inputs (pip install 'malsim[prove]'; malsim docs proofs)").add_argument
    repeated: dict[str, Any] = {"action": "append", "default": [], "metavar": "PROPERTY"}
    add("--prove", **repeated, help="prove or refute a property for all inputs; safety: all safety questions")
    add("--assume", **repeated, help="only for inputs for which this property holds: always (…); repeatable")
    add("--ticks", type=int, default=40, metavar="N", help="length of the runs examined if induction fails (40)")


def prove_each(net: Net, document: Document, properties: Sequence[str], args: argparse.Namespace) -> int:
    """Print each proof and write the first counterexample. Return 1 if a property is refuted or not decided."""
    from malsim.base.progress import progress
    from malsim.scenario.proof.prove import prove
    from malsim.scenario.proof.questions.safety import safety

    options = _options(args)
    bad: list[Proof] = []
    failed = False
    for text in progress(list(properties), what="prove", unit="property"):
        if text == "safety":
            answers = safety(net, **options)
            print(*answers, sep="\n")  # noqa: T201  # output of a command
            flaws = [answer for answer in answers if answer.status in ("FLAW", "not decided")]
            bad += [flaw.proof for flaw in flaws if flaw.proof]
            failed = failed or bool(flaws)
            continue
        proof = prove(net, text, **options)
        print(proof)  # noqa: T201
        bad += [] if proof.result.startswith("proved") else [proof]
    if args.output:
        _write(next((proof for proof in bad if proof.trace is not None), None), document, Path(args.output))
    return 1 if bad or failed else 0


def _write(proof: Proof | None, document: Document, path: Path) -> None:
    """Write a refutation to `path`: as a scenario file if the suffix is `.toml`, otherwise as a figure."""
    from malsim.base.files.outputs import save_text
    from malsim.scenario.judge.broken_run import drawing, scenario_text

    if proof is None:
        print(f"nothing was refuted, so {path} is not written")  # noqa: T201
        return
    if path.suffix == ".toml":
        save_text(path, scenario_text(proof, document))
    else:
        drawing(proof).savefig(path)
    print(f"wrote {path}")  # noqa: T201


def prove_same(before: Net, after: Net, args: argparse.Namespace) -> int:
    """Prove that two nets always have equal outputs, and print the proof. Return 1 if the proof fails."""
    from malsim.scenario.proof.prove import prove
    from malsim.scenario.proof.ticks.cut import both_nets, equal_outputs

    if args.prove != ["same"]:
        problem = "two netlists can only be proved to have equal outputs"
        raise UsageError(problem, given=" ".join(args.prove), hint="use --prove same")
    proof = prove(both_nets(before, after), equal_outputs(before, after), **_options(args))
    print("other-NAME is NAME of the second netlist", proof, sep="\n")  # noqa: T201
    return 0 if proof.result.startswith("proved") else 1


def _options(args: argparse.Namespace) -> dict[str, Any]:
    if args.ticks < 1:
        raise UsageError("out of bounds", where="--ticks", given=args.ticks, allowed="above 0")
    return {"assume": args.assume, "ticks": args.ticks}
