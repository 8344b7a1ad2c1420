"""Recompute a Recall store's scores; under the preset, list the cells that differ and exit with 1."""

from __future__ import annotations

import argparse

HEADING = "compare and bring memories"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="RECALL", help="a Recall database or JSON archive; it is only read")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def main(args: argparse.Namespace) -> int:
    """Read, live again, compare, say."""
    import json

    from malsim.importers.recall.verify import verify

    result = verify(args.source)
    if args.json:
        differing = result.differing.to_dicts()
        print(json.dumps({"cells": result.cells, "ticks": result.ticks, "differing": differing}, indent=1))
    else:
        print(result)
    return 1 if result.differing.height else 0
