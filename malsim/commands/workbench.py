"""Open one live page on a scenario: move a setting and see at once what changes."""

from __future__ import annotations

import argparse
import sys

HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("target", nargs="?", metavar="FILE", help="a scenario, a netlist, claims or a store; a gallery if not given")
    add("--port", type=int, default=5006, metavar="N", help="the port of the page (5006); 0 takes a free one")
    add("--no-browser", action="store_true", help="print the address only")
    add("--host", metavar="ADDRESS", help="serve to other machines too: the address then carries a token")
    add("--allow-code", action="store_true", help="run the adapter and the processes that a scenario names")


def main(args: argparse.Namespace) -> int:
    from malsim.lab.workbench import needs_panel

    needs_panel()
    from malsim.lab.workbench.page.serve import Serving, new_token, serve

    token = new_token() if args.host else ""
    serving = Serving(
        target=args.target, host=args.host or "127.0.0.1", port=args.port, allow_code=args.allow_code, token=token
    )
    serve(serving, show=not args.no_browser, ready=_tell)
    return 0


def _tell(address: str) -> None:
    """Print the address as it is: on the way of other output its token would be withheld."""
    stream = sys.__stdout__ or sys.stdout
    stream.write(f"{address}\nCtrl-C ends it.\n")
    stream.flush()
