"""Make a run again from its manifest, and say how it was compared and whether it came out the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from malsim.limits import Limits

if TYPE_CHECKING:
    import argparse

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="the manifest.json that a run wrote")


def main(args: argparse.Namespace) -> int:
    """Run, compare, say; exit 1 if anything differs."""
    from malsim.scenario.rerun import rerun

    made = rerun(args.manifest, limits=Limits.of(args))
    print(made)
    return 0 if made.same else 1
