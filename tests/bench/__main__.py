"""Command that measures the speed ratios: `python -m tests.bench`. The exit code is 1 if a ratio exceeds its limit."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from tests.bench.rows import ratios

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.rows.ratios import Ratio


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON list of rows instead of a table")
    parser.add_argument("--only", default="", metavar="FAMILY", help="only the families whose name contains this")
    args = parser.parse_args(argv)
    rows = []
    if not args.json:
        print(f"{'name':<68} {'ratio':>9} {'limit':>9}     {'ours':>11} {'theirs':>11}")
    for row in ratios.every_row(args.only, left_out=lambda error: print(f"left out: {error}", file=sys.stderr)):
        rows.append(row)
        if not args.json:
            print(_line(row))
    if args.json:
        print(json.dumps([{key: getattr(row, key) for key in ("name", "ratio", "limit", "ok")} for row in rows], indent=1))
    return 0 if all(row.ok for row in rows) else 1


def _line(row: Ratio) -> str:
    bound, word = f"{'≥' if row.at_least else '≤'}{row.limit:>8g}", "ok" if row.ok else "NO"
    scale = 1e3 if row.unit == "ms" else 1e2
    both = f"{scale * row.ours:>8.3f} {row.unit:<2} {scale * row.theirs:>8.3f} {row.unit}"
    return f"{row.name:<68} {row.ratio:>9.2f} {bound} {word:<3} {both}"


if __name__ == "__main__":
    sys.exit(main())
