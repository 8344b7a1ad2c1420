"""List or copy the shipped examples: scenarios, notebooks, netlists, rules and sample claims.

malsim examples                              what there is
malsim examples poisoner.toml -o .           one, with the files that it names
malsim examples scenarios/poisoning -o .   a folder of them
malsim examples -o examples                  all
"""

from __future__ import annotations

import argparse
from pathlib import Path

HEADING = "look and run"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="files to copy, such as poisoner or scenarios/poisoner.toml"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="the folder to copy them into")


def main(args: argparse.Namespace) -> int:
    """List or copy."""
    from malsim.examples import copy, examples

    if args.output is None and not args.names:
        for example in examples():
            print(f"{example.name:<44} {example.sentence}")
        return 0
    for path in copy(args.names, args.output or Path()):
        print(path)
    return 0
