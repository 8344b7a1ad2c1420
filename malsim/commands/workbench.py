"""Open a live page for a scenario: change a setting and see the effect at once."""

from __future__ import annotations

import argparse
import sys

from malsim.base.finite import LAST_PORT, finite

HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", nargs="?", metavar="FILE", help="scenario, netlist, claims or store (default: a gallery)")
    add("--port", type=int, default=5006, metavar="N", help="port of the page (default 5006); 0 selects a free port")
    add("--no-browser", action="store_true", help="print the address without opening a browser")
    add("--host", metavar="ADDRESS", help="also serve other machines; the address then contains a token")
    add("--allow-code", action="store_true", help="run the adapter and the processes that the scenario names")


def main(args: argparse.Namespace) -> int:
    from malsim.lab.workbench import needs_panel

    finite(args.port, where="--port", low=0, high=LAST_PORT)
    needs_panel()
    from malsim.lab.workbench.page.serve import serve

    serve(
        target=args.target, host=args.host, port=args.port, allow_code=args.allow_code, show=not args.no_browser,
        ready=_print_address,
    )  # fmt: skip
    return 0


def _print_address(address: str) -> None:
    """Print the address unredacted, since ordinary output would hide its token."""
    stream = sys.__stdout__ or sys.stdout
    stream.write(f"{address}\nPress Ctrl-C to stop.\n")
    stream.flush()
