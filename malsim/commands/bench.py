"""Measure the speed ratios this project promises; needs the repository."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from malsim.base.errors import UsageError
    from tests.bench.rows.ratios import Ratio


HEADING = "judge"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON list of rows instead of a table")
    parser.add_argument("--only", default="", metavar="FAMILY", help="only the families whose name contains this")


def main(args: argparse.Namespace) -> int:
    """Measure and print every row; exit 1 if a ratio passes its limit."""
    from malsim.base.limits import Limits
    from malsim.repository import from_repository

    ratios = from_repository("tests.bench.rows.ratios", where="malsim bench")
    Limits.put_in_force(None)  # every row is this project's own, and some are large on purpose
    rows = []
    if not args.json:
        print(f"{'name':<68} {'ratio':>9} {'limit':>9}     {'ours':>11} {'theirs':>11}")
    for row in ratios.every_row(args.only, left_out=_say):
        rows.append(row)
        if not args.json:
            print(_line(row))
    if args.json:
        print(json.dumps([{key: getattr(row, key) for key in ("name", "ratio", "limit", "ok")} for row in rows], indent=1))
    return 0 if all(row.ok for row in rows) else 1


def _say(error: UsageError) -> None:
    print(f"left out: {error}", file=sys.stderr)


def _line(row: Ratio) -> str:
    bound = " " * 9 if row.limit is None else f"{'≥' if row.at_least else '≤'}{row.limit:>8g}"
    word = "" if row.limit is None else "ok" if row.ok else "NO"
    scale = 1e3 if row.unit == "ms" else 1e2
    both = f"{scale * row.ours:>8.3f} {row.unit:<2} {scale * row.theirs:>8.3f} {row.unit}"
    return f"{row.name:<68} {row.ratio:>9.2f} {bound} {word:<3} {both}"
