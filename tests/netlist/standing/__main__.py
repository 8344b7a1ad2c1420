"""Command that prints the scorecard of the standing signals: `python -m tests.netlist.standing [SEED]`."""

from __future__ import annotations

import sys

from tests.netlist.standing.scorecard import scorecard

if __name__ == "__main__":
    table = scorecard([], seeds=10, quiet=20, first_seed=int(next(iter(sys.argv[1:]), 0)))
    sys.stdout.write(table.write_csv())
