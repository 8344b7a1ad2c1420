"""Pin a plan before anybody sees its runs: rows, scenarios, code, the order expected; its seed comes from its hash.

malsim preregister plan.toml
malsim board --plan plan.toml        later: refuses what was changed since, and says held, not held or undecided
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HEADING = "judge"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "plan", type=Path, metavar="PLAN.toml", help="rows, replications and [[expect]]; see malsim docs board"
    )


def main(args: argparse.Namespace) -> int:
    """Read, pin, say."""
    from malsim.board.plan import pin, pin_of, read_plan

    plan = read_plan(args.plan)
    path = pin(plan)
    print(f"{len(plan.expectations)} orders of {len(plan.rows)} rows expected, {plan.replications} replications")
    print(f"pinned in {path}: {pin_of(plan)}, which gives seed {plan.size().seed}")
    return 0
