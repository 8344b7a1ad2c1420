"""Repeat a run from its manifest; report how it was compared and whether it is the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from malsim.base.limits import Limits

HEADING = "run and look"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="the manifest.json that a run wrote")


def main(args: argparse.Namespace) -> int:
    """Run, compare, say; exit 1 if anything differs."""
    from malsim.scenario.rerun import rerun

    result = rerun(args.manifest, limits=Limits.of(args))
    print(result)
    return 0 if result.same else 1
