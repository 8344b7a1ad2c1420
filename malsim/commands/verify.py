"""Compute a Recall store's recorded scores anew under the preset; exit 1 with the cells that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["arguments", "main"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("source", metavar="RECALL", help="a Recall database or JSON archive; it is only read")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def main(args: argparse.Namespace) -> int:
    """Read, live again, compare, say."""
    import json

    from malsim.importers.recall.verify import verify

    verified = verify(args.source)
    if args.json:
        differing = verified.differing.to_dicts()
        print(json.dumps({"cells": verified.cells, "ticks": verified.ticks, "differing": differing}, indent=1))
    else:
        print(verified)
    return 1 if verified.differing.height else 0
